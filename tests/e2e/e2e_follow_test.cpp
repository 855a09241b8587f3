// SPDX-License-Identifier: Apache-2.0
// A copy that takes longer than a step is spread over several, and what was copied follows their
// gradients. What comes out is what the plain way gives, to the bit; whoever dies meanwhile.
#include <QTest>
#include <csignal>
#include <nlohmann/json.hpp>
#include <optional>

#include "tests/e2e/losses.h"
#include "tests/folders.h"
#include "tests/support/digests.h"
#include "tests/support/fault_folder.h"
#include "tests/support/local_cluster.h"
#include "tests/support/send_signal.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

namespace {

constexpr std::int64_t kSteps = 100;
constexpr std::int64_t kChange = 80;              // far enough for ranks to start before it
const QString kStepTime = QStringLiteral("0.1");  // s, of which training needs a small part
constexpr int kRegistrar = 0;
constexpr int kParticipant = 1;
const QString kJob = QStringLiteral("nano");
const QString kMesh = QStringLiteral("tp=2");
const QString kThere = QStringLiteral("n1g0,n1g1");

}  // namespace

class E2eFollowTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    m_cluster = std::make_unique<LocalCluster>(LocalCluster::Options{
        .nodes = 2, .devices = 2, .memory = "64M", .link = "100MB/s", .step_time = kStepTime});
    QVERIFY2(m_cluster->up().code == 0, m_cluster->up().Text());
  }
  void cleanupTestCase() { m_cluster.reset(); }

  void theSameAsThePlainWay_data() {
    QTest::addColumn<QString>("precision");
    QTest::addColumn<QString>("to");
    QTest::addColumn<QString>("after");
    QTest::newRow("to another node") << "fp32" << kMesh << kThere;
    QTest::newRow("bf16, stages, a GPU stays") << "bf16"
                                               << "pp=2"
                                               << "n0g1,n1g0";
  }
  void theSameAsThePlainWay() {
    QFETCH(QString, precision);
    QFETCH(QString, to);
    QFETCH(QString, after);
    Ended ended[2];
    for (const bool follows : {false, true}) {
      QVERIFY(Start({"--steps", QString::number(kSteps), "--precision", precision}));
      if (follows) QVERIFY(SlowLinks(to, after));
      const Json moved = m_cluster->Apply(kJob, to, after,
                                          {"--at-step", QString::number(kChange), "--overlap",
                                           follows ? QStringLiteral("on") : QStringLiteral("off")});
      QVERIFY2(moved.is_object() && moved["result"] == "committed", moved.dump().c_str());
      const Json entry = m_cluster->Ask({"history"})["transactions"][0];
      const QString id = QString::number(entry["id"].get<std::int64_t>());
      QCOMPARE(moved["step"].get<std::int64_t>(), kChange);
      VERIFY_DIGESTS(moved["digest_before"], moved["digest_after"]);
      QCOMPARE(entry["phase_seconds"].contains("precopying"), follows);
      QCOMPARE(HasEvent("txn " + id, "it is copied over "), follows);
      QVERIFY(!HasEvent("n1", "transaction " + id + " of"));  // that it could not be copied
      QCOMPARE(moved["moved_bytes"].get<std::int64_t>(),
               entry["bytes"]["host"].get<std::int64_t>() +
                   entry["bytes"]["network"].get<std::int64_t>());
      const Json& gradients = entry["gradient_bytes"];
      QCOMPARE(gradients["planned"] > 0, follows);
      QVERIFY2(gradients["moved"] == gradients["planned"], gradients.dump().c_str());
      auto end = EndOf(*m_cluster, kJob, kSteps);
      QVERIFY(end);
      ended[follows] = std::move(*end);
    }
    VERIFY_DIGESTS(ended[1].digest, ended[0].digest);
    QCOMPARE(LargestDifference(ended[1].run, ended[0].run), 0.0);
  }

  // Nothing is decided while copies follow: whoever is killed, the job goes on as it was.
  void dyingMeanwhileRollsBack_data() {
    QTest::addColumn<int>("node");
    QTest::addColumn<QString>("point");
    const auto row = [](int node, const char* point) {
      QTest::addRow("n%d at %s", node, point) << node << QString::fromLatin1(point);
    };
    row(kRegistrar, "registrar.leg");
    row(kParticipant, "participant.following");
    row(kRegistrar, "participant.saving");
  }
  void dyingMeanwhileRollsBack() {
    QFETCH(int, node);
    QFETCH(QString, point);
    const Json job = m_cluster->Job(kJob);
    if (!job.is_object() || job["state"] != "running") {  // of a row that has failed
      if (job.is_object()) QVERIFY(Stop());
      QVERIFY(Start({}));
    }
    QVERIFY(SlowLinks(kMesh, kThere));
    const auto agent = m_cluster->Agent(node);
    QVERIFY(agent && m_faults.KillAt(node, point));
    const auto apply = m_cluster->Start({"apply", kJob, "--devices", kThere, "--mesh", kMesh,
                                         "--overlap", "on", "--yes", "--json"});
    const Outcome outcome = LocalCluster::Finish(*apply, 120);
    QVERIFY2(!m_faults.Withdraw(node, point), outcome.Text());
    QVERIFY2(outcome.LastJson()["result"] == "rolled_back", outcome.Text());
    QVERIFY(LocalCluster::WaitFor(
        [&] {
          const auto now = m_cluster->Agent(node);
          return now && *now != *agent && m_cluster->AllAlive() && m_cluster->Phase().empty();
        },
        40));
    QVERIFY(m_cluster->GoesOn(kJob));
  }

  // A rank dies when a part of the state is copied, and before the rest is.
  void aRankThatDiesMeanwhileRollsBack() {
    if (m_cluster->Job(kJob).is_null()) QSKIP("the rows before were not run");
    const QString point = QStringLiteral("participant.following");
    QVERIFY(SlowLinks(kMesh, kThere));
    const auto agent = m_cluster->Agent(kParticipant);
    QVERIFY(agent && m_faults.StopAt(kParticipant, point));
    const auto apply = m_cluster->Start({"apply", kJob, "--devices", kThere, "--mesh", kMesh,
                                         "--overlap", "on", "--yes", "--json"});
    QVERIFY(LocalCluster::WaitFor(
        [&] { return !m_faults.IsPending(kParticipant, point) || apply->waitForFinished(0); }));
    QVERIFY(!m_faults.Withdraw(kParticipant, point));
    QCOMPARE(m_cluster->Phase(), std::string("precopying"));
    const auto ranks = m_cluster->Children(0, TESSERA_BIN_DIR "/tessera-train");
    QVERIFY(!ranks.empty() && SendSignal(ranks.front(), SIGKILL));
    QVERIFY(SendSignal(agent->pid, SIGCONT));
    const Outcome outcome = LocalCluster::Finish(*apply, 120);
    QVERIFY2(outcome.LastJson()["result"] == "rolled_back", outcome.Text());
    QVERIFY(m_cluster->GoesOn(kJob));
  }

  // The same job moves after all, and has learned what one process would have.
  void thenItMoves() {
    if (m_cluster->Job(kJob).is_null()) QSKIP("the rows before were not run");
    const Json moved = m_cluster->Apply(kJob, kMesh, kThere, {"--overlap", "on"});
    QVERIFY2(moved.is_object() && moved["result"] == "committed", moved.dump().c_str());
    QVERIFY(m_cluster->GoesOn(kJob));
    const QString difference = CompareWithOneProcess(*m_cluster, kJob, kBatch);
    QVERIFY2(difference.isEmpty(), qPrintable(difference));
  }

 private:
  static constexpr std::int64_t kBatch = 8;

  bool Start(const QStringList& more) {
    const Outcome start =
        m_cluster->StartJob(kJob, kMesh, FirstDevices(2, 2),
                            QStringList{"--global-batch", QString::number(kBatch)} + more);
    return start.code == 0 && m_cluster->WaitStep(kJob, 10);
  }
  bool Stop() { return m_cluster->Run({"job", "stop", kJob, "--yes"}).code == 0; }

  /// Makes the links so slow that the copy of this change takes more than a step.
  /// \return whether the plan is then to copy over several steps
  bool SlowLinks(const QString& mesh, const QString& devices) {
    Json plan = Plan(mesh, devices);
    if (!plan.is_object()) return false;
    if (plan["overlap"]["steps"].get<int>() > 1) return true;
    const auto rate = static_cast<std::int64_t>(
        static_cast<double>(plan["bytes"]["network"].get<std::int64_t>()) /
        (1.3 * kStepTime.toDouble()));
    if (!m_cluster->Configure({{"link_bytes_per_second", rate}})) return false;
    // The time of a step is a median, and the restart was part of one.
    if (!m_cluster->WaitStep(kJob, m_cluster->Step(kJob) + 20)) return false;
    plan = Plan(mesh, devices);
    qInfo("%s", plan["overlap"].dump().c_str());
    return plan["overlap"]["steps"].get<int>() > 1;
  }
  Json Plan(const QString& mesh, const QString& devices) const {
    return m_cluster
        ->Run({"plan", kJob, "--mesh", mesh, "--devices", devices, "--overlap", "on", "--json"})
        .LastJson();
  }
  bool HasEvent(const QString& source, const QString& part) const {
    return m_cluster->Run({"events", "--source", source, "--text", part})
        .Text()
        .contains(part.toUtf8());
  }

  FaultFolder m_faults;
  std::unique_ptr<LocalCluster> m_cluster;
};

TESSERA_TEST(E2eFollowTest)
#include "e2e_follow_test.moc"
