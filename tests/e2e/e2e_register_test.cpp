// SPDX-License-Identifier: Apache-2.0
// A cluster that decides in etcd: three members, some of them killed, and a registrar that stops in
// the middle of a transaction.
#include <QProcess>
#include <QTest>
#include <csignal>
#include <nlohmann/json.hpp>

#include "agents/decision/etcd_client.h"
#include "tests/support/digests.h"
#include "tests/support/etcd_servers.h"
#include "tests/support/exact_job.h"
#include "tests/support/local_cluster.h"
#include "tests/support/send_signal.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

namespace {

const QString kJob = QStringLiteral("exact");
// 6 MiB: a transfer at 1 MB/s takes some seconds.
constexpr ExactJob kExactJob{.rows = 512, .columns = 128, .step_milliseconds = 100};

/// What the last slot of the job holds; empty: none is written.
std::string LastDecision(const tessera::agents::EtcdPlace& place) {
  tessera::agents::EtcdClient client(place);
  const auto key = client.LastKey(place.prefix + "/decision/" + kJob.toStdString() + "/");
  if (!key || !*key) return {};
  return client.Get(**key).value_or(std::nullopt).value_or(std::string());
}

}  // namespace

class E2eRegisterTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    if (!EtcdServers::WhyNot().isEmpty()) QSKIP(qPrintable(EtcdServers::WhyNot()));
    m_servers = std::make_unique<EtcdServers>(3);
    QVERIFY2(m_servers->is_up(), qPrintable(m_servers->problem()));
    m_place = m_servers->place("/tessera/e2e");
    LocalCluster::Options options;
    options.nodes = 3;
    options.devices = 1;
    options.memory = QStringLiteral("128M");
    options.more = m_servers->words()
                   << QStringLiteral("--etcd-prefix") << QString::fromStdString(m_place.prefix);
    m_cluster = std::make_unique<LocalCluster>(options);
    QVERIFY2(m_cluster->up().code == 0, m_cluster->up().Text());
    const Outcome start = StartExactJob(*m_cluster, kJob, "dp=1", "n1g0", {}, kExactJob);
    QVERIFY2(start.code == 0, start.Text());
    QVERIFY(m_cluster->WaitStep(kJob, 2));
  }
  void cleanupTestCase() {
    m_cluster.reset();
    m_servers.reset();
  }

  void itSaysWhereItDecides() {
    const Json shown = m_cluster->Ask({"registrar", "show"});
    QVERIFY2(shown.is_object(), shown.dump().c_str());
    QVERIFY(shown["node"] == "n0");
    QVERIFY(shown["register"]["store"] == "etcd");
    QVERIFY(shown["register"]["decides"] == true);
    QCOMPARE(shown["register"]["members"].size(), std::size_t{3});
  }

  void aChangeIsDecidedWhileAMemberIsDown() {
    for (const char* device : {"n2g0", "n1g0"}) {
      m_servers->Kill(1);
      const Json end = m_cluster->Apply(kJob, "dp=1", device);
      QVERIFY2(end.is_object() && end["result"] == "committed", end.dump().c_str());
      VERIFY_DIGESTS(end["digest_before"], end["digest_after"]);
      const std::string held = LastDecision(m_place);
      QVERIFY2(held.starts_with("commit "), held.c_str());
      m_servers->Start(1);
      QVERIFY(m_servers->WaitUntilItAnswers());
    }
    QVERIFY(m_cluster->GoesOn(kJob));
  }

  // Ranks wait, nothing is lost, and the change goes on as soon as a majority is there.
  void aChangeWaitsForAMajority() {
    const std::string before = LastDecision(m_place);
    m_servers->Kill(0);
    m_servers->Kill(2);
    const auto apply =
        m_cluster->Start({"apply", kJob, "--devices", "n2g0", "--mesh", "dp=1", "--yes", "--json"});
    QVERIFY(LocalCluster::WaitFor([&] { return m_cluster->Phase() == "committing"; }, 60));
    QTest::qWait(3000);
    QVERIFY(m_cluster->Phase() == "committing");
    const Outcome shown = m_cluster->Run({"registrar", "show"});
    QCOMPARE(shown.code, 1);
    QVERIFY2(shown.output.contains(QStringLiteral("decides    no: ")), shown.Text());
    QVERIFY(m_cluster->Run({"events"})
                .output.contains(QStringLiteral("the decision register cannot be written")));
    m_servers->Start(0);
    QVERIFY(m_servers->WaitUntilItAnswers());
    const Json end = LocalCluster::Finish(*apply).LastJson();
    QVERIFY2(end.is_object() && end["result"] == "committed", end.dump().c_str());
    VERIFY_DIGESTS(end["digest_before"], end["digest_after"]);
    QVERIFY(LastDecision(m_place) != before);
    m_servers->Start(2);
    QVERIFY(m_servers->WaitUntilItAnswers());
    QVERIFY(m_cluster->GoesOn(kJob));
  }

  // Nodes reach the register by themselves: who gives up waiting for the registrar writes `abort`.
  void nodesDecideWithoutTheRegistrar() {
    const std::string before = LastDecision(m_place);
    const auto apply = m_cluster->Start(
        {"apply", kJob, "--devices", "n1g0", "--mesh", "dp=1", "--overlap", "off", "--at-step",
         QString::number(m_cluster->Step(kJob) + 15), "--yes", "--json"});
    QVERIFY(LocalCluster::WaitFor([&] { return m_cluster->Phase() == "pausing"; }, 60));
    QVERIFY(m_cluster->Ask({"txn", "throttle", "1MB/s"}).is_object());
    QVERIFY(LocalCluster::WaitFor([&] { return m_cluster->Phase() == "transferring"; }, 120));
    const auto agent = m_cluster->Agent(0);
    QVERIFY(agent);
    QVERIFY(SendSignal(agent->pid, SIGSTOP));
    const bool is_decided =
        LocalCluster::WaitFor([&] { return LastDecision(m_place) != before; }, 40);
    QVERIFY(SendSignal(agent->pid, SIGCONT));
    QVERIFY(is_decided);
    const std::string held = LastDecision(m_place);
    QVERIFY2(held.starts_with("abort "), held.c_str());
    const Json end = LocalCluster::Finish(*apply).LastJson();
    QVERIFY2(end.is_object() && end["result"] == "rolled_back", end.dump().c_str());
    QVERIFY(m_cluster->GoesOn(kJob));
    QCOMPARE(LastDecision(m_place), held);
  }

  // A new job with the name of an old one begins after its slots.
  void aNameIsUsedAgain() {
    const std::string before = LastDecision(m_place);
    QCOMPARE(m_cluster->Run({"job", "stop", kJob, "--yes"}).code, 0);
    const Outcome start = StartExactJob(*m_cluster, kJob, "dp=1", "n1g0");
    QVERIFY2(start.code == 0, start.Text());
    QVERIFY(m_cluster->WaitStep(kJob, 2));
    const Json end = m_cluster->Apply(kJob, "dp=1", "n2g0");
    QVERIFY2(end.is_object() && end["result"] == "committed", end.dump().c_str());
    QVERIFY(LastDecision(m_place) != before);
  }

  void wrongPlacesAreRefused_data() {
    QTest::addColumn<QStringList>("words");
    QTest::addColumn<QString>("says");
    QTest::newRow("no URL") << QStringList{"--etcd", "10.0.0.1:2379"}
                            << "etcd endpoint '10.0.0.1:2379' is not of the form https://HOST:PORT";
    QTest::newRow("a path") << QStringList{"--etcd", "https://h:2379/v3"}
                            << "etcd endpoint 'https://h:2379/v3' is not of the form";
    QTest::newRow("a user") << QStringList{"--etcd", "http://127.0.0.1:2379@evil.example:80"}
                            << "is not of the form https://HOST:PORT";
    QTest::newRow("no port") << QStringList{"--etcd", "https://h"}
                             << "etcd endpoint 'https://h' is not of the form https://HOST:PORT";
    QTest::newRow("like the loopback")
        << QStringList{"--etcd", "http://localhost.evil.example:2379"} << "is not encrypted";
    QTest::newRow("not encrypted") << QStringList{"--etcd", "http://10.0.0.1:2379"}
                                   << "etcd endpoint 'http://10.0.0.1:2379' is not encrypted";
    QTest::newRow("no such file") << QStringList{"--etcd", "https://h:1", "--etcd-ca", "/none.pem"}
                                  << "--etcd-ca: file '/none.pem' does not exist";
    QTest::newRow("no key") << QStringList{"--etcd", "https://h:1", "--etcd-cert",
                                           QString::fromStdString(m_place.certificate)}
                            << "etcd needs both a certificate and its key, or neither";
    QTest::newRow("alone") << QStringList{"--etcd-prefix", "/x"}
                           << "--etcd-prefix is of use only with --etcd";
    QTest::newRow("prefix") << QStringList{"--etcd", "https://h:1", "--etcd-prefix", "x"}
                            << "etcd prefix 'x' is not of the form /NAME";
  }
  void wrongPlacesAreRefused() {
    QFETCH(const QStringList, words);
    QFETCH(const QString, says);
    const Outcome outcome = m_cluster->Run(QStringList{"up", "--cluster", "other"} + words);
    QCOMPARE(outcome.code, 2);
    QVERIFY2(outcome.SaysInOneLine(QStringLiteral("tesseractl"), says), outcome.Text());
  }

 private:
  std::unique_ptr<EtcdServers> m_servers;
  tessera::agents::EtcdPlace m_place;
  std::unique_ptr<LocalCluster> m_cluster;
};

TESSERA_TEST(E2eRegisterTest)
#include "e2e_register_test.moc"
