// SPDX-License-Identifier: Apache-2.0
// A job that has lost devices continues on others if replicas of its whole state are left: no step
// is lost, and no element of the state is wrong.
#include <QTest>
#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>

#include "tests/support/digests.h"
#include "tests/support/exact_job.h"
#include "tests/support/fault_folder.h"
#include "tests/support/local_cluster.h"
#include "tests/support/send_signal.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

namespace {
const QString kJob = QStringLiteral("nano");
}  // namespace

class E2eRecoveryTest : public QObject {
  Q_OBJECT

 private slots:
  // One cluster for all tests, unless one has failed: each begins with all nodes alive.
  void init() {
    if (m_cluster) return;
    LocalCluster::Options options;
    options.nodes = 3;
    options.devices = 2;
    options.memory = QStringLiteral("64M");
    m_cluster = std::make_unique<LocalCluster>(options);
    QVERIFY2(m_cluster->up().code == 0, m_cluster->up().Text());
    QVERIFY(m_cluster->Configure({{"node_lost_seconds", 3}, {"decision_seconds", 3}}));
  }
  void cleanup() {
    if (QTest::currentTestFailed()) return m_cluster.reset();
    m_cluster->Run({"job", "stop", kJob, "--yes"});
    if (!m_cluster->Status().is_object()) return m_cluster.reset();
    const QString wrong = m_cluster->StartDeadNodes();
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
  }
  void cleanupTestCase() { m_cluster.reset(); }

  void aSpareNodeIsTakenBeforeTheJobShrinks() {
    start("dp=2,tp=2", "n0g0,n0g1,n1g0,n1g1", "shrink");
    kill("n1");
    QVERIFY(continues(2, 4));
    QVERIFY(meshOf() == Json({{"dp", 2}, {"tp", 2}, {"pp", 1}}));
    QVERIFY(m_cluster->Job(kJob)["devices"] == Json({"n0g0", "n0g1", "n2g0", "n2g1"}));
    // With no spare left it shrinks.
    kill("n2");
    QVERIFY(continues(3, 2));
    everyStepIsInTheHistoryOnce();
    const Json history = m_cluster->Ask({"history"})["transactions"];
    QVERIFY(history.is_array() && history.size() >= 2);
    for (std::size_t i = 0; i < 2; ++i) {  // the newest
      const Json& entry = history[i];
      QCOMPARE(entry["result"].get<std::string>(), "committed");
      QCOMPARE(entry["change_kind"].get<std::string>(), "recover");
      VERIFY_DIGESTS(entry["digest_before"], entry["digest_after"]);
      const std::string reason = entry["reason"];
      QVERIFY2(reason.starts_with("no step lost: ") && reason.find("was lost") != std::string::npos,
               reason.c_str());
    }
  }

  void itAsksAndContinuesWhenToldTo() {
    QVERIFY(m_cluster->Configure({{"decision_seconds", 600}}));
    start("dp=2", "n0g0,n1g0", "ask");
    kill("n1");
    QVERIFY(waitsForDecision("replicas_live"));
    const Json decision = m_cluster->Job(kJob)["decision"];
    QVERIFY(decision["lost"] == Json({"n1g0"}));
    QCOMPARE(decision["reason"].get<std::string>(), "n1 was lost");
    QVERIFY(decision["continue"]["devices"].size() == 2);
    QCOMPARE(decision["continue"]["lost_steps"].get<int>(), 0);
    QVERIFY(decision["left_seconds"].get<double>() > 500);
    const Json choices = m_cluster->Ask({"txn", "decide", kJob})["decision"];
    QCOMPARE(choices["ways"].size(), std::size_t{1});
    QVERIFY(choices["ways"][0]["source"] == "replicas" && choices["ways"][0] == choices["continue"]);
    QVERIFY(choices["awaited"] == Json({"n1g0"}));
    const Outcome none = m_cluster->Run({"txn", "decide", kJob, "snapshot"});
    QVERIFY2(none.code == 1 && none.errors.contains("cannot continue from a snapshot"),
             none.Text());
    // What cannot run says what decides.
    const Outcome resume = m_cluster->Run({"job", "resume", kJob});
    QVERIFY2(resume.code == 1 && resume.errors.contains("txn decide nano continue"), resume.Text());
    QVERIFY(m_cluster->Run({"txn", "decide", kJob, "wait"}).code == 0);
    QVERIFY(m_cluster->WaitJob(kJob, [](const Json& job) { return job["state"] == "suspended"; }));
    QVERIFY(m_cluster->Run({"txn", "decide", kJob, "later"}).code == 2);
    QVERIFY(m_cluster->Run({"txn", "decide", kJob, "continue"}).code == 0);
    QVERIFY(continues(2, 2));
    const Outcome nothing = m_cluster->Run({"txn", "decide", kJob, "continue"});
    QVERIFY2(nothing.code == 1 && nothing.errors.contains("nothing to decide"), nothing.Text());
    everyStepIsInTheHistoryOnce();
    QVERIFY(m_cluster->Run({"node", "start", "n1"}).code == 0);
    QVERIFY(m_cluster->Configure({{"decision_seconds", 3}}));
  }

  // Asking is the default, and so is continuing once nobody has answered.
  void nobodyDecidesSoItContinuesAfterTheCountdown() {
    start("dp=2", "n0g0,n1g0", "");
    QCOMPARE(m_cluster->Job(kJob)["on_failure"].get<std::string>(), "ask");
    kill("n1");
    QVERIFY(waitsForDecision("replicas_live"));
    QVERIFY(m_cluster->Job(kJob)["decision"]["chosen"].is_null());
    QVERIFY(continues(2, 2));
    const QString events = m_cluster->Run({"events"}).output;
    QVERIFY2(events.contains("nobody has decided: "), qPrintable(events));
    const Json history = m_cluster->Ask({"history"})["transactions"];
    QVERIFY(history.is_array() && !history.empty());
    QCOMPARE(history[0]["result"].get<std::string>(), "committed");
    const std::string reason = history[0]["reason"];
    QVERIFY2(reason.starts_with("no step lost: "), reason.c_str());
    everyStepIsInTheHistoryOnce();
  }

  // The node comes back empty, and its devices are filled from the replicas.
  void aJobThatWaitsTakesItsNodeBack() {
    start("dp=2,tp=2", "n0g0,n0g1,n1g0,n1g1", "wait");
    kill("n1");
    QVERIFY(m_cluster->WaitJob(kJob, [](const Json& job) {
      return job["state"] == "suspended" && job["decision"].is_object();
    }));
    QTest::qWait(1000);  // it stays so
    QCOMPARE(m_cluster->Job(kJob)["state"].get<std::string>(), "suspended");
    const Outcome started = m_cluster->Run({"node", "start", "n1"});
    QVERIFY2(started.code == 0, started.Text());
    QVERIFY(continues(2, 4));
    QVERIFY(m_cluster->Job(kJob)["devices"] == Json({"n0g0", "n0g1", "n1g0", "n1g1"}));
    everyStepIsInTheHistoryOnce();
    QVERIFY(m_cluster->Run({"node", "start", "n1"}).code == 1);
    QVERIFY(m_cluster->Run({"node", "start", "n9"}).code == 1);
  }

  // The agent and a rank of n1 are gone for longer than the registrar waits. The node comes back
  // with its memory after the job has continued without it.
  void aStaleCopyIsFreedAndNeverUsed() {
    start("dp=2,tp=2", "n0g0,n0g1,n1g0,n1g1", "shrink");
    const auto agent = m_cluster->Agent(1);
    QVERIFY(agent && SendSignal(agent->pid, SIGSTOP));
    const auto ranks = m_cluster->Children(1, kExactProgram);
    QCOMPARE(ranks.size(), std::size_t{2});
    for (const std::int64_t rank : ranks) QVERIFY(SendSignal(rank, SIGKILL));
    QVERIFY(continues(2, 4));
    QVERIFY(SendSignal(agent->pid, SIGCONT));
    QVERIFY(LocalCluster::WaitFor([&] {
      const Json status = m_cluster->Status();
      if (!status.is_object() || status["nodes"][1]["state"] != "alive") return false;
      for (const Json& device : status["nodes"][1]["devices"]) {
        if (device["used_bytes"].get<std::int64_t>() > 0) return false;
      }
      return true;
    }));
    QVERIFY(m_cluster->GoesOn(kJob));
    QCOMPARE(m_cluster->Job(kJob)["epoch"].get<std::int64_t>(), 2);
    // The node is as good as new.
    const Json back = m_cluster->Apply(kJob, "dp=2,tp=2", "n0g0,n0g1,n1g0,n1g1");
    QCOMPARE(back["result"].get<std::string>(), "committed");
    everyStepIsInTheHistoryOnce();
  }

  // A device with half of an update is filled from its replica, on the same devices.
  void aTornDeviceIsFilledFromItsReplica() {
    start("dp=2", "n0g0,n1g0", "wait");
    auto arena = m_cluster->ArenaOf("n1g0");
    QVERIFY(arena.has_value());
    QVERIFY(m_cluster->Run({"job", "pause", kJob}).code == 0);
    const std::int64_t step = m_cluster->Step(kJob);
    const Json before = m_cluster->Ask({"digest", kJob});
    tear(*arena, step);
    QVERIFY(m_cluster->WaitJob(
        kJob, [](const Json& job) { return job["state"] == "paused" && job["epoch"] == 2; }));
    QCOMPARE(m_cluster->Step(kJob), step);
    const Json after = m_cluster->Ask({"digest", kJob});
    QVERIFY(before.is_object() && after.is_object());
      VERIFY_DIGESTS(before["digest"], after["digest"]);
    QVERIFY(m_cluster->Run({"job", "resume", kJob}).code == 0);
    QVERIFY(m_cluster->GoesOn(kJob));
    everyStepIsInTheHistoryOnce();
  }

  // One rank is held between the decision of a step and its update, while the others make theirs,
  // and is killed there. Its device makes up for that before the others copy from it.
  void aDeviceOneStepBehindFollowsFirst() {
    start("dp=2,tp=2", "n0g0,n0g1,n1g0,n1g1", "shrink");
    auto behind = m_cluster->ArenaOf("n0g1");
    auto other = m_cluster->ArenaOf("n0g0");
    QVERIFY(behind.has_value() && other.has_value());
    const std::uint64_t held = behind->header().end.load() + 10;
    behind->header().hold.store(held);
    QVERIFY(LocalCluster::WaitFor([&] { return other->header().end.load() == held; }));
    QCOMPARE(behind->header().end.load(), held - 1);
    QVERIFY(m_cluster->WaitStep(kJob, static_cast<std::int64_t>(held)));
    // Stopped, the rank cannot make the update when it hears of the loss.
    const auto ranks = m_cluster->Children(0, kExactProgram);
    for (const std::int64_t rank : ranks) QVERIFY(SendSignal(rank, SIGSTOP));
    kill("n1");
    kill("n2");
    for (const std::int64_t rank : ranks) QVERIFY(SendSignal(rank, SIGKILL));
    QVERIFY(continues(2, 2));
    QVERIFY(m_cluster->Run({"events"}).output.contains("is made on 1 GPU first"));
    everyStepIsInTheHistoryOnce();
  }

  // An agent dies at a named point of the recovery. Whatever the register decides, the job is back
  // in the end, at the same step and with the same state.
  void anAgentDiesDuringTheRecovery() {
    start("dp=2", "n0g0,n1g0", "wait");
    std::int64_t epoch = 1;
    for (const char* point :
         {"registrar.preparing", "participant.prepared", "registrar.transferring",
          "participant.verified.journaled", "registrar.decided", "participant.committed"}) {
      const int node = QByteArrayView(point).startsWith("registrar") ? 0 : 1;
      auto arena = m_cluster->ArenaOf("n1g0");
      QVERIFY(arena.has_value());
      QVERIFY(m_cluster->Run({"job", "pause", kJob}).code == 0);
      const std::int64_t step = m_cluster->Step(kJob);
      const Json before = m_cluster->Ask({"digest", kJob});
      QVERIFY(m_faults.KillAt(node, point));
      tear(*arena, step);
      QVERIFY(m_cluster->WaitJob(kJob, [&](const Json& job) {
        return job["state"] == "paused" && job["epoch"].get<std::int64_t>() > epoch;
      }));
      QVERIFY2(!m_faults.IsPending(node, point), point);
      epoch = m_cluster->Job(kJob)["epoch"].get<std::int64_t>();
      QVERIFY(m_cluster->WaitAllAlive());
      QCOMPARE(m_cluster->Step(kJob), step);
      const Json after = m_cluster->Ask({"digest", kJob});
      QVERIFY(before.is_object() && after.is_object());
      VERIFY_DIGESTS(before["digest"], after["digest"]);
      QVERIFY(m_cluster->Run({"job", "resume", kJob}).code == 0);
      QVERIFY(m_cluster->GoesOn(kJob, 11));  // crashes further apart than ten steps are forgiven
    }
    everyStepIsInTheHistoryOnce();
  }

  // Its ranks train on without the registrar, but a change needs it.
  void aChangeIsRefusedWhileANodeIsSilent() {
    start("dp=2", "n0g0,n1g0", "wait");
    const auto agent = m_cluster->Agent(1);
    QVERIFY(agent && SendSignal(agent->pid, SIGSTOP));
    QVERIFY(LocalCluster::WaitFor(
        [&] { return m_cluster->Status()["nodes"][1]["state"] == "unmanaged"; }));
    const Outcome refused =
        m_cluster->Run({"apply", kJob, "--devices", "n0g0,n2g0", "--mesh", "dp=2", "--yes"});
    QVERIFY2(refused.code == 1 && refused.errors.contains("n1 is unmanaged"), refused.Text());
    QVERIFY(SendSignal(agent->pid, SIGCONT));
    QVERIFY(m_cluster->WaitAllAlive());
    const Json moved = m_cluster->Apply(kJob, "dp=2", "n0g0,n2g0");
    QVERIFY(moved.is_object());
    QCOMPARE(moved["result"].get<std::string>(), "committed");
    QVERIFY(m_cluster->GoesOn(kJob));
    everyStepIsInTheHistoryOnce();
  }

  void whatHasNoLiveCopyIsNamed() {
    start("pp=2", "n0g0,n1g0", "shrink");
    kill("n1");
    QVERIFY(m_cluster->WaitJob(
        kJob, [](const Json& job) { return job["decision"].is_object(); }, 30));
    const Json decision = m_cluster->Job(kJob)["decision"];
    QCOMPARE(decision["case"].get<std::string>(), "checkpoint_only");
    QVERIFY(decision["continue"].is_null());
    QVERIFY(!decision["missing"].empty() && decision["missing_bytes"].get<std::int64_t>() > 0);
    const Outcome refused = m_cluster->Run({"txn", "decide", kJob, "continue"});
    QVERIFY2(refused.code == 1 && refused.errors.contains("no live copy"), refused.Text());
    const Json status = m_cluster->Status();
    QVERIFY(status["nodes"][0]["devices"][0]["used_bytes"].get<std::int64_t>() > 0);  // it is kept
    QVERIFY(m_cluster->Run({"job", "stop", kJob, "--yes"}).code == 0);
  }

  // Its ranks may train on, so nothing but a person's word makes it lost.
  void aSilentNodeIsGivenUp() {
    start("tp=2", "n1g0,n1g1", "shrink");
    const Outcome alive = m_cluster->Run({"node", "give-up", "n1", "--yes"});
    QVERIFY2(alive.code == 1 && alive.errors.contains("is alive"), alive.Text());
    QVERIFY(LocalCluster::Kill(m_cluster->Keeper(1)));
    QVERIFY(LocalCluster::WaitFor(
        [&] { return m_cluster->Status()["nodes"][1]["state"] == "unmanaged"; }));
    const Json silent = m_cluster->Job(kJob);
    QCOMPARE(silent["state"].get<std::string>(), "running");
    QCOMPARE(silent["reason"].get<std::string>(), "nothing is heard of n1; it may train on there");
    const Outcome given = m_cluster->Run({"node", "give-up", "n1", "--yes"});
    QVERIFY2(given.code == 0, given.Text());
    QVERIFY(m_cluster->WaitJob(
        kJob, [](const Json& job) { return job["decision"].is_object(); }, 30));
    const Json lost = m_cluster->Job(kJob);
    QCOMPARE(lost["decision"]["case"].get<std::string>(), "checkpoint_only");
    QVERIFY(lost["reason"].get<std::string>().starts_with("n1 was lost"));
    QVERIFY(m_cluster->Run({"job", "stop", kJob, "--yes"}).code == 0);
  }

  // The node of the device takes part with its other device. The last test, because a failed device
  // stays failed.
  void aFailedDeviceIsReplaced() {
    start("dp=2,tp=2", "n0g0,n0g1,n1g0,n1g1", "shrink");
    QVERIFY(m_cluster->Run({"device", "fail", "n0g1"}).code == 0);
    QVERIFY(continues(2, 4));
    auto devices = m_cluster->Job(kJob)["devices"].get<std::vector<std::string>>();
    std::ranges::sort(devices);
    QCOMPARE(devices, (std::vector<std::string>{"n0g0", "n1g0", "n1g1", "n2g0"}));
    const Json status = m_cluster->Status();
    QCOMPARE(status["nodes"][0]["devices"][1]["used_bytes"].get<std::int64_t>(), 0);  // it is freed
    everyStepIsInTheHistoryOnce();
  }

 private:
  void start(const char* mesh, const char* devices, const char* policy) {
    QStringList more;
    if (*policy != '\0') more = {"--on-failure", QString::fromLatin1(policy)};
    const Outcome started =
        StartExactJob(*m_cluster, kJob, QString::fromLatin1(mesh), QString::fromLatin1(devices),
                      more, {.step_milliseconds = 20});
    QVERIFY2(started.code == 0, started.Text());
    QVERIFY(m_cluster->WaitStep(kJob, 3));
  }
  /// Leaves half of an update on the device of n1, whose rank then ends.
  void tear(tessera::engine::Arena& arena, std::int64_t step) const {
    arena.header().begin.store(static_cast<std::uint64_t>(step) + 1);
    for (const std::int64_t rank : m_cluster->Children(1, kExactProgram)) {
      QVERIFY(SendSignal(rank, SIGKILL));
    }
  }
  void kill(const char* node) {
    QVERIFY(m_cluster->Run({"node", "kill", QString::fromLatin1(node), "--yes"}).code == 0);
  }
  bool waitsForDecision(const char* loss) const {
    return m_cluster->WaitJob(
        kJob,
        [&](const Json& job) {
          return job["state"] == "waiting_decision" && job["decision"]["case"] == loss;
        },
        30);
  }
  /// Whether the job trains in that epoch, on so many devices.
  bool continues(int epoch, std::size_t devices) const {
    return m_cluster->WaitJob(kJob, [&](const Json& job) {
      return job["state"] == "running" && job["epoch"] == epoch && job["devices"].size() == devices;
    }) && m_cluster->GoesOn(kJob);
  }
  /// The degrees dp, tp and pp.
  Json meshOf() const {
    const Json mesh = m_cluster->Job(kJob)["mesh"];
    return {{"dp", mesh["dp"]}, {"tp", mesh["tp"]}, {"pp", mesh["pp"]}};
  }
  void everyStepIsInTheHistoryOnce() const {
    const QString wrong = WrongStepsOfExactJob(*m_cluster, kJob);
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
  }

  FaultFolder m_faults;
  std::unique_ptr<LocalCluster> m_cluster;
};

TESSERA_TEST(E2eRecoveryTest)
#include "e2e_recovery_test.moc"
