// SPDX-License-Identifier: Apache-2.0
// A node is lost for good between two rounds of a move, on GPUs that are 95 % full. What the others
// hold lies as in two layouts. If all of it is there the job goes on from it, and no bit is lost.
#include <QTest>
#include <nlohmann/json.hpp>

#include "tests/e2e/full_memory.h"
#include "tests/support/digests.h"
#include "tests/support/exact_job.h"
#include "tests/support/fault_folder.h"
#include "tests/support/local_cluster.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

namespace {

const QString kJob = QStringLiteral("full");
const QString kMemory = QStringLiteral("2M");

/// A move from tensor parallelism to stages, in which the last node is lost.
struct Move {
  int nodes;
  const char *from, *from_devices, *to, *to_devices;
};
// Each node has both halves of the model in either layout, so the other one needs nothing.
constexpr Move kAlone = {2, "dp=2,tp=2", "n0g0,n0g1,n1g0,n1g1", "dp=2,pp=2", "n0g0,n1g0,n0g1,n1g1"};
// n0 and n1 have one half each, and send each other what they lack.
constexpr Move kBetween = {3, "dp=3,tp=2", "n0g0,n1g0,n0g1,n1g1,n2g0,n2g1", "dp=3,pp=2",
                           "n0g0,n0g1,n2g0,n1g0,n1g1,n2g1"};

/// What else happens.
enum class Besides : std::uint8_t {
  kNothing,
  kRegistrarRestarts,  // in the same round
  kItRestartsAfter,    // once it has given the rounds up
  kNodeIsAway,         // n1, before it has freed what the round before has moved
};

}  // namespace

class E2eRoundLossTest : public QObject {
  Q_OBJECT

 private slots:
  // The node does not return, so each row has its own cluster.
  void init() {
    QFETCH(Move, move);
    const std::string on = " on " + std::to_string(move.nodes) + "x2";
    m_cluster = std::make_unique<LocalCluster>(
        LocalCluster::Options{.nodes = move.nodes,
                              .devices = 2,
                              .memory = FullMemory(kLargeExactJob, {move.from + on, move.to + on}),
                              .link = {},
                              .one_host = false});
    QVERIFY2(m_cluster->up().code == 0, m_cluster->up().Text());
    QVERIFY(m_cluster->Configure({{"node_lost_seconds", 3}, {"decision_seconds", 2}}));
  }
  void cleanup() { m_cluster.reset(); }

  void theJobGoesOnFromWhatIsLeft_data() {
    QTest::addColumn<Move>("move");
    QTest::addColumn<int>("percent");
    QTest::addColumn<Besides>("besides");
    QTest::newRow("in the first round") << kAlone << 0 << Besides::kNothing;
    QTest::newRow("in the middle") << kAlone << 60 << Besides::kNothing;
    QTest::newRow("in the last round") << kAlone << 100 << Besides::kNothing;
    QTest::newRow("while the registrar restarts") << kAlone << 60 << Besides::kRegistrarRestarts;
    QTest::newRow("before the registrar restarts") << kAlone << 60 << Besides::kItRestartsAfter;
    QTest::newRow("between two others") << kBetween << 60 << Besides::kNothing;
    QTest::newRow("while another is out of reach") << kBetween << 60 << Besides::kNodeIsAway;
  }
  void theJobGoesOnFromWhatIsLeft() {
    QFETCH(Move, move);
    QFETCH(int, percent);
    QFETCH(Besides, besides);
    const bool restarts = besides == Besides::kRegistrarRestarts;
    const Outcome start = StartExactJob(*m_cluster, kJob, move.from, move.from_devices,
                                        {"--on-failure", "shrink"}, kLargeExactJob);
    QVERIFY2(start.code == 0, start.Text());
    QVERIFY(m_cluster->WaitStep(kJob, 3));
    QVERIFY2(m_cluster->Run({"job", "pause", kJob}).code == 0, "it cannot be paused");
    const Json paused = m_cluster->Ask({"digest", kJob});
    const QStringList change{kJob,    "--mesh",        move.to, "--devices", move.to_devices,
                             "--pin", "--move-memory", kMemory};
    const Outcome planned = m_cluster->Run(QStringList{"plan"} + change + QStringList{"--json"});
    QVERIFY2(planned.code == 0, planned.Text());
    const Json plan = planned.LastJson();
    const int rounds = plan["move_memory"]["rounds"].get<int>();
    const int round = 1 + (rounds - 1) * percent / 100;
    const QString point = QStringLiteral("participant.round.%1").arg(round);
    const int lost = move.nodes - 1;
    QVERIFY(m_faults.StopAt(lost, point));
    if (restarts) QVERIFY(m_faults.KillAt(0, point));
    const QString ended = QStringLiteral("registrar.ended");
    if (besides == Besides::kItRestartsAfter) QVERIFY(m_faults.KillAt(0, ended));
    const auto away = besides == Besides::kNodeIsAway ? m_cluster->Agent(1) : std::nullopt;
    if (away) QVERIFY(m_faults.StopAt(1, point));
    const auto apply =
        m_cluster->Start(QStringList{"apply"} + change + QStringList{"--confirm", kJob, "--json"});
    QVERIFY2(LocalCluster::WaitFor([&] { return !m_faults.IsPending(lost, point); }, 60),
             qPrintable(point));
    if (restarts) {
      QVERIFY(LocalCluster::WaitFor([&] { return !m_faults.IsPending(0, point); }, 60));
    }
    if (away) {
      QVERIFY(LocalCluster::WaitFor(
          [&] { return m_cluster->Status()["nodes"][1]["state"] == "unmanaged"; }));
    }
    // A registrar that has restarted has not heard of the node, which has stopped.
    const QString name = QStringLiteral("n%1").arg(lost);
    const QString verb = restarts ? QStringLiteral("give-up") : QStringLiteral("kill");
    QVERIFY(LocalCluster::WaitFor(
        [&] {
          return m_cluster->Run({"node", verb, name, "--yes"}, 60).code == 0;
        },
        60));
    const Outcome outcome = LocalCluster::Finish(*apply, 120);
    if (besides == Besides::kNothing || away) {
      const Json result = outcome.LastJson();
      QVERIFY2(result["result"] == "failed", outcome.Text());
      QVERIFY2(result["reason"].get<std::string>().find(name.toStdString()) != std::string::npos,
               outcome.Text());
    }
    if (away) {
      // The other half of the model is there only.
      QVERIFY(LocalCluster::WaitFor(
          [&] { return m_cluster->Run({"events"}).Text().contains("it cannot continue"); }));
      QVERIFY(LocalCluster::Kill(*away));  // its keeper starts it again
    }
    const QString moved =
        QStringLiteral("%1 of %2 rounds have moved the state of 'full'").arg(round - 1).arg(rounds);
    const std::size_t left = 2 * static_cast<std::size_t>(lost);
    const bool goes_on = m_cluster->WaitJob(
        kJob,
        [&](const Json& job) { return job["state"] == "paused" && job["devices"].size() == left; },
        120);
    const Outcome events = m_cluster->Run({"events"});
    QVERIFY2(goes_on, events.Text());
    QVERIFY2(events.Text().contains(moved.toUtf8()), events.Text());
    QVERIFY(!m_faults.IsPending(0, ended));
    // On the other GPUs, no step lost and no bit changed.
    const Json now = m_cluster->Ask({"digest", kJob});
    QCOMPARE(now["step"].dump(), paused["step"].dump());
    VERIFY_DIGESTS(now["digest"], paused["digest"]);
    const Json recovery = m_cluster->Ask({"history"})["transactions"][0];
    QVERIFY2(recovery["result"] == "committed", recovery.dump().c_str());
    const std::string reason = recovery["reason"];
    QVERIFY2(reason.starts_with("no step lost: "), reason.c_str());
    QCOMPARE(recovery["bytes"]["network"] > 0, lost > 1);
    QVERIFY2(m_cluster->Run({"job", "resume", kJob}).code == 0, events.Text());
    QVERIFY(m_cluster->GoesOn(kJob));
    // Nothing of the earlier layouts is in the way.
    const Outcome more = m_cluster->Run({"apply", kJob, "--mesh", lost > 1 ? "dp=2,tp=2" : "tp=2",
                                         "--move-memory", kMemory, "--confirm", kJob, "--json"},
                                        150);
    const bool is_there = more.Text().contains("already runs");
    QVERIFY2(more.code == 0 || is_there, more.Text());
    QVERIFY(m_cluster->GoesOn(kJob));
  }

 private:
  FaultFolder m_faults;  // first, because agents inherit its name
  std::unique_ptr<LocalCluster> m_cluster;
};

TESSERA_TEST(E2eRoundLossTest)
#include "e2e_round_loss_test.moc"
