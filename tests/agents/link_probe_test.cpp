// SPDX-License-Identifier: Apache-2.0
#include "agents/move/link_probe.h"

#include <QTest>
#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <thread>

#include "agents/wire/tessera/wire/node.pb.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::agents;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t kBurst = 1 << 20;
const LaneServer::Resolve kRefuses = [](const LaneKey&, const LaneCell&) -> Result<SourceCell> {
  return FailedPrecondition("nothing is served");
};

double MedianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.at(values.size() / 2);
}

std::shared_ptr<engine::TokenBucket> Bucket(std::int64_t bytes_per_second) {
  return std::make_shared<engine::TokenBucket>(bytes_per_second, kBurst);
}

/// Two nodes that are connected by loopback only.
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
      resolve = [this](const LaneKey& key, const LaneCell&) -> Result<SourceCell> {
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
  LinkPort Port(std::int64_t ingress, std::chrono::milliseconds longest = 3s) {
    return {&destination, keys, Bucket(ingress), longest};
  }
};

constexpr qint64 kPortLimit = 60'000'000;  // bytes per second

}  // namespace

class LinkProbeTest : public QObject {
  Q_OBJECT
 private slots:
  // The token bucket determines the bandwidth, because every machine is faster than the limit.
  void anEmulatedPortIsMeasuredAtItsLimit_data() {
    QTest::addColumn<qint64>("egress");
    QTest::addColumn<qint64>("ingress");
    QTest::newRow("limited at both ends") << kPortLimit << kPortLimit;
    QTest::newRow("the source is slower") << kPortLimit << qint64{0};
    QTest::newRow("the destination is slower") << qint64{0} << kPortLimit;
  }
  void anEmulatedPortIsMeasuredAtItsLimit() {
    QFETCH(qint64, egress);
    QFETCH(qint64, ingress);
    Net net(egress);
    std::optional<agents::LinkRuns> runs;
    // A thread that has lost its core receives what has arrived meanwhile at once, so that a run
    // seems to be faster than the limit. What contains the burst of the bucket always does.
    constexpr int kMostTries = 6;
    double median = 0, first = 0;  // of the limit
    for (int tries = 0; tries < kMostTries; ++tries) {
      // All runs take 3 s on an idle machine.
      auto measured = MeasureLink(net.Port(ingress, 30s), net.peer, {});
      VERIFY_OK(measured);
      runs = std::move(*measured);
      QCOMPARE(runs->bytes_per_second.size(), std::size_t{5});
      median = MedianOf(runs->bytes_per_second) / static_cast<double>(kPortLimit);
      first = runs->bytes_per_second.front() / static_cast<double>(kPortLimit);
      if (median > 0.75 && median < 1.25 && first < 1.3) break;
    }
    QVERIFY2(median > 0.75 && median < 1.25, std::to_string(median).c_str());
    // No run contains the burst, not even the first one.
    QVERIFY2(first < 1.3, std::to_string(first).c_str());
    // A second lane is tried, and larger and smaller frames, unless the larger ones pay. None of
    // them does where the limit is reached; on a busy machine the first runs may be below it.
    const bool is_first = runs->use.lanes == 1 && runs->use.frame_bytes == kLaneFrameBytes;
    const std::int64_t tried = runs->bytes / (std::int64_t{44} << 20);
    QVERIFY2(is_first ? tried == 4 : tried >= 3, std::to_string(tried).c_str());
  }

  void moreLanesMustPay() {
    const agents::LinkRuns one{{100, 90, 110}, 0, {1, 1}};
    QVERIFY(ArePaid({{400, 110, 111}, 0, {2, 1}}, one));
    QVERIFY(!ArePaid({{400, 109, 108}, 0, {2, 1}}, one));
  }

  void aSlowLinkCostsTheTimeLimit() {
    constexpr std::int64_t kSlow = 4'000'000;
    Net net(kSlow);
    const auto runs = MeasureLink(net.Port(0, 1500ms), net.peer, {});
    VERIFY_OK(runs);
    QVERIFY(runs->bytes < std::int64_t{44} << 20);  // the time limit ended it
    const double ratio = MedianOf(runs->bytes_per_second) / static_cast<double>(kSlow);
    // On a link this slow the measurement contains the burst of 1 MiB.
    QVERIFY2(ratio > 0.5 && ratio < 2.5, std::to_string(ratio).c_str());
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
    net.peer.add_lanes("tcp://127.0.0.1:1");  // no listener
    VERIFY_ERROR(MeasureLink(net.Port(0, 300ms), net.peer, {}), ErrorCode::kTimeout,
                 "arrived within 300 ms");
  }

  void itEndsWithTheAgent() {
    Net net(1'000'000);
    std::stop_source stop;
    const std::jthread later([&stop] {
      std::this_thread::sleep_for(100ms);
      stop.request_stop();
    });
    // Without the stop, the time limit would end the measurement with a result.
    VERIFY_ERROR(MeasureLink(net.Port(0), net.peer, stop.get_token()), ErrorCode::kCancelled,
                 "the agent ends");
  }

  void aQueryIsAnsweredInItsOrder() {
    Net net(0);
    wire::LinksQuery query;
    query.set_node(3);
    query.set_memory(true);
    *query.add_sources() = net.peer;
    const auto answer = MeasureLinks(net.Port(0, 30s), query, {});
    VERIFY_OK(answer);
    QCOMPARE(answer->links_size(), 2);
    QCOMPARE(answer->links(0).from(), 7);
    const wire::LaneUse& use = answer->links(0).use();
    QVERIFY(use.lanes() == 1 || use.lanes() == 2);
    const std::set<std::int64_t> sizes = {kLaneFrameBytes / 4, kLaneFrameBytes,
                                          kMostLaneFrameBytes};
    QVERIFY(sizes.contains(use.frame_bytes()));
    QCOMPARE(answer->links(1).from(), 3);  // from itself: memory
    QVERIFY(!answer->links(1).has_use());
    // One lane, two, larger frames, and smaller ones if those do not pay.
    const int uses = use.frame_bytes() == kMostLaneFrameBytes ? 3 : 4;
    QCOMPARE(answer->bytes(), std::int64_t{44 * uses} << 20);
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
