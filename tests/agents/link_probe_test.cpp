// SPDX-License-Identifier: Apache-2.0
#include "agents/node/link_probe.h"

#include <QTest>
#include <algorithm>
#include <numeric>
#include <thread>

#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::agents;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t kBurst = 1 << 20;
const LaneServer::Resolve kRefuses = [](const LaneKey&, std::int64_t) -> Result<SourceCell> {
  return FailedPrecondition("nothing is served");
};

double MedianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.at(values.size() / 2);
}

std::shared_ptr<engine::TokenBucket> Bucket(std::int64_t bytes_per_second) {
  return std::make_shared<engine::TokenBucket>(bytes_per_second, kBurst);
}

/// Two nodes that share nothing but loopback.
struct Net {
  CurveKeys keys = NewCurveKeys();
  NetContext source{2}, destination{2};
  LinkSource memory;
  std::unique_ptr<LaneServer> server;
  wire::Peer peer;

  explicit Net(std::int64_t egress, LaneServer::Resolve resolve = {}) {
    source.SetAllowed({keys.public_key});
    destination.SetAllowed({keys.public_key});
    if (!resolve) {
      resolve = [this](const LaneKey& key, std::int64_t) -> Result<SourceCell> {
        if (!IsLinkProbe(key)) return NotFound("no transaction");
        return memory.Cell();
      };
    }
    LaneServerOptions options;
    options.endpoints.assign(2, "tcp://127.0.0.1:*");
    options.keys = keys;
    options.egress = Bucket(egress);
    server = *LaneServer::Start(source, std::move(options), std::move(resolve));
    peer.set_node(7);
    for (const std::string& lane : server->endpoints()) peer.add_lanes(lane);
    peer.set_public_key(keys.public_key);
  }
  LinkPort Port(std::int64_t ingress) { return {&destination, keys, Bucket(ingress)}; }
};

}  // namespace

class LinkProbeTest : public QObject {
  Q_OBJECT
 private slots:
  // The limit is kept by a bucket, so the figure does not depend on the machine.
  void anEmulatedPortIsMeasuredAtItsLimit_data() {
    QTest::addColumn<qint64>("egress");
    QTest::addColumn<qint64>("ingress");
    QTest::newRow("100 MB/s at both ends") << qint64{100'000'000} << qint64{100'000'000};
    QTest::newRow("the source is slower") << qint64{100'000'000} << qint64{0};
    QTest::newRow("the destination is slower") << qint64{0} << qint64{100'000'000};
  }
  void anEmulatedPortIsMeasuredAtItsLimit() {
    QFETCH(qint64, egress);
    QFETCH(qint64, ingress);
    Net net(egress);
    const auto runs = MeasureLink(net.Port(ingress), net.peer, {});
    VERIFY_OK(runs);
    QCOMPARE(runs->bytes_per_second.size(), std::size_t{5});
    const double median = MedianOf(runs->bytes_per_second);
    QVERIFY2(median > 75e6 && median < 125e6, std::to_string(median).c_str());
    QCOMPARE(runs->bytes, std::int64_t{44} << 20);
    // The burst is in no run, not in the first one either.
    QVERIFY(runs->bytes_per_second.front() < 130e6);
  }

  void aSlowLinkCostsThreeSeconds() {
    Net net(2'000'000);
    const auto began = std::chrono::steady_clock::now();
    const auto runs = MeasureLink(net.Port(0), net.peer, {});
    const auto took = std::chrono::steady_clock::now() - began;
    VERIFY_OK(runs);
    QVERIFY(took < 8s);
    QVERIFY(runs->bytes < std::int64_t{44} << 20);
    const double median = MedianOf(runs->bytes_per_second);
    // The burst of 1 MiB is part of what so slow a link lets through in that time.
    QVERIFY2(median > 1e6 && median < 5e6, std::to_string(median).c_str());
  }

  void whatFailsIsNamed() {
    Net net(0, kRefuses);
    VERIFY_ERROR(MeasureLink(net.Port(0), net.peer, {}), ErrorCode::kFailedPrecondition,
                 "nothing is served");
    wire::LinksQuery query;
    query.set_node(3);
    *query.add_sources() = net.peer;
    VERIFY_ERROR(MeasureLinks(net.Port(0), query, {}), ErrorCode::kFailedPrecondition, "from n7");
    net.peer.clear_lanes();
    net.peer.add_lanes("tcp://127.0.0.1:1");  // nobody is there
    VERIFY_ERROR(MeasureLink(net.Port(0), net.peer, {}), ErrorCode::kTimeout, "came within 3 s");
  }

  void itEndsWithTheAgent() {
    Net net(1'000'000);
    std::stop_source stop;
    const std::jthread later([&stop] {
      std::this_thread::sleep_for(100ms);
      stop.request_stop();
    });
    const auto began = std::chrono::steady_clock::now();
    VERIFY_ERROR(MeasureLink(net.Port(0), net.peer, stop.get_token()), ErrorCode::kCancelled,
                 "the agent ends");
    QVERIFY(std::chrono::steady_clock::now() - began < 2s);
  }

  void aQueryIsAnsweredInItsOrder() {
    Net net(0);
    wire::LinksQuery query;
    query.set_node(3);
    query.set_memory(true);
    *query.add_sources() = net.peer;
    const auto answer = MeasureLinks(net.Port(0), query, {});
    VERIFY_OK(answer);
    QCOMPARE(answer->links_size(), 2);
    QCOMPARE(answer->links(0).from(), 7);
    QCOMPARE(answer->links(1).from(), 3);  // from itself: memory
    QCOMPARE(answer->bytes(), std::int64_t{44} << 20);
    for (const auto& link : answer->links()) {
      QCOMPARE(link.bytes_per_second_size(), 5);
      for (const double speed : link.bytes_per_second()) QVERIFY(speed > 1e6);
    }
  }

  void onlyItsOwnKeyIsAProbe() {
    QVERIFY(IsLinkProbe({"/links", 0, 0}));
    QVERIFY(!IsLinkProbe({"links", 0, 0}));
    QVERIFY(!IsLinkProbe({"", 0, 0}));
  }
};

TESSERA_TEST(LinkProbeTest)
#include "link_probe_test.moc"
