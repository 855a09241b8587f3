// SPDX-License-Identifier: Apache-2.0
// kill -9 of agents and of a node, while a job trains and in each phase of a transaction. Whatever
// dies: the outcome is known, the job goes on, and what it learns is what one process would learn.
#include <QProcess>
#include <QTest>
#include <atomic>
#include <csignal>

#include "agents/client/cluster.h"
#include "tests/e2e/losses.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

namespace {
const QString kJob = QStringLiteral("nano");
constexpr std::int64_t kBatch = 16;
constexpr int kRegistrar = 0;
constexpr int kParticipant = 1;
}  // namespace

class E2eKillTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    // A slow link makes the transfer long enough to die in.
    m_cluster = std::make_unique<LocalCluster>(LocalCluster::Options{
        .nodes = 2, .devices = 4, .memory = "256M", .link = "1MB/s", .one_host = false});
    QVERIFY2(m_cluster->up().code == 0, m_cluster->up().Text());
    const Outcome start = m_cluster->StartJob(kJob, "dp=2,tp=2", FirstDevices(4),
                                              {"--global-batch", QString::number(kBatch)});
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

  void dyingInAPhase_data() {
    QTest::addColumn<int>("node");
    QTest::addColumn<QString>("phase");
    for (const char* phase :
         {"preparing", "pausing", "transferring", "verifying", "committing", "resuming"}) {
      QTest::addRow("the registrar's agent while %s", phase)
          << kRegistrar << QString::fromLatin1(phase);
      QTest::addRow("the participant's agent while %s", phase)
          << kParticipant << QString::fromLatin1(phase);
    }
  }
  void dyingInAPhase() {
    QFETCH(int, node);
    QFETCH(QString, phase);
    const auto agent = m_cluster->Agent(node);
    QVERIFY(agent.has_value());
    const Json before = m_cluster->Job(kJob);

    std::atomic<bool> killed = false;
    const auto watcher = killAtPhase(phase.toStdString(), *agent, killed);
    QVERIFY(watcher != nullptr);
    const auto apply = m_cluster->Start(
        {"apply", kJob, "--devices", FirstDevices(8), "--mesh", "dp=4,tp=2", "--yes", "--json"});
    const Outcome outcome = LocalCluster::Finish(*apply, 120);
    QVERIFY2(killed, qPrintable("phase was not seen: " + QString::fromUtf8(outcome.Text())));
    const Json result = outcome.LastJson();
    QVERIFY2(result.is_object() && result.contains("result"), outcome.Text());
    const bool committed = result["result"] == "committed";
    qInfo("%s: %s", qPrintable(phase), result.dump().c_str());
    QVERIFY2(committed || result["result"] == "rolled_back", outcome.Text());
    QCOMPARE(outcome.code, committed ? 0 : 1);
    if (committed) QCOMPARE(result["digest_before"].dump(), result["digest_after"].dump());

    QVERIFY(rejoined(node, *agent));
    const Json after = m_cluster->Job(kJob);
    QCOMPARE(after["devices"].size(), std::size_t{committed ? 8U : 4U});
    QCOMPARE(after["epoch"].get<int>(), before["epoch"].get<int>() + (committed ? 1 : 0));
    QVERIFY(m_cluster->GoesOn(kJob));
    if (committed) {
      const Json back = m_cluster->Apply(kJob, "dp=2,tp=2", FirstDevices(4));
      QCOMPARE(back["result"].get<std::string>(), std::string("committed"));
    }
    QVERIFY(m_cluster->GoesOn(kJob));
  }

  void learnsWhatOneProcessWouldLearn() {
    const Run run = RunOf(*m_cluster, kJob);
    QVERIFY(run.size() > 20);
    const Run solo = SoloRun("gpt-nano", run.rbegin()->first, kBatch);
    QVERIFY(!solo.empty());
    const double difference = LargestDifference(run, solo);
    qInfo("%zu of %zu steps compared, largest relative difference %.2g", run.size(), solo.size(),
          difference);
    QVERIFY2(difference <= 1e-5, qPrintable(QString::number(difference)));
  }

  // Last, because the node does not come back.
  void nodeDiesWhileItJoins() {
    const Json before = m_cluster->Job(kJob);
    const auto apply = m_cluster->Start(
        {"apply", kJob, "--devices", FirstDevices(8), "--mesh", "dp=4,tp=2", "--yes", "--json"});
    QVERIFY(LocalCluster::WaitFor([&] { return m_cluster->Phase() == "transferring"; }, 60));
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
    const Outcome refused = m_cluster->Run({"plan", kJob, "--devices", FirstDevices(8)});
    QVERIFY2(refused.code == 1 && refused.errors.count(u'\n') == 1, refused.Text());
  }

 private:
  /// The killed agent has a successor, and the registrar calls the node alive.
  bool rejoined(int node, const tessera::app::ProcessId& old) {
    return LocalCluster::WaitFor(
        [&] {
          const auto agent = m_cluster->Agent(node);
          if (!agent || *agent == old) return false;
          const Json status = m_cluster->Status();
          return status.is_object() && status["nodes"].size() > static_cast<std::size_t>(node) &&
                 status["nodes"][static_cast<std::size_t>(node)]["state"] == "alive" &&
                 status["transaction"].is_null();
        },
        40);
  }

  /// Watches the published snapshots and kills `agent` as soon as one shows `phase`.
  std::unique_ptr<tessera::agents::ClusterClient> killAtPhase(const std::string& phase,
                                                              const tessera::app::ProcessId& agent,
                                                              std::atomic<bool>& killed) {
    const auto profile =
        tessera::agents::LoadProfile((m_cluster->home() + "/profiles/t.json").toStdString());
    if (!profile) return nullptr;
    auto connected = std::make_shared<std::atomic<bool>>(false);
    tessera::agents::ClusterClient::Handlers handlers;
    handlers.snapshot = [&killed, connected, phase,
                         agent](const tessera::engine::ClusterSnapshot& snapshot) {
      *connected = true;
      if (killed || !snapshot.transaction) return;
      if (tessera::engine::ToString(snapshot.transaction->phase) != phase) return;
      tessera::app::signalProcess(agent, SIGKILL);
      killed = true;
    };
    auto client = tessera::agents::ClusterClient::Open(*profile, std::move(handlers));
    if (!client) return nullptr;
    if (!LocalCluster::WaitFor([&] { return connected->load(); }, 20)) return nullptr;
    return std::move(*client);
  }

  std::unique_ptr<LocalCluster> m_cluster;
};

TESSERA_TEST(E2eKillTest)
#include "e2e_kill_test.moc"
