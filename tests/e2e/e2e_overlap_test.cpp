// SPDX-License-Identifier: Apache-2.0
// The state is copied while the job computes gradients, and only these move in the pause. What
// comes out is what the plain way gives, to the bit.
#include <QTest>
#include <nlohmann/json.hpp>

#include "tests/e2e/losses.h"
#include "tests/folders.h"
#include "tests/support/digests.h"
#include "tests/support/local_cluster.h"
#include "tests/support/send_signal.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

namespace {

constexpr std::int64_t kSteps = 100;
constexpr std::int64_t kChange = 80;  // far enough for ranks to start before it

}  // namespace

class E2eOverlapTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    m_cluster =
        std::make_unique<LocalCluster>(LocalCluster::Options{.link = {}, .step_time = "0.1"});
    QVERIFY2(m_cluster->up().code == 0, m_cluster->up().Text());
  }
  void cleanupTestCase() { m_cluster.reset(); }

  void theSameAsThePlainWay_data() {
    QTest::addColumn<QString>("from");
    QTest::addColumn<int>("before");
    QTest::addColumn<QString>("to");
    QTest::addColumn<QString>("after");
    QTest::addColumn<QString>("zero");
    QTest::newRow("replicas on another node") << "dp=1,tp=2" << 2 << "dp=2,tp=2"
                                              << "n0g0,n0g1,n1g0,n1g1"
                                              << "off";
    QTest::newRow("other cuts, and stages") << "dp=2,tp=2" << 4 << "dp=1,tp=4,pp=2"
                                            << "n0g0,n0g1,n0g2,n0g3,n1g0,n1g1,n1g2,n1g3"
                                            << "off";
    QTest::newRow("ZeRO, fewer replicas") << "dp=4" << 4 << "dp=2"
                                          << "n1g0,n1g1"
                                          << "on";
  }
  void theSameAsThePlainWay() {
    QFETCH(QString, from);
    QFETCH(int, before);
    QFETCH(QString, to);
    QFETCH(QString, after);
    QFETCH(QString, zero);
    Ended ended[2];
    for (const bool overlaps : {false, true}) {
      const QString job = QStringLiteral("job%1").arg(++m_jobs);
      const Outcome start =
          m_cluster->Run({"job", "start", "gpt-nano", "--name", job, "--mesh", from, "--devices",
                          FirstDevices(before), "--steps", QString::number(kSteps),
                          "--global-batch", "16", "--zero", zero},
                         160);
      QVERIFY2(start.code == 0, start.Text());
      const Json moved =
          m_cluster->Apply(job, to, after,
                           {"--at-step", QString::number(kChange), "--overlap",
                            overlaps ? QStringLiteral("on") : QStringLiteral("off")});
      QVERIFY2(moved.is_object() && moved["result"] == "committed", moved.dump().c_str());
      QCOMPARE(moved["step"].get<std::int64_t>(), kChange);
      VERIFY_DIGESTS(moved["digest_before"], moved["digest_after"]);
      const Json entry = m_cluster->Ask({"history"})["transactions"][0];
      QCOMPARE(entry["phase_seconds"].contains("precopying"), overlaps);
      QCOMPARE(moved["moved_bytes"].get<std::int64_t>(),
               entry["bytes"]["host"].get<std::int64_t>() +
                   entry["bytes"]["network"].get<std::int64_t>());
      auto end = EndOf(*m_cluster, job, kSteps);
      QVERIFY(end);
      ended[overlaps] = std::move(*end);
    }
    VERIFY_DIGESTS(ended[1].digest, ended[0].digest);
    QCOMPARE(LargestDifference(ended[1].run, ended[0].run), 0.0);
  }

  // The plan says which way it takes, what either costs, and why; and refuses what cannot be.
  void thePlanSaysIt() {
    const Outcome start = m_cluster->Run({"job", "start", "gpt-nano", "--name", "said", "--mesh",
                                          "tp=2", "--devices", FirstDevices(2)},
                                         160);
    QVERIFY2(start.code == 0, start.Text());
    QVERIFY(m_cluster->WaitStep("said", 5));
    const auto plan = [&](const QString& overlap) {
      return m_cluster->Run({"plan", "said", "--mesh", "dp=2,tp=2", "--devices", FirstDevices(4),
                             "--overlap", overlap, "--json"});
    };
    const Json on = plan("on").LastJson()["overlap"];
    QVERIFY2(on["on"] == true && on["gradient_bytes"] > 0 && on["pause_seconds"] > 0,
             on.dump().c_str());
    QVERIFY(on["plain_pause_seconds"] > on["pause_seconds"]);
    const auto sentence = [&](const QString& overlap) {
      return m_cluster->Run({"plan", "said", "--mesh", "dp=2,tp=2", "--devices", FirstDevices(4),
                             "--overlap", overlap});
    };
    const Outcome while_training = sentence("on");
    QVERIFY2(while_training.Text().contains("  moves    while the job trains, except "),
             while_training.Text());
    const Outcome in_the_pause = sentence("off");
    QVERIFY2(in_the_pause.Text().contains("  moves    all in the pause (pause "),
             in_the_pause.Text());
    const Json off = plan("off").LastJson();
    QVERIFY2(off["overlap"]["on"] == false && off["overlap"]["why"] == "As requested.",
             off.dump().c_str());
    QCOMPARE(off["pause_estimate_seconds"].dump(), on["plain_pause_seconds"].dump());
    // Nothing that moves, nothing to gain.
    const Json fewer = m_cluster
                           ->Run({"plan", "said", "--mesh", "tp=2", "--devices", "n0g1,n0g0",
                                  "--micro-batch", "2", "--json"})
                           .LastJson();
    QVERIFY2(fewer["overlap"]["on"] == false, fewer.dump().c_str());
    QVERIFY(m_cluster->Run({"job", "pause", "said"}).code == 0);
    const Outcome paused = plan("on");
    QCOMPARE(paused.code, 1);
    QVERIFY2(paused.Text().contains("while the job computes: The job is paused already."),
             paused.Text());
    QVERIFY(m_cluster->Run({"job", "resume", "said"}).code == 0);
    m_cluster->Run({"job", "stop", "said", "--yes"});
  }

  // While ranks wait before an update, one of them is killed: the change is rolled back, and the
  // job starts again on what it had.
  void aRankThatDiesMeanwhileRollsBack() {
    const Outcome start = m_cluster->Run({"job", "start", "gpt-nano", "--name", "lost", "--mesh",
                                          "tp=2", "--devices", FirstDevices(2)},
                                         160);
    QVERIFY2(start.code == 0, start.Text());
    QVERIFY(m_cluster->WaitStep("lost", 5));
    const auto apply = m_cluster->Start({"apply", "lost", "--mesh", "dp=2,tp=2", "--devices",
                                         "n0g0,n0g1,n1g0,n1g1", "--overlap", "on", "--at-step",
                                         "1000000", "--yes", "--json"});
    QVERIFY(LocalCluster::WaitFor(
        [&] {
          const Json txn = m_cluster->Status()["transaction"];
          return txn.is_object() && txn["phase"] == "precopying";
        },
        60));
    const Json waiting = m_cluster->Status()["transaction"];
    QVERIFY2(waiting["reason"] == "the state is copied after step 999999", waiting.dump().c_str());
    const auto ranks = m_cluster->Children(0, TESSERA_BIN_DIR "/tessera-train");
    QCOMPARE(ranks.size(), 2U);
    QVERIFY(SendSignal(ranks.front(), SIGKILL));
    const Json result = LocalCluster::Finish(*apply, 120).LastJson();
    QVERIFY2(result["result"] == "rolled_back", result.dump().c_str());
    QVERIFY(m_cluster->GoesOn("lost"));
    m_cluster->Run({"job", "stop", "lost", "--yes"});
  }

 private:
  std::unique_ptr<LocalCluster> m_cluster;
  int m_jobs = 0;
};

TESSERA_TEST(E2eOverlapTest)
#include "e2e_overlap_test.moc"
