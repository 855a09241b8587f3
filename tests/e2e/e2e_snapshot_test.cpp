// SPDX-License-Identifier: Apache-2.0
// A job that has lost the only copy of a part of its state returns to its newest snapshot. The
// steps after that are made again.
#include <QTest>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/digests.h"
#include "tests/support/exact_job.h"
#include "tests/support/local_cluster.h"
#include "tests/support/send_signal.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

namespace {
const QString kJob = QStringLiteral("nano");
constexpr std::int64_t kEvery = 20;
}  // namespace

class E2eSnapshotTest : public QObject {
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
    QVERIFY(m_cluster->Configure({{"node_lost_seconds", 3}, {"decision_seconds", 2}}));
  }
  void cleanup() {
    if (QTest::currentTestFailed()) return m_cluster.reset();
    m_cluster->Run({"job", "stop", kJob, "--yes"});
    if (!m_cluster->Status().is_object()) return m_cluster.reset();
    const QString wrong = m_cluster->StartDeadNodes();
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
  }
  void cleanupTestCase() { m_cluster.reset(); }

  void stagesReturnTogether() {
    start("pp=2,tp=2", "n0g0,n0g1,n1g0,n1g1", "shrink");
    const std::int64_t taken = waitsForSnapshot();
    const Json job = m_cluster->Job(kJob);
    QCOMPARE(job["snapshots"]["every_steps"].get<int>(), 20);
    QVERIFY(job["snapshots"]["every_seconds"].is_null());
    QCOMPARE(job["snapshots"]["nodes"].get<int>(), 2);
    QVERIFY(job["snapshots"]["bytes"].get<std::int64_t>() >
            2 * job["state_bytes"].get<std::int64_t>());
    // It is paused, so the step that it has come to is known.
    QVERIFY(m_cluster->Run({"job", "pause", kJob}).code == 0);
    const std::int64_t step = m_cluster->Step(kJob);
    kill("n1");
    QVERIFY(m_cluster->WaitJob(kJob, [](const Json& now) {
      return now["state"] == "paused" && now["epoch"] == 2 && now["devices"].size() == 4;
    }));
    QCOMPARE(m_cluster->Job(kJob)["timeline"].get<int>(), 1);
    const Json entry = m_cluster->Ask({"history"})["transactions"][0];
    QCOMPARE(entry["result"].get<std::string>(), "committed");
    VERIFY_DIGESTS(entry["digest_before"], entry["digest_after"]);
    QVERIFY(entry["step"].get<std::int64_t>() >= taken);
    const std::string reason = entry["reason"];
    QVERIFY2(reason.starts_with("back to the snapshot of step ") &&
                 reason.find("n1 was lost") != std::string::npos,
             reason.c_str());
    const std::int64_t lost = std::stoll(reason.substr(reason.find(", ") + 2));
    QCOMPARE(lost, step - entry["step"].get<std::int64_t>());
    QCOMPARE(m_cluster->Step(kJob), entry["step"].get<std::int64_t>());
    QVERIFY(m_cluster->Run({"job", "resume", kJob}).code == 0);
    QVERIFY(continues(2, 4));
    everyStepIsInTheHistoryOnce();
    // Snapshots go on in the new timeline, and the job can return once more.
    QVERIFY(m_cluster->WaitJob(kJob, [&](const Json& now) {
      return now["snapshots"]["step"].get<std::int64_t>() > entry["step"].get<std::int64_t>();
    }));
    kill("n2");
    QVERIFY(continues(3, 2));
    QCOMPARE(m_cluster->Job(kJob)["timeline"].get<int>(), 2);
    everyStepIsInTheHistoryOnce();
  }

  // Its second copies are on the next node of the cluster.
  void aJobOnOneNodeHasAGuest() {
    start("tp=2", "n1g0,n1g1", "shrink");
    waitsForSnapshot();
    QCOMPARE(m_cluster->Job(kJob)["snapshots"]["nodes"].get<int>(), 2);
    QVERIFY(numKept(1) >= 1 && numKept(2) >= 1);
    QCOMPARE(numKept(0), 0);
    kill("n1");
    QVERIFY(continues(2, 2));
    const Json entry = m_cluster->Ask({"history"})["transactions"][0];
    QVERIFY(entry["reason"].get<std::string>().starts_with("back to the snapshot of step "));
    VERIFY_DIGESTS(entry["digest_before"], entry["digest_after"]);
    everyStepIsInTheHistoryOnce();
  }

  // Steps are lost only if someone has said so: the countdown does not run.
  void itAsksBeforeStepsAreLost() {
    start("pp=2", "n0g0,n1g0", "ask");
    waitsForSnapshot();
    kill("n1");
    QVERIFY(m_cluster->WaitJob(kJob,
                               [](const Json& job) { return job["state"] == "waiting_decision"; }));
    QTest::qWait(3000);  // longer than the countdown
    const Json job = m_cluster->Job(kJob);
    QCOMPARE(job["state"].get<std::string>(), "waiting_decision");
    const Json decision = job["decision"];
    QCOMPARE(decision["case"].get<std::string>(), "snapshot");
    QVERIFY(decision["left_seconds"].is_null());
    QVERIFY(decision["missing_bytes"].get<std::int64_t>() > 0);
    const std::int64_t lost = decision["continue"]["lost_steps"];
    QCOMPARE(decision["snapshot_step"].get<std::int64_t>() + lost, m_cluster->Step(kJob));
    const Outcome status = m_cluster->Run({"status"});
    QVERIFY2(status.output.contains("from the snapshot of step"), status.Text());
    QVERIFY(m_cluster->Run({"txn", "decide", kJob, "snapshot"}).code == 0);
    QVERIFY(continues(2, 2));
    everyStepIsInTheHistoryOnce();
  }

  // The snapshot is in memory that the keepers own, and the registrar has journaled it.
  void itSurvivesTheAgents() {
    start("pp=2", "n0g0,n1g0", "shrink");
    waitsForSnapshot();
    QVERIFY(m_cluster->Run({"job", "snapshots", kJob, "10000"}).code == 0);  // no further one
    QVERIFY(m_cluster->Run({"job", "pause", kJob}).code == 0);
    const std::int64_t taken = m_cluster->Job(kJob)["snapshots"]["step"];
    for (const int node : {0, 1, 2}) {
      const auto agent = m_cluster->Agent(node);
      QVERIFY(agent && SendSignal(agent->pid, SIGKILL));
    }
    QVERIFY(m_cluster->WaitAllAlive());
    QVERIFY(m_cluster->Job(kJob)["snapshots"]["step"] == taken);
    kill("n1");
    QVERIFY(m_cluster->Run({"job", "resume", kJob}).code == 0);
    QVERIFY(continues(2, 2));
    QCOMPARE(m_cluster->Ask({"history"})["transactions"][0]["step"].get<std::int64_t>(), taken);
    everyStepIsInTheHistoryOnce();
  }

  // The job takes the snapshot on one mesh, loses a node on a second, and continues on a third.
  void itIsReadAcrossLayouts() {
    start("dp=2,tp=2,pp=1", "n0g0,n0g1,n1g0,n1g1", "shrink");
    waitsForSnapshot();
    QVERIFY(m_cluster->Run({"job", "snapshots", kJob, "10000"}).code == 0);
    const Json moved = m_cluster->Apply(kJob, "pp=2,tp=2", "n1g0,n1g1,n2g0,n2g1");
    QCOMPARE(moved["result"].get<std::string>(), "committed");
    const std::int64_t taken = m_cluster->Job(kJob)["snapshots"]["step"];
    QVERIFY(m_cluster->GoesOn(kJob));
    kill("n1");
    QVERIFY(continues(3, 4));
    const Json entry = m_cluster->Ask({"history"})["transactions"][0];
    QCOMPARE(entry["change_kind"].get<std::string>(), std::string("recover"));
    QCOMPARE(entry["step"].get<std::int64_t>(), taken);
    everyStepIsInTheHistoryOnce();
  }

  // Half of an update on the only device of a stage.
  void aTornDeviceWithoutReplica() {
    start("pp=2", "n0g0,n1g0", "shrink");
    waitsForSnapshot();
    QVERIFY(m_cluster->Run({"job", "pause", kJob}).code == 0);
    auto arena = m_cluster->ArenaOf("n1g0");
    QVERIFY(arena.has_value());
    arena->header().begin.store(static_cast<std::uint64_t>(m_cluster->Step(kJob)) + 1);
    for (const std::int64_t rank : m_cluster->Children(1, kExactProgram)) {
      QVERIFY(SendSignal(rank, SIGKILL));
    }
    QVERIFY(m_cluster->WaitJob(
        kJob, [](const Json& job) { return job["state"] == "paused" && job["epoch"] == 2; }));
    QVERIFY(m_cluster->Job(kJob)["devices"] == Json({"n0g0", "n1g0"}));
    QVERIFY(m_cluster->Run({"job", "resume", kJob}).code == 0);
    QVERIFY(m_cluster->GoesOn(kJob));
    everyStepIsInTheHistoryOnce();
  }

  void bothNodesOfASnapshotAreLost() {
    start("pp=2,tp=2", "n1g0,n1g1,n2g0,n2g1", "shrink");
    waitsForSnapshot();
    kill("n1");
    kill("n2");
    QVERIFY(m_cluster->WaitJob(kJob, [](const Json& job) {
      return job["decision"].is_object() && job["decision"]["lost"].size() == 4;
    }));
    QCOMPARE(m_cluster->Job(kJob)["decision"]["case"].get<std::string>(), "checkpoint_only");
    // Both nodes are started at the same time.
    const auto one = m_cluster->Start({"node", "start", "n1"});
    const auto other = m_cluster->Start({"node", "start", "n2"});
    QCOMPARE(LocalCluster::Finish(*one).code, 0);
    QCOMPARE(LocalCluster::Finish(*other).code, 0);
    for (const int node : {1, 2}) QVERIFY(m_cluster->Agent(node).has_value());
  }

  void offFreesTheMemory() {
    start("pp=2", "n0g0,n1g0", "wait");
    waitsForSnapshot();
    QVERIFY(numKept(0) >= 1);  // two for a moment, while the next one is completed
    QVERIFY(numKept(1) >= 1);
    QVERIFY(m_cluster->Run({"job", "snapshots", kJob, "off"}).code == 0);
    QVERIFY(LocalCluster::WaitFor([&] { return numKept(0) == 0 && numKept(1) == 0; }));
    QVERIFY(m_cluster->Job(kJob)["snapshots"]["step"].is_null());
    const Outcome bad = m_cluster->Run({"job", "snapshots", kJob, "0"});
    QVERIFY2(bad.code == 2 && bad.errors.contains("'0' is not `off`"), bad.Text());
    // And so does the end of the job.
    QVERIFY(m_cluster->Run({"job", "snapshots", kJob, "1s"}).code == 0);
    waitsForSnapshot();
    QVERIFY(m_cluster->Run({"job", "stop", kJob, "--yes"}).code == 0);
    QVERIFY(LocalCluster::WaitFor([&] { return numKept(0) == 0 && numKept(1) == 0; }));
  }

 private:
  void start(const char* mesh, const char* devices, const char* policy) {
    const Outcome started = StartExactJob(
        *m_cluster, kJob, QString::fromLatin1(mesh), QString::fromLatin1(devices),
        {"--on-failure", QString::fromLatin1(policy), "--snapshot-every", QString::number(kEvery)},
        {.step_milliseconds = 50});
    QVERIFY2(started.code == 0, started.Text());
  }
  /// The step of the first snapshot; the job has made a few steps since.
  std::int64_t waitsForSnapshot() const {
    const bool taken = m_cluster->WaitJob(
        kJob, [](const Json& job) { return !job["snapshots"]["step"].is_null(); });
    if (!taken || !m_cluster->GoesOn(kJob)) return -1;
    return m_cluster->Job(kJob)["snapshots"]["step"].get<std::int64_t>();
  }
  void kill(const char* node) {
    QVERIFY(m_cluster->Run({"node", "kill", QString::fromLatin1(node), "--yes"}).code == 0);
  }
  bool continues(int epoch, std::size_t devices) const {
    return m_cluster->WaitJob(kJob, [&](const Json& job) {
      return job["state"] == "running" && job["epoch"] == epoch && job["devices"].size() == devices;
    }) && m_cluster->GoesOn(kJob);
  }
  /// Memory of snapshots that the keeper of a node holds.
  int numKept(int node) const {
    int count = 0;
    std::error_code ignored;
    const std::string folder = "/proc/" + std::to_string(m_cluster->Keeper(node).pid) + "/fd";
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
      const auto target = std::filesystem::read_symlink(entry.path(), ignored).string();
      if (target.starts_with("/memfd:view ")) ++count;
    }
    return count;
  }
  void everyStepIsInTheHistoryOnce() const {
    const QString wrong = WrongStepsOfExactJob(*m_cluster, kJob);
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
  }

  std::unique_ptr<LocalCluster> m_cluster;
};

TESSERA_TEST(E2eSnapshotTest)
#include "e2e_snapshot_test.moc"
