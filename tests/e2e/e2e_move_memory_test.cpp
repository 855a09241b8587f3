// SPDX-License-Identifier: Apache-2.0
// Moves in rounds on GPUs that are 95 % full, also with agents that are killed in them: the change
// goes on and ends, and no bit of the state changes.
#include <QTest>
#include <cmath>
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
const QString kTensors = QStringLiteral("tp=4");
const QString kStages = QStringLiteral("tp=2,pp=2");
const QString kMemory = QStringLiteral("1M");
constexpr int kFetching = 8;  // a round in which both nodes fetch cells

}  // namespace

class E2eMoveMemoryTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    m_cluster = std::make_unique<LocalCluster>(LocalCluster::Options{
        .nodes = 2,
        .devices = 2,
        .memory = FullMemory(kLargeExactJob, {"tp=4 on 2x2", "tp=2,pp=2 on 2x2"}),
        .link = {},
        .one_host = false});
    QVERIFY2(m_cluster->up().code == 0, m_cluster->up().Text());
    QVERIFY(StartJob());
  }
  void cleanupTestCase() { m_cluster.reset(); }

  // Without rounds there is no room. The refusal says what to do.
  void isRefusedWithoutRounds() {
    const Outcome plain = m_cluster->Run({"plan", kJob, "--mesh", kStages});
    QCOMPARE(plain.code, 1);
    QVERIFY2(plain.Text().contains("it fits with --move-memory "), plain.Text());
    const Outcome small = m_cluster->Run({"plan", kJob, "--mesh", kStages, "--move-memory", "64K"});
    QCOMPARE(small.code, 1);
    QVERIFY2(small.Text().contains("--move-memory allows 65536 bytes"), small.Text());
    const Outcome unnamed =
        m_cluster->Run({"apply", kJob, "--mesh", kStages, "--move-memory", kMemory, "--yes"});
    QCOMPARE(unnamed.code, 2);
    QVERIFY2(unnamed.Text().contains("--confirm full"), unnamed.Text());
    const Outcome other = m_cluster->Run(
        {"apply", kJob, "--mesh", kStages, "--move-memory", kMemory, "--confirm", "nano"});
    QCOMPARE(other.code, 2);
    const Outcome full = m_cluster->Run({"apply", kJob, "--mesh", kStages, "--move-memory", kMemory,
                                         "--confirm", kJob, "--verify", "full"});
    QCOMPARE(full.code, 1);
    QVERIFY2(full.Text().contains("--verify full"), full.Text());
  }

  void movesInRounds() {
    const Json plan = m_cluster->Ask({"plan", kJob, "--mesh", kStages, "--move-memory", kMemory});
    QVERIFY2(plan["rollback"] == "until the first round", plan.dump().c_str());
    const auto rounds = plan["move_memory"]["rounds"].get<int>();
    QVERIFY(rounds > kFetching);
    const Json before = m_cluster->Job(kJob);
    for (const QString& mesh : {kStages, kTensors}) {
      const Json moved = Move(mesh);
      QVERIFY2(moved.is_object() && moved["result"] == "committed", moved.dump().c_str());
      VERIFY_DIGESTS(moved["digest_before"], moved["digest_after"]);
      QCOMPARE(moved["moved_bytes"].dump(), moved["volume_bound_bytes"].dump());
      for (const auto& [device, extra] : moved["move_memory"]["extra_bytes"].items()) {
        const auto planned = extra["planned"].get<double>();
        const auto measured = extra["measured"].get<double>();
        QVERIFY(planned <= (1 << 20));
        QVERIFY2(std::abs(measured - planned) <= 0.02 * planned, moved.dump().c_str());
      }
      QVERIFY(m_cluster->GoesOn(kJob));
    }
    QVERIFY(m_cluster->Job(kJob)["layout_hash"] == before["layout_hash"]);
  }

  // A paused job shows that no bit changes.
  void theStateIsTheSame() {
    QCOMPARE(m_cluster->Run({"job", "pause", kJob}).code, 0);
    const Json before = m_cluster->Ask({"digest", kJob})["digest"];
    for (const QString& mesh : {kStages, kTensors}) {
      const Json moved = Move(mesh);
      QVERIFY2(moved.is_object() && moved["result"] == "committed", moved.dump().c_str());
      VERIFY_DIGESTS(m_cluster->Ask({"digest", kJob})["digest"], before);
    }
    QCOMPARE(m_cluster->Run({"job", "resume", kJob}).code, 0);
    QVERIFY(m_cluster->GoesOn(kJob));
  }

  void killedInARoundItEnds_data() {
    QTest::addColumn<int>("node");
    QTest::addColumn<QString>("point");
    QTest::addColumn<int>("round");
    const auto row = [](int node, const char* point, int round) {
      QTest::addRow("n%d at %s of round %d", node, point, round)
          << node << QString::fromLatin1(point) << round;
    };
    // Devices only pack what they have in the first rounds, and nodes fetch cells in later ones.
    row(1, "participant.round", 1);
    row(1, "participant.round.freed", 1);
    row(0, "participant.round.journaled", 1);
    row(0, "registrar.round", 1);
    row(1, "participant.round", kFetching);
    row(1, "participant.round.freed", kFetching);
    row(1, "participant.round.journaled", kFetching);
    row(0, "participant.round.journaled", kFetching);
    row(0, "registrar.decided", 1);
  }
  void killedInARoundItEnds() {
    QFETCH(int, node);
    QFETCH(QString, point);
    QFETCH(int, round);
    // Earlier moves leave the pieces scattered, which is not what this is about.
    QCOMPARE(m_cluster->Run({"job", "stop", kJob, "--yes"}).code, 0);
    QVERIFY(StartJob());
    QCOMPARE(m_cluster->Run({"job", "pause", kJob}).code, 0);
    const Json before = m_cluster->Ask({"digest", kJob})["digest"];
    QVERIFY(m_faults.KillAt(node, point, round));
    const Json moved = Move(kStages);
    QVERIFY2(moved.is_object() && moved["result"] == "committed", moved.dump().c_str());
    QVERIFY2(!m_faults.IsPending(node, point), "the point was not reached");
    VERIFY_DIGESTS(m_cluster->Ask({"digest", kJob})["digest"], before);
    QCOMPARE(m_cluster->Run({"job", "resume", kJob}).code, 0);
    QVERIFY(m_cluster->GoesOn(kJob));
    const Json back = Move(kTensors);
    QVERIFY2(back.is_object() && back["result"] == "committed", back.dump().c_str());
    QVERIFY(m_cluster->GoesOn(kJob));
  }

  // Last, because the node does not return: what it held has no other copy.
  void aNodeThatDiesInARoundEndsIt() {
    QCOMPARE(m_cluster->Run({"job", "stop", kJob, "--yes"}).code, 0);
    QVERIFY(StartJob());
    QVERIFY(m_faults.StopAt(1, "participant.round.freed"));
    const auto apply = m_cluster->Start(
        {"apply", kJob, "--mesh", kStages, "--move-memory", kMemory, "--confirm", kJob, "--json"});
    QVERIFY(LocalCluster::WaitFor([&] { return !m_faults.IsPending(1, "participant.round.freed"); },
                                  60));
    const Outcome kill = m_cluster->Run({"node", "kill", "n1", "--yes"}, 60);
    QVERIFY2(kill.code == 0, kill.Text());
    const Outcome outcome = LocalCluster::Finish(*apply, 120);
    QCOMPARE(outcome.code, 3);  // something has changed
    const Json result = outcome.LastJson();
    QVERIFY2(result["result"] == "failed", outcome.Text());
    QVERIFY2(result["reason"].get<std::string>().find("n1") != std::string::npos, outcome.Text());
    QVERIFY(m_cluster->WaitJob(kJob, [](const Json& job) { return job["state"] != "running"; }));
    const Outcome events = m_cluster->Run({"events"});
    QVERIFY2(events.Text().contains("rounds have moved the state of 'full'"), events.Text());
    QVERIFY2(m_cluster->Run({"job", "stop", kJob, "--yes"}).code == 0, "it cannot be stopped");
  }

 private:
  bool StartJob() {
    const Outcome start =
        StartExactJob(*m_cluster, kJob, kTensors, FirstDevices(4, 2), {}, kLargeExactJob);
    if (start.code != 0) qWarning("%s", start.Text().constData());
    return start.code == 0 && m_cluster->WaitStep(kJob, 3);
  }
  Json Move(const QString& mesh) {
    const Outcome outcome = m_cluster->Run(
        {"apply", kJob, "--mesh", mesh, "--move-memory", kMemory, "--confirm", kJob, "--json"},
        150);
    if (outcome.code != 0) qWarning("%s", outcome.Text().constData());
    return outcome.LastJson();
  }

  FaultFolder m_faults;  // first, because agents inherit its name
  std::unique_ptr<LocalCluster> m_cluster;
};

TESSERA_TEST(E2eMoveMemoryTest)
#include "e2e_move_memory_test.moc"
