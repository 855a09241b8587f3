// SPDX-License-Identifier: Apache-2.0
// A move after which four devices of another node need the bytes of one node. The bytes cross the
// link once and are passed on there, or cross it four times with `--relay off`.
#include <QTest>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/support/digests.h"
#include "tests/support/local_cluster.h"
#include "tests/support/test_main.h"

using tessera::test::FirstDevices;
using tessera::test::Json;
using tessera::test::LocalCluster;
using tessera::test::Outcome;

namespace {

const QString kJob = QStringLiteral("nano");

std::int64_t BytesOf(const Json& plan, const char* kind) {
  return plan["bytes"][kind].get<std::int64_t>();
}

}  // namespace

class E2eRelayTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    LocalCluster::Options options;
    options.link = QStringLiteral("100MB/s");
    m_cluster = std::make_unique<LocalCluster>(options);
    QVERIFY2(m_cluster->up().code == 0, m_cluster->up().Text());
    const Outcome job = m_cluster->StartJob(kJob, "dp=1,tp=4", FirstDevices(4));
    QVERIFY2(job.code == 0, job.Text());
    QVERIFY(m_cluster->WaitStep(kJob, 2));
    const Outcome paused = m_cluster->Run({"job", "pause", kJob});
    QVERIFY2(paused.code == 0, paused.Text());
  }
  void cleanupTestCase() { m_cluster.reset(); }

  void bytesCrossOnceOrFourTimes() {
    const Json digest = m_cluster->Ask({"digest", kJob});
    QVERIFY(digest.is_object());
    std::int64_t straight = 0;
    std::int64_t moved = 0;
    for (const bool relay : {false, true}) {
      const QString asked = relay ? QStringLiteral("auto") : QStringLiteral("off");
      const Json plan = m_cluster->Ask(
          {"plan", kJob, "--devices", FirstDevices(8), "--mesh", "dp=8,tp=1", "--relay", asked});
      QVERIFY(plan.is_object());
      QCOMPARE(plan["relay"]["on"].get<bool>(), relay);
      const std::int64_t network = BytesOf(plan, "network");
      if (!relay) {
        straight = network;
        moved = BytesOf(plan, "host") + network;
      }
      QCOMPARE(plan["relay"]["network_direct_bytes"].get<std::int64_t>(), straight);
      QCOMPARE(BytesOf(plan, "host") + network, moved);
      QCOMPARE(network * (relay ? 4 : 1), straight);

      const Json result =
          m_cluster->Apply(kJob, "dp=8,tp=1", FirstDevices(8),
                           {"--relay", asked, "--verify", relay ? "full" : "moved"});
      QVERIFY(result.is_object());
      QCOMPARE(result["result"].get<std::string>(), std::string("committed"));
      QCOMPARE(result["moved_bytes"].get<std::int64_t>(), moved);
      QCOMPARE(result["volume_bound_bytes"].get<std::int64_t>(), moved);
      VERIFY_DIGESTS(result["digest_before"], result["digest_after"]);
      const Json there = m_cluster->Ask({"digest", kJob});
      VERIFY_DIGESTS(there["digest"], digest["digest"]);
      QCOMPARE(there["tensors"].dump(), digest["tensors"].dump());

      // What went over each pair of devices, as the agents counted it.
      std::int64_t crossed = 0;
      const Json history = m_cluster->Ask({"history"})["transactions"];
      const auto row = std::find_if(history.begin(), history.end(), [&](const Json& entry) {
        return entry["id"] == result["transaction"];
      });
      QVERIFY(row != history.end());
      for (const Json& flow : (*row)["flows"]) {
        const auto node = [&](const char* end) {
          return flow[end].get<std::string>().substr(0, 2);
        };
        if (node("source") != node("destination")) crossed += flow["bytes"].get<std::int64_t>();
      }
      QCOMPARE(crossed, network);

      const Json back = m_cluster->Apply(kJob, "dp=1,tp=4", FirstDevices(4));
      QVERIFY(back.is_object());
      QCOMPARE(back["result"].get<std::string>(), std::string("committed"));
    }
  }

  // A plan with relay has another hash than one without, so one is not carried out as the other.
  void planAndWayToSendBelongTogether() {
    const QStringList words{"plan", kJob, "--devices", FirstDevices(8), "--mesh", "dp=8,tp=1"};
    const Json relayed = m_cluster->Ask(words);
    const Json straight = m_cluster->Ask(words + QStringList{"--relay", "off"});
    QVERIFY(relayed["hash"] != straight["hash"]);
    const Outcome text = m_cluster->Run(words);
    QVERIFY2(text.output.contains("(relayed; "), text.Text());
    const Outcome wrong = m_cluster->Run(words + QStringList{"--relay", "maybe"});
    QCOMPARE(wrong.code, 2);
    QVERIFY2(wrong.errors.contains("--relay 'maybe' is not one of auto, on, off"), wrong.Text());
  }

  void theJobTrainsOn() {
    const Json moved = m_cluster->Apply(kJob, "dp=8,tp=1", FirstDevices(8));
    QVERIFY(moved.is_object());
    QCOMPARE(moved["result"].get<std::string>(), std::string("committed"));
    const Outcome resumed = m_cluster->Run({"job", "resume", kJob});
    QVERIFY2(resumed.code == 0, resumed.Text());
    QVERIFY(m_cluster->GoesOn(kJob));
  }

 private:
  std::unique_ptr<LocalCluster> m_cluster;
};

TESSERA_TEST(E2eRelayTest)
#include "e2e_relay_test.moc"
