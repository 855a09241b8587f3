// SPDX-License-Identifier: Apache-2.0
// Failures in the middle of a transaction: an agent is held at a named point of it
// (agents/DESIGN.md) while a rank, an agent or a node fails. In every case the old layout runs or
// the new one does, with the state that it must have.
#include <QTest>
#include <csignal>
#include <nlohmann/json.hpp>
#include <optional>

#include "tests/support/exact_job.h"
#include "tests/support/fault_folder.h"
#include "tests/support/local_cluster.h"
#include "tests/support/proc_stat.h"
#include "tests/support/send_signal.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

namespace {
const QString kJob = QStringLiteral("nano");
constexpr int kLost = 3;  // seconds of silence after which a node is lost
// The job's mesh on the first node, and its mesh on both.
const QString kSmall = QStringLiteral("dp=1,tp=2");
const QString kLarge = QStringLiteral("dp=2,tp=2");
}  // namespace

class E2eFaultsTest : public QObject {
  Q_OBJECT

 private slots:
  // One cluster and job for all tests, unless one has failed: each begins with the small mesh.
  void init() {
    if (m_cluster) return;
    m_cluster = std::make_unique<LocalCluster>(LocalCluster::Options{
        .nodes = 2, .devices = 2, .memory = "64M", .link = {}, .one_host = false});
    QVERIFY2(m_cluster->up().code == 0, m_cluster->up().Text());
    QVERIFY(m_cluster->Configure({{"node_lost_seconds", kLost}}));
    const Outcome start =
        StartExactJob(*m_cluster, kJob, kSmall, FirstDevices(2, 2), {"--on-failure", "shrink"});
    QVERIFY2(start.code == 0, start.Text());
    QVERIFY(m_cluster->WaitStep(kJob, 3));
  }
  void cleanup() {
    if (!QTest::currentTestFailed()) return;
    if (m_apply) m_apply->kill();
    m_apply.reset();
    m_cluster.reset();
  }
  void cleanupTestCase() { m_cluster.reset(); }

  // The registrar's agent is stopped on entering the phase, so the rank ends in it.
  void aRankDiesInEachPhase_data() {
    QTest::addColumn<QString>("phase");
    QTest::addColumn<bool>("joins");
    for (const char* phase :
         {"preparing", "precopying", "pausing", "transferring", "committing", "resuming"}) {
      QTest::addRow("%s, a rank that stays", phase) << QString::fromLatin1(phase) << false;
    }
    for (const char* phase : {"pausing", "verifying", "resuming"}) {
      QTest::addRow("%s, a rank that joins", phase) << QString::fromLatin1(phase) << true;
    }
  }
  void aRankDiesInEachPhase() {
    QFETCH(QString, phase);
    QFETCH(bool, joins);
    const auto stopped = applyUntil(0, "registrar." + phase);
    QVERIFY(stopped != 0);
    const auto ranks = m_cluster->Children(joins ? 1 : 0, kExactProgram);
    QVERIFY(!ranks.empty());
    QVERIFY(killsBetweenUpdates(ranks.back(), joins ? 1 : 0));
    QVERIFY(SendSignal(stopped, SIGCONT));
    // In `transferring` and `verifying` either the loss or the last report comes first; and already
    // in `pausing`, which does not wait for a rank that joins.
    std::optional<bool> commits =
        phase == QLatin1String("committing") || phase == QLatin1String("resuming");
    const bool is_pausing = phase == QLatin1String("pausing") && joins;
    if (is_pausing || phase == QLatin1String("transferring") ||
        phase == QLatin1String("verifying")) {
      commits.reset();
    }
    endsWith(commits);
  }

  void registrarAndParticipantDieTogether_data() {
    QTest::addColumn<QString>("registrar");
    QTest::addColumn<QString>("participant");
    QTest::addColumn<bool>("commits");
    const auto row = [](const char* name, const char* registrar, const char* participant,
                        bool commits) {
      QTest::newRow(name) << QString::fromLatin1(registrar) << QString::fromLatin1(participant)
                          << commits;
    };
    // What the registrar's agent sends at that point would die with it, so it is killed from here.
    row("before the decision", "", "participant.transferring", false);
    row("at the decision", "registrar.decided", "participant.verified.journaled", true);
    row("after the decision", "registrar.resuming", "participant.committed", true);
  }
  void registrarAndParticipantDieTogether() {
    QFETCH(QString, registrar);
    QFETCH(QString, participant);
    QFETCH(bool, commits);
    // A keeper restarts an agent at once only if the one before it lived for three seconds.
    for (const int node : {0, 1}) {
      const auto agent = m_cluster->Agent(node);
      QVERIFY(agent.has_value());
      QVERIFY(LocalCluster::WaitFor([&] { return AgeOf(agent->pid) > 3.5; }));
    }
    QVERIFY(registrar.isEmpty() || m_faults.KillAt(0, registrar));
    QVERIFY(m_faults.KillAt(1, participant));
    apply();
    if (registrar.isEmpty()) {
      const auto agent = m_cluster->Agent(0);
      QVERIFY(agent.has_value());
      QVERIFY(LocalCluster::WaitFor([&] { return !m_faults.IsPending(1, participant); }));
      QVERIFY(SendSignal(agent->pid, SIGKILL));
    }
    endsWith(commits);
    QVERIFY(registrar.isEmpty() || !m_faults.IsPending(0, registrar));
    QVERIFY(!m_faults.IsPending(1, participant));
  }

  // A rank that stays, and does not answer after the commit, would hold up all others for ever.
  void aRankHangsWhileItAdopts() {
    const auto stopped = applyUntil(0, "registrar.decided");
    QVERIFY(stopped != 0);
    const auto ranks = m_cluster->Children(0, kExactProgram);
    QCOMPARE(ranks.size(), std::size_t{2});
    QVERIFY(SendSignal(ranks.front(), SIGSTOP));
    QVERIFY(SendSignal(stopped, SIGCONT));
    endsWith(true);
  }

  // Its agent is stopped while it transfers, for longer than the registrar waits.
  void aParticipantIsSilent() {
    const auto stopped = applyUntil(1, "participant.transferring");
    QVERIFY(stopped != 0);
    QVERIFY(LocalCluster::WaitFor([&] { return m_cluster->Phase().empty(); }));
    QVERIFY(m_cluster->GoesOn(kJob));  // without it
    const Outcome ended = LocalCluster::Finish(*std::exchange(m_apply, nullptr));
    QCOMPARE(ended.LastJson()["result"].get<std::string>(), std::string("rolled_back"));
    // It takes part in the next change as soon as it is back, although it still follows the outcome
    // of this one.
    QVERIFY(SendSignal(stopped, SIGCONT));
    QVERIFY(m_cluster->WaitAllAlive());
    apply();
    endsWith(true);
  }

  // All participants have verified, and the registrar is silent before it decides. They keep both
  // layouts and wait, whatever it turns out to be in the end.
  void inDoubt_data() {
    QTest::addColumn<bool>("dies");
    QTest::newRow("the registrar comes back") << false;
    QTest::newRow("the registrar dies") << true;
  }
  void inDoubt() {
    QFETCH(bool, dies);
    const auto stopped = applyUntil(0, "registrar.committing");
    QVERIFY(stopped != 0);
    auto old_arena = m_cluster->ArenaOf("n0g0");
    auto new_arena = m_cluster->ArenaOf("n1g0");
    QVERIFY(old_arena && new_arena);
    const std::uint64_t step = old_arena->header().end.load();
    QTest::qWait(17'000);  // longer than a participant waits for a word
    QCOMPARE(old_arena->header().end.load(), step);
    QCOMPARE(old_arena->header().epoch.load(), m_epoch);
    QCOMPARE(new_arena->header().epoch.load(), m_epoch == 1 ? 0 : new_arena->header().epoch.load());
    QCOMPARE(m_cluster->Children(1, kExactProgram).size(), std::size_t{2});
    if (dies) QVERIFY(SendSignal(stopped, SIGKILL));
    QVERIFY(SendSignal(stopped, SIGCONT) || dies);
    endsWith(!dies);
  }

  // The node that joins is lost with its memory while the state moves.
  void aJoiningNodeIsLost() {
    const auto stopped = applyUntil(1, "participant.transferring");
    QVERIFY(stopped != 0);
    QVERIFY(LocalCluster::Kill(m_cluster->Keeper(1)));
    const Json result = LocalCluster::Finish(*std::exchange(m_apply, nullptr)).LastJson();
    QVERIFY(result.is_object());
    QCOMPARE(result["result"].get<std::string>(), std::string("rolled_back"));
    QVERIFY(m_cluster->GoesOn(kJob));
    startsNodeAgain();
  }

  // A node that leaves the job is lost, and another node holds a replica of its state: the
  // transaction is rolled back, and the job continues without the node.
  void aLeavingNodeIsLost() {
    const Json grown = m_cluster->Apply(kJob, kLarge, FirstDevices(4, 2));
    QCOMPARE(grown["result"].get<std::string>(), std::string("committed"));
    QVERIFY(m_faults.StopAt(1, "participant.transferring"));
    m_apply = m_cluster->Start(
        {"apply", kJob, "--devices", FirstDevices(2, 2), "--mesh", "dp=2", "--yes", "--json"});
    QVERIFY(waitsStopped(1) != 0);
    QVERIFY(LocalCluster::Kill(m_cluster->Keeper(1)));
    const Json result = LocalCluster::Finish(*std::exchange(m_apply, nullptr)).LastJson();
    QVERIFY(result.is_object());
    QCOMPARE(result["result"].get<std::string>(), std::string("rolled_back"));
    QVERIFY(m_cluster->WaitJob(kJob, [](const Json& job) {
      return job["state"] == "running" && job["devices"].size() == 2;
    }));
    QVERIFY(m_cluster->GoesOn(kJob));
    startsNodeAgain();
    if (m_cluster->Job(kJob)["mesh"]["tp"] == 2) return;
    const Json back = m_cluster->Apply(kJob, kSmall, FirstDevices(2, 2));
    QCOMPARE(back["result"].get<std::string>(), std::string("committed"));
  }

  void everyStepIsInTheHistoryOnceWithItsLoss() {
    const QString wrong = WrongStepsOfExactJob(*m_cluster, kJob);
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
  }

 private:
  /// Begins to grow the job.
  void apply(const char* overlap = "auto") {
    m_epoch = m_cluster->Job(kJob)["epoch"].get<std::uint64_t>();
    m_apply = m_cluster->Start({"apply", kJob, "--devices", FirstDevices(4, 2), "--mesh", kLarge,
                                "--overlap", overlap, "--yes", "--json"});
  }
  /// The pid of the node's agent once it is stopped; 0: it does not stop.
  std::int64_t waitsStopped(int node) const {
    std::int64_t pid = 0;
    LocalCluster::WaitFor([&] {
      const auto agent = m_cluster->Agent(node);
      if (agent && IsStopped(agent->pid)) pid = agent->pid;
      return pid != 0;
    });
    return pid;
  }
  std::int64_t applyUntil(int node, const QString& point) {
    if (!m_faults.StopAt(node, point)) return 0;
    // Ranks that compute meanwhile may have paused before that phase begins.
    apply(point.endsWith(QLatin1String("pausing")) ? "off" : "auto");
    return waitsStopped(node);
  }
  /// Half of an update of the only copy of something would be a loss that no job survives.
  bool killsBetweenUpdates(std::int64_t rank, int node) const {
    return LocalCluster::WaitFor([&] {
      if (!SendSignal(rank, SIGSTOP)) return false;
      bool is_between = true;
      for (const char* const gpu : {"g0", "g1"}) {
        const auto arena = m_cluster->ArenaOf(QStringLiteral("n%1").arg(node) + gpu);
        is_between =
            is_between && arena && arena->header().begin.load() == arena->header().end.load();
      }
      return SendSignal(rank, is_between ? SIGKILL : SIGCONT) && is_between;
    });
  }
  /// The transaction has that outcome, the job trains in that layout, and returns to the small one.
  void endsWith(std::optional<bool> expected) {
    const Outcome outcome = LocalCluster::Finish(*std::exchange(m_apply, nullptr));
    const Json result = outcome.LastJson();
    QVERIFY2(result.is_object() && result.contains("result"), outcome.Text());
    const bool commits = expected.value_or(result["result"] == "committed");
    QCOMPARE(result["result"].get<std::string>(),
             std::string(commits ? "committed" : "rolled_back"));
    QCOMPARE(outcome.code, commits ? 0 : 1);
    const QString wrong = commits ? m_cluster->WrongDigestsOf(result) : QString();
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    QVERIFY(m_cluster->WaitAllAlive());
    QVERIFY(m_cluster->WaitJob(kJob, [](const Json& job) { return job["state"] == "running"; }));
    const Json job = m_cluster->Job(kJob);
    QCOMPARE(job["epoch"].get<std::uint64_t>(), m_epoch + (commits ? 1U : 0U));
    QCOMPARE(job["devices"].size(), std::size_t{commits ? 4U : 2U});
    QVERIFY(m_cluster->GoesOn(kJob, 11));  // crashes further apart than ten steps are forgiven
    if (!commits) return;
    const Json back = m_cluster->Apply(kJob, kSmall, FirstDevices(2, 2));
    QCOMPARE(back["result"].get<std::string>(), std::string("committed"));
  }
  void startsNodeAgain() {
    const Outcome started = m_cluster->Run({"node", "start", "n1"});
    QVERIFY2(started.code == 0, started.Text());
    QVERIFY(m_cluster->WaitAllAlive());
  }

  FaultFolder m_faults;
  std::unique_ptr<LocalCluster> m_cluster;
  std::unique_ptr<QProcess> m_apply;
  std::uint64_t m_epoch = 0;  // before the transaction
};

TESSERA_TEST(E2eFaultsTest)
#include "e2e_faults_test.moc"
