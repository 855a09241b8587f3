// SPDX-License-Identifier: Apache-2.0
// kill -9 of agents and of a node, while a job trains and at each fault point of a transaction. In
// every case the outcome is the expected one, and the job continues with the state that it must
// have.
#include <QProcess>
#include <QTest>
#include <nlohmann/json.hpp>

#include "tests/support/exact_job.h"
#include "tests/support/fault_folder.h"
#include "tests/support/local_cluster.h"
#include "tests/support/send_signal.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

namespace {
const QString kJob = QStringLiteral("nano");
constexpr int kRegistrar = 0;
constexpr int kParticipant = 1;
// The job's mesh on the first node, and its mesh on both nodes.
const QString kSmall = QStringLiteral("dp=1,tp=2");
const QString kLarge = QStringLiteral("dp=2,tp=2");
// 3 MiB, which take some seconds over the slow link of the last test.
constexpr ExactJob kExactJob{.rows = 256, .columns = 128};
const QString kResuming = QStringLiteral("registrar.resuming");
}  // namespace

class E2eKillTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    m_cluster = std::make_unique<LocalCluster>(LocalCluster::Options{
        .nodes = 2, .devices = 2, .memory = "64M", .link = {}, .one_host = false});
    QVERIFY2(m_cluster->up().code == 0, m_cluster->up().Text());
    const Outcome start =
        StartExactJob(*m_cluster, kJob, kSmall, FirstDevices(2, 2), {}, kExactJob);
    QVERIFY2(start.code == 0, start.Text());
    QVERIFY(m_cluster->WaitStep(kJob, 3));
  }
  void cleanupTestCase() { m_cluster.reset(); }

  void agentDiesWhileTraining_data() {
    QTest::addColumn<int>("node");
    QTest::newRow("the node with the ranks, which is the registrar's") << kRegistrar;
    QTest::newRow("the idle node") << kParticipant;
  }
  void agentDiesWhileTraining() {
    QFETCH(int, node);
    const auto agent = m_cluster->Agent(node);
    QVERIFY(agent.has_value());
    const Json before = m_cluster->Job(kJob);
    QVERIFY(LocalCluster::Kill(*agent));
    QVERIFY(rejoined(node, *agent));
    const Json after = m_cluster->Job(kJob);
    QCOMPARE(after["state"].get<std::string>(), std::string("running"));
    QCOMPARE(after["epoch"].dump(), before["epoch"].dump());
    QCOMPARE(after["layout_hash"].dump(), before["layout_hash"].dump());
    QVERIFY(m_cluster->GoesOn(kJob));
  }

  // Each row kills one agent at one named point (agents/DESIGN.md), so its outcome is certain.
  void dyingAtAFaultPoint_data() {
    QTest::addColumn<int>("node");
    QTest::addColumn<QString>("point");
    QTest::addColumn<bool>("commits");
    const auto row = [](int node, const char* point, bool commits) {
      QTest::addRow("n%d at %s", node, point) << node << QString::fromLatin1(point) << commits;
    };
    // The nodes take turns, because an agent that dies soon after its start is restarted later.
    // The registrar's register is empty until `decided`: the restarted registrar writes `abort`.
    // A participant that has not journaled `verified` makes the coordinator abort.
    row(kRegistrar, "registrar.journaled", false);
    row(kParticipant, "participant.preparing", false);
    row(kRegistrar, "registrar.preparing", false);
    row(kParticipant, "participant.precopying", false);
    row(kRegistrar, "registrar.precopying", false);
    row(kParticipant, "participant.prepared", false);
    row(kRegistrar, "registrar.pausing", false);
    row(kParticipant, "participant.transferring", false);
    row(kRegistrar, "registrar.transferring", false);
    row(kParticipant, "participant.transferred", false);
    row(kRegistrar, "registrar.verifying", false);
    row(kParticipant, "participant.verified", false);
    row(kRegistrar, "registrar.committing", false);
    row(kParticipant, "participant.verified.journaled", true);
    row(kRegistrar, "registrar.decided", true);
    row(kParticipant, "participant.committed", true);
    row(kRegistrar, "registrar.resuming", true);
    row(kParticipant, "participant.committed.journaled", true);
    row(kRegistrar, "registrar.outcome", true);
  }

  // A transaction that is recorded and never begins. The client repeats its request, which begins
  // another one, or is refused while n1 has not registered again.
  void dyingBeforeAChangeBegins() {
    const QString point = QStringLiteral("registrar.recorded");
    const auto agent = m_cluster->Agent(kRegistrar);
    QVERIFY(agent.has_value());
    QVERIFY(m_faults.KillAt(kRegistrar, point));
    const Outcome outcome = m_cluster->Run(
        {"apply", kJob, "--devices", FirstDevices(4, 2), "--mesh", kLarge, "--yes", "--json"}, 120);
    QVERIFY2(!m_faults.IsPending(kRegistrar, point), outcome.Text());
    QVERIFY(rejoined(kRegistrar, *agent));
    for (const Json& entry : m_cluster->Ask({"history"})["transactions"]) {
      QVERIFY2(!entry["result"].get<std::string>().empty(), entry.dump().c_str());
    }
    if (outcome.code == 0) {
      const Json back = m_cluster->Apply(kJob, kSmall, FirstDevices(2, 2));
      QCOMPARE(back["result"].get<std::string>(), std::string("committed"));
    } else {
      QVERIFY2(outcome.errors.contains("has not registered"), outcome.Text());
    }
    QCOMPARE(m_cluster->Job(kJob)["devices"].size(), std::size_t{2});
    QVERIFY(m_cluster->GoesOn(kJob));
  }

  void dyingAtAFaultPoint() {
    QFETCH(int, node);
    QFETCH(QString, point);
    QFETCH(bool, commits);
    const auto agent = m_cluster->Agent(node);
    QVERIFY(agent.has_value());
    const Json before = m_cluster->Job(kJob);

    QVERIFY(m_faults.KillAt(node, point));
    // Ranks that compute meanwhile may have paused before the phase `pausing` begins.
    const bool is_plain = point.endsWith(QLatin1String("pausing"));
    const auto apply = m_cluster->Start(
        {"apply", kJob, "--devices", FirstDevices(4, 2), "--mesh", kLarge, "--overlap",
         is_plain ? QStringLiteral("off") : QStringLiteral("auto"), "--yes", "--json"});
    const Outcome outcome = LocalCluster::Finish(*apply, 120);
    QVERIFY2(!m_faults.IsPending(node, point),
             qPrintable("the point was not reached: " + QString::fromUtf8(outcome.Text())));
    const Json result = outcome.LastJson();
    QVERIFY2(result.is_object() && result.contains("result"), outcome.Text());
    QCOMPARE(result["result"].get<std::string>(),
             std::string(commits ? "committed" : "rolled_back"));
    QCOMPARE(outcome.code, commits ? 0 : 1);
    const QString wrong = commits ? m_cluster->WrongDigestsOf(result) : QString();
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));

    QVERIFY(rejoined(node, *agent));
    const Json after = m_cluster->Job(kJob);
    QCOMPARE(after["devices"].size(), std::size_t{commits ? 4U : 2U});
    QCOMPARE(after["epoch"].get<int>(), before["epoch"].get<int>() + (commits ? 1 : 0));
    QVERIFY(m_cluster->GoesOn(kJob));
    if (commits) {
      const Json back = m_cluster->Apply(kJob, kSmall, FirstDevices(2, 2));
      QCOMPARE(back["result"].get<std::string>(), std::string("committed"));
      QVERIFY(m_cluster->GoesOn(kJob));
    }
  }

  // The ranks of its node leave the job. The agent that comes back must not take that for a loss.
  void registrarDiesWhileItsRanksLeave() {
    const QString elsewhere = QStringLiteral("n1g0,n1g1");
    for (const QString& devices : {elsewhere, FirstDevices(2, 2)}) {
      const auto agent = m_cluster->Agent(kRegistrar);
      QVERIFY(agent.has_value());
      QVERIFY(m_faults.KillAt(kRegistrar, kResuming));
      const Json moved = m_cluster->Apply(kJob, kSmall, devices);
      QVERIFY(moved.is_object());
      QCOMPARE(moved["result"].get<std::string>(), std::string("committed"));
      QVERIFY(!m_faults.IsPending(kRegistrar, kResuming));
      // Again, right after the commit, when its ranks may have ended without a witness.
      const auto second = m_cluster->Agent(kRegistrar);
      QVERIFY(second && LocalCluster::Kill(*second));
      QVERIFY(rejoined(kRegistrar, *second));
      const Json job = m_cluster->Job(kJob);
      QVERIFY2(job["state"] == "running", job.dump().c_str());
      QVERIFY(m_cluster->GoesOn(kJob));
    }
  }

  // Ranks that leave do not hear it: they are stopped at the commit, and their agent dies again
  // before it can end them. They must not run on beside the next ranks of their devices.
  void ranksThatMissedThatTheyLeaveEndNevertheless() {
    const auto ranks = [&] { return m_cluster->Children(kRegistrar, kExactProgram); };
    QVERIFY(m_faults.KillAt(kRegistrar, kResuming));
    const auto apply = m_cluster->Start({"apply", kJob, "--devices", QStringLiteral("n1g0,n1g1"),
                                         "--mesh", kSmall, "--yes", "--json"});
    QVERIFY(LocalCluster::WaitFor([&] { return !m_faults.IsPending(kRegistrar, kResuming); }, 60));
    const std::vector<std::int64_t> leaving = ranks();
    QCOMPARE(leaving.size(), 2U);
    for (const std::int64_t pid : leaving) QVERIFY(SendSignal(pid, SIGSTOP));
    const Outcome moved = LocalCluster::Finish(*apply, 120);
    const auto agent = m_cluster->Agent(kRegistrar);
    QVERIFY(agent && LocalCluster::Kill(*agent));
    for (const std::int64_t pid : leaving) QVERIFY(SendSignal(pid, SIGCONT));
    QVERIFY2(moved.code == 0, moved.Text());
    QVERIFY(rejoined(kRegistrar, *agent));
    QVERIFY(LocalCluster::WaitFor([&] { return ranks().empty(); }, 20));
    QVERIFY(m_cluster->Apply(kJob, kSmall, FirstDevices(2, 2)).is_object());
    QVERIFY(m_cluster->GoesOn(kJob));
    QCOMPARE(ranks().size(), 2U);
  }

  // Between the mark of the job's end and the erasure of its row. The mark alone holds.
  void dyingWhileAJobEnds() {
    const QString point = QStringLiteral("registrar.job_ended"), brief = QStringLiteral("brief");
    const auto start = [&] {
      return StartExactJob(*m_cluster, brief, QStringLiteral("dp=1"), QStringLiteral("n1g0"));
    };
    QVERIFY2(start().code == 0, start().Text());
    QVERIFY(m_cluster->WaitStep(brief, 1));
    const auto agent = m_cluster->Agent(kRegistrar);
    QVERIFY(agent.has_value());
    QVERIFY(m_faults.KillAt(kRegistrar, point));
    const Outcome stop = m_cluster->Run({"job", "stop", brief, "--yes"}, 60);
    QVERIFY2(!m_faults.IsPending(kRegistrar, point), stop.Text());
    QVERIFY(rejoined(kRegistrar, *agent));
    // Its node frees what it holds of the job, and the name is free.
    const auto has_ended = [&] {
      return m_cluster->Job(brief).is_null() && m_cluster->Children(kParticipant, kExactProgram).empty();
    };
    QVERIFY(LocalCluster::WaitFor(has_ended, 20));
    const Outcome again = start();
    QVERIFY2(again.code == 0, again.Text());
    QVERIFY(m_cluster->WaitStep(brief, 1));
    const Outcome stopped = m_cluster->Run({"job", "stop", brief, "--yes"});
    QVERIFY2(stopped.code == 0, stopped.Text());
    QVERIFY(m_cluster->GoesOn(kJob));
  }

  // The client repeats its request, and the registrar that is back ends what is left of the start.
  void registrarDiesWhileAJobStarts() {
    const QString point = QStringLiteral("registrar.starting"), begun = QStringLiteral("begun");
    const auto agent = m_cluster->Agent(kRegistrar);
    QVERIFY(agent.has_value());
    QVERIFY(m_faults.KillAt(kRegistrar, point));
    const Outcome start =
        StartExactJob(*m_cluster, begun, QStringLiteral("dp=1"), QStringLiteral("n1g0"));
    QVERIFY2(!m_faults.IsPending(kRegistrar, point), start.Text());
    QVERIFY2(start.code == 0, start.Text());
    QVERIFY(rejoined(kRegistrar, *agent));
    QVERIFY(m_cluster->WaitStep(begun, 1));
    const Outcome stop = m_cluster->Run({"job", "stop", begun, "--yes"});
    QVERIFY2(stop.code == 0, stop.Text());
    QVERIFY(m_cluster->GoesOn(kJob));
  }

  void everyStepIsInTheHistoryOnce() {
    const QString wrong = WrongStepsOfExactJob(*m_cluster, kJob);
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
  }

  // Last, because the node does not return. The slow link makes the transfer long enough.
  void nodeDiesWhileItJoins() {
    QVERIFY(m_cluster->Configure({{"link_bytes_per_second", 200'000}, {"node_lost_seconds", 5}}));
    QVERIFY(m_cluster->GoesOn(kJob));  // the ranks have found the new agent
    const Json before = m_cluster->Job(kJob);
    const auto apply = m_cluster->Start(
        {"apply", kJob, "--devices", FirstDevices(4, 2), "--mesh", kLarge, "--yes", "--json"});
    QVERIFY(LocalCluster::WaitFor([&] { return m_cluster->IsMoving(); }, 60));
    const Outcome kill = m_cluster->Run({"node", "kill", "n1", "--yes"});
    QVERIFY2(kill.code == 0, kill.Text());
    const Outcome outcome = LocalCluster::Finish(*apply, 120);
    QVERIFY2(outcome.code == 1, outcome.Text());
    QCOMPARE(outcome.LastJson()["result"].get<std::string>(), std::string("rolled_back"));
    QVERIFY(!tessera::app::isAlive(m_cluster->Keeper(kParticipant)));
    QVERIFY(m_cluster->GoesOn(kJob));
    const Json after = m_cluster->Job(kJob);
    QCOMPARE(after["devices"].dump(), before["devices"].dump());
    QCOMPARE(after["epoch"].dump(), before["epoch"].dump());
    const Outcome refused = m_cluster->Run({"plan", kJob, "--devices", FirstDevices(4, 2)});
    QVERIFY2(refused.code == 1 && refused.errors.count(u'\n') == 1, refused.Text());
  }

 private:
  /// Whether the killed agent was replaced and the registrar reports all nodes as alive.
  bool rejoined(int node, const tessera::app::ProcessId& old) {
    return LocalCluster::WaitFor(
        [&] {
          const auto agent = m_cluster->Agent(node);
          if (!agent || *agent == old) return false;
          return m_cluster->AllAlive() && m_cluster->Phase().empty();
        },
        40);
  }

  FaultFolder m_faults;
  std::unique_ptr<LocalCluster> m_cluster;
};

TESSERA_TEST(E2eKillTest)
#include "e2e_kill_test.moc"
