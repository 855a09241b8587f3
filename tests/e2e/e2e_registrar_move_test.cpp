// SPDX-License-Identifier: Apache-2.0
// The registrar's node is gone for good, and another node becomes the registrar: from what the
// nodes keep of their jobs, and the decisions in etcd.
#include <QFile>
#include <QProcess>
#include <QTest>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "agents/decision/table_revision.h"
#include "tests/support/digests.h"
#include "tests/support/etcd_servers.h"
#include "tests/support/exact_job.h"
#include "tests/support/fault_folder.h"
#include "tests/support/local_cluster.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera::test;

namespace {
const QString kJob = QStringLiteral("nano");
constexpr std::int64_t kNumbersPerGeneration = 1'000'000;

/// Whether no node holds the state of a job.
bool IsFree(const Json& status) {
  if (!status.is_object()) return false;
  return std::ranges::all_of(status["nodes"], [](const Json& node) {
    return std::ranges::all_of(node["devices"],
                               [](const Json& device) { return device["used_bytes"] == 0; });
  });
}

}  // namespace

class E2eRegistrarMoveTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    if (!EtcdServers::WhyNot().isEmpty()) QSKIP(qPrintable(EtcdServers::WhyNot()));
    m_servers = std::make_unique<EtcdServers>(3);
    QVERIFY2(m_servers->is_up(), qPrintable(m_servers->problem()));
  }
  // A cluster of its own for each: its first registrar is lost in it.
  void init() {
    LocalCluster::Options options;
    options.nodes = 3;
    options.devices = 2;
    options.memory = QStringLiteral("64M");
    options.more = m_servers->words();
    m_cluster = std::make_unique<LocalCluster>(options);
    QVERIFY2(m_cluster->up().code == 0, m_cluster->up().Text());
    QVERIFY(m_cluster->Configure({{"node_lost_seconds", 3}, {"decision_seconds", 2}}));
  }
  void cleanup() { m_cluster.reset(); }
  void cleanupTestCase() { m_servers.reset(); }

  void jobsGoOnUnderAnotherRegistrar() {
    start("dp=2", "n1g0,n2g0");
    const std::int64_t step = m_cluster->Step(kJob);
    loseTheRegistrar();
    move();
    const Json shown = m_cluster->Ask({"registrar", "show"});
    QVERIFY2(shown.is_object() && shown["node"] == "n1" && shown["generation"] == 2,
             shown.dump().c_str());
    Json job = m_cluster->Job(kJob);
    QVERIFY2(job.is_object() && job["state"] == "running" && job["epoch"] == 1, job.dump().c_str());
    QVERIFY(job["step"] >= step);
    QVERIFY(m_cluster->GoesOn(kJob));
    // It can be changed as before, in the next slot and with numbers that were never used.
    const Json end = m_cluster->Apply(kJob, "dp=1", "n2g0");
    QVERIFY2(end.is_object() && end["result"] == "committed", end.dump().c_str());
    VERIFY_DIGESTS(end["digest_before"], end["digest_after"]);
    const Json entry = m_cluster->Ask({"history"})["transactions"][0];
    QVERIFY2(entry["id"] > kNumbersPerGeneration, entry.dump().c_str());
    QVERIFY(m_cluster->GoesOn(kJob));

    // The node that was the registrar comes back as one of the others.
    const QString wrong = m_cluster->StartNode(0);
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    QVERIFY(m_cluster->WaitAllAlive());
    QVERIFY(m_cluster->Ask({"registrar", "show"})["node"] == "n1");
    const Json wider = m_cluster->Apply(kJob, "dp=2", "n0g0,n2g0");
    QVERIFY2(wider.is_object() && wider["result"] == "committed", wider.dump().c_str());
    QVERIFY(m_cluster->GoesOn(kJob));
    // A restarted agent of the new registrar finds its own journal.
    const auto agent = m_cluster->Agent(1);
    QVERIFY(agent && LocalCluster::Kill(*agent));
    QVERIFY(LocalCluster::WaitFor([&] { return m_cluster->AllAlive(); }, 60));
    QVERIFY(m_cluster->GoesOn(kJob));
    QVERIFY(m_cluster->Job(kJob)["epoch"] == 3);
  }

  // A part of the job was on the lost node.
  void aJobThatLostAReplicaContinues() {
    start("dp=2", "n0g0,n1g0", {"--on-failure", "shrink"});
    loseTheRegistrar();
    move();
    QVERIFY(m_cluster->WaitJob(
        kJob, [](const Json& job) { return job["state"] == "running" && job["epoch"] == 2; }));
    QVERIFY(m_cluster->GoesOn(kJob));
    const Json entry = m_cluster->Ask({"history"})["transactions"][0];
    QVERIFY2(entry["result"] == "committed", entry.dump().c_str());
  }

  // Snapshots are with the nodes, so a later registrar finds them.
  void aJobReturnsToASnapshot() {
    start("pp=2", "n0g0,n1g0", {"--on-failure", "shrink", "--snapshot-every", "2"});
    QVERIFY(m_cluster->WaitStep(kJob, 8));
    loseTheRegistrar();
    move();
    QVERIFY(m_cluster->WaitJob(
        kJob, [](const Json& job) { return job["state"] == "running" && job["epoch"] == 2; }));
    QVERIFY(m_cluster->Job(kJob)["timeline"] == 1);
    QVERIFY(m_cluster->GoesOn(kJob));
  }

  void aRunningChangeEndsAsItWasDecided_data() {
    QTest::addColumn<QString>("point");
    QTest::addColumn<std::string>("result");
    QTest::newRow("committed") << "registrar.decided" << std::string("committed");
    QTest::newRow("not decided") << "registrar.verifying" << std::string("rolled_back");
  }
  void aRunningChangeEndsAsItWasDecided() {
    QFETCH(const QString, point);
    QFETCH(const std::string, result);
    start("dp=2", "n1g0,n2g0");
    QVERIFY(m_faults.StopAt(0, point));
    const auto apply = m_cluster->Start(
        {"apply", kJob, "--devices", "n1g1,n2g1", "--mesh", "dp=2", "--yes", "--json"});
    QVERIFY(LocalCluster::WaitFor([&] { return !m_faults.IsPending(0, point); }, 60));
    loseTheRegistrar();
    apply->kill();  // it would wait for a minute, and cannot say how that ended
    QVERIFY(apply->waitForFinished(10'000));
    move();
    const std::int64_t epoch = result == "committed" ? 2 : 1;
    QVERIFY(m_cluster->WaitJob(
        kJob, [&](const Json& job) { return job["state"] == "running" && job["epoch"] == epoch; }));
    const Json entry = m_cluster->Ask({"history"})["transactions"][0];
    QVERIFY2(entry["result"] == result, entry.dump().c_str());
    QVERIFY(m_cluster->GoesOn(kJob));
    QVERIFY(m_cluster->Run({"digest", kJob}).code == 0);
  }

  // A job that has ended is not taken up again from a node that missed its end.
  void whatHasEndedStaysEnded() {
    start("dp=2", "n1g0,n2g0");
    QCOMPARE(m_cluster->Run({"job", "stop", kJob, "--yes"}).code, 0);
    // What the nodes have been told of it before they free its memory, they have then.
    QVERIFY(LocalCluster::WaitFor([&] { return IsFree(m_cluster->Status()); }));
    loseTheRegistrar();
    move();
    QVERIFY(m_cluster->Job(kJob).is_null());
    start("dp=2", "n1g0,n2g0");
    QVERIFY(m_cluster->GoesOn(kJob));
  }

  // All nodes that had the latest copy of the job table are gone. Only an operator can say so.
  void anOlderTableIsUsedOnlyIfItIsSaid() {
    start("dp=2", "n1g0,n2g0");
    loseTheRegistrar();
    noteALaterTable();
    const auto waits = m_cluster->Start({"registrar", "move", "n1", "--attest", "t"});
    Outcome listed;
    QVERIFY2(
        LocalCluster::WaitFor([&] {
          listed = m_cluster->Run({"job", "list"});
          return listed.errors.contains("etcd notes a later job table than these nodes have") &&
                 listed.errors.contains("`tesseractl registrar move n1 --older`");
        }),
        listed.Text());
    QVERIFY(listed.code != 0);
    QVERIFY(!waits->waitForFinished(100));
    waits->kill();
    QVERIFY(waits->waitForFinished(10'000));

    const Outcome unsaid = m_cluster->Run({"registrar", "move", "n1", "--older"});
    QVERIFY2(unsaid.code == 2 && unsaid.errors.contains("are lost. Say so with --attest t"),
             unsaid.Text());
    QVERIFY(m_cluster->Run({"job", "list"}).code != 0);
    const Outcome moved =
        m_cluster->Run({"--json", "registrar", "move", "n1", "--older", "--attest", "t"}, 180);
    QVERIFY2(moved.code == 0, moved.Text());
    const Json said = moved.LastJson();
    QVERIFY2(said["moved"] == false && said["jobs"] == Json::array({"nano"}), moved.Text());
    m_cluster->Reconnect();
    QVERIFY(m_cluster->WaitJob(
        kJob, [](const Json& job) { return job["state"] == "running" && job["epoch"] == 1; }));
    QVERIFY(m_cluster->GoesOn(kJob));
  }

  void wrongMovesAreRefused() {
    const auto refuses = [&](const QStringList& words, int code, const QString& says) {
      const Outcome outcome = m_cluster->Run(QStringList{"registrar", "move"} + words);
      QVERIFY2(outcome.code == code, outcome.Text());
      QVERIFY2(outcome.SaysInOneLine(QStringLiteral("tesseractl"), says), outcome.Text());
    };
    refuses({"gpu1"}, 2, QStringLiteral("node 'gpu1'"));
    refuses({"n7"}, 1, QStringLiteral("n7/agent.json"));
    refuses({"n1", "--config", m_cluster->ConfigOf(2)}, 1,
            QStringLiteral("the configuration is that of n2"));
    refuses(
        {"n1", "--attest", "t"}, 1,
        QStringLiteral("n0 answers as the registrar: the role moves only from a node that is off"));
    QVERIFY(m_cluster->Ask({"registrar", "move", "n0"})["moved"] == false);
    loseTheRegistrar();
    refuses({"n1"}, 2, QStringLiteral("Say so with --attest t"));
    refuses({"n1", "--attest", "lab"}, 1,
            QStringLiteral("'lab' is not the name of the cluster, 't': nothing was changed"));
  }

 private:
  void start(const char* mesh, const char* devices, const QStringList& more = {}) {
    const Outcome started = StartExactJob(*m_cluster, kJob, mesh, devices, more);
    QVERIFY2(started.code == 0, started.Text());
    QVERIFY(m_cluster->WaitStep(kJob, 3));
  }
  void loseTheRegistrar() {
    const auto agent = m_cluster->Agent(0);
    QVERIFY(LocalCluster::Kill(m_cluster->Keeper(0)));
    if (agent) LocalCluster::Kill(*agent);
    m_cluster->Reconnect();
  }
  /// As if the lost registrar had changed its table again, and only lost nodes had heard of it.
  void noteALaterTable() {
    QFile file(m_cluster->ConfigOf(0));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const std::string prefix = Json::parse(file.readAll().toStdString())["etcd"]["prefix"];
    tessera::agents::EtcdClient etcd(m_servers->place(prefix));
    constexpr std::int64_t kLast = (std::int64_t{2} << 48) - 1;  // of the first registrar
    VERIFY_OK(tessera::agents::RaiseTableRevision(etcd, prefix, kLast));
  }
  void move() {
    const Outcome moved =
        m_cluster->Run({"--json", "registrar", "move", "n1", "--attest", "t"}, 180);
    QVERIFY2(moved.code == 0 && moved.LastJson()["moved"] == true, moved.Text());
    m_cluster->Reconnect();
    // n1 and n2 register with it.
    QVERIFY(LocalCluster::WaitFor([&] {
      const Json status = m_cluster->Status();
      return status.is_object() && std::ranges::count_if(status["nodes"], [](const Json& node) {
                                     return node["state"] == "alive";
                                   }) == 2;
    }));
  }

  std::unique_ptr<EtcdServers> m_servers;
  FaultFolder m_faults;
  std::unique_ptr<LocalCluster> m_cluster;
};

TESSERA_TEST(E2eRegistrarMoveTest)
#include "e2e_registrar_move_test.moc"
