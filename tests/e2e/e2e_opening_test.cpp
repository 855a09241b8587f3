// SPDX-License-Identifier: Apache-2.0
// A job whose data come from a slow server: its progress is shown, and it can be stopped meanwhile.
#include <QProcess>
#include <QTest>
#include <nlohmann/json.hpp>

#include "tests/agents/data/http_server.h"
#include "tests/engine/data/data_files.h"
#include "tests/support/local_cluster.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

class E2eOpeningTest : public QObject {
  Q_OBJECT

  HttpServer m_server;
  std::unique_ptr<LocalCluster> m_cluster;

  static constexpr int kNoEnd = 1000000;
  static constexpr int kFiles = 60;

  std::unique_ptr<QProcess> start(const QString& job, int steps = 5) {
    return m_cluster->Start({"job", "start", "gpt-nano", "--name", job, "--mesh", "dp=1",
                             "--devices", "n1g0", "--steps", QString::number(steps), "--data",
                             QString::fromStdString(m_server.url("/set/"))});
  }
  /// The delay of each answer. With TESSERA_TEST_SLOW_SERVER=1 the opening takes longer than the
  /// minute that groups wait for their members.
  static int joiner_delay_ms() {
    return qEnvironmentVariableIsSet("TESSERA_TEST_SLOW_SERVER") ? 1200 : 25;
  }
  bool opensOn(const QString& job, const std::string& node) {
    return m_cluster->WaitJob(job, [&](const Json& row) {
      return row["state"] == "starting" &&
             row["reason"].get<std::string>().starts_with("opening data: " + node + " ");
    });
  }
  /// Stops the job. Its data are not read to their end, `job start` fails with `word`, and no reads
  /// follow.
  void checkStop(const QString& job, QProcess& starting, const QByteArray& word) {
    m_server.delay_ms = 2000;  // so that whoever reads on is seen to
    const int before = m_server.requests();
    const Outcome stop = m_cluster->Run({"job", "stop", job, "--yes"});
    QVERIFY2(stop.code == 0, stop.Text());
    const Outcome started = LocalCluster::Finish(starting, 20);
    // Not one for each file that was left.
    const int more = m_server.requests() - before;
    QVERIFY2(more < kFiles / 2, qPrintable(QString::number(more)));
    QVERIFY2(started.code == 1 && started.Text().contains(word), started.Text());
    QVERIFY(m_cluster->Job(job).is_null());
    // The read in progress may end. Then nobody has a connection.
    const int connections = m_server.connections();
    QTRY_COMPARE_WITH_TIMEOUT(m_server.open_connections(), 0, 10000);
    QCOMPARE(m_server.connections(), connections);
    for (const Json& node : m_cluster->Status()["nodes"]) {
      for (const Json& device : node["devices"]) {
        QVERIFY(device["job"].is_null() || device["job"] == "");
      }
    }
  }

 private slots:
  void initTestCase() {
    std::string manifest;
    for (int i = 0; i < kFiles; ++i) {
      const std::string name = std::to_string(i) + ".tfrecord";
      m_server.Put("/set/" + name, TfRecordFrame(std::string(500, 'x')));
      manifest += name + "\n";
    }
    m_server.Put("/set/manifest.txt", manifest);
    LocalCluster::Options options;
    options.devices = 1;
    m_cluster = std::make_unique<LocalCluster>(options);
    QVERIFY2(m_cluster->up().code == 0, m_cluster->up().Text());
    // Nothing can be kept: ranks go through the data as those of another machine do.
    WriteBytes(m_cluster->home().toStdString() + "/cache", "a file where the folder should be");
  }
  void cleanupTestCase() { m_cluster.reset(); }

  void stopsWhileTheRegistrarsNodeOpens() {
    m_server.delay_ms = 200;
    const auto starting = start("far");
    QVERIFY(opensOn("far", "n0"));
    const Outcome again = LocalCluster::Finish(*start("far"), 20);
    QVERIFY2(again.code == 1 && again.Text().contains("is still starting: opening data: n0"),
             again.Text());
    checkStop("far", *starting, "was stopped while its data were opened");
  }

  void stopsWhileARankOpens() {
    m_server.delay_ms = 20;
    const auto starting = start("far");
    QVERIFY(opensOn("far", "n0"));
    QVERIFY(m_cluster->WaitJob("far", [](const Json& row) { return !row["devices"].empty(); }));
    m_server.delay_ms = 200;
    QVERIFY(opensOn("far", "n1"));
    checkStop("far", *starting, "job 'far' was stopped");
  }

  void startsWhenItIsOpen() {
    m_server.delay_ms = 10;
    const Outcome started = LocalCluster::Finish(*start("far"), 120);
    QVERIFY2(started.code == 0, started.Text());
    QVERIFY(m_cluster->WaitStep("far", 5));
    QVERIFY(m_cluster->Run({"job", "stop", "far", "--yes"}).code == 0);
  }

  // New ranks open the data as well; the others train until they have.
  void whoJoinsOpensWhileTheOthersTrain() {
    m_server.delay_ms = 0;
    const Outcome started = LocalCluster::Finish(*start("far", kNoEnd), 60);
    QVERIFY2(started.code == 0, started.Text());
    m_server.delay_ms = joiner_delay_ms();
    const QStringList both = {"apply",  "far",  "--devices", "n0g0,n1g0",
                              "--mesh", "dp=2", "--yes",     "--json"};
    const auto opens = [&] {
      const Json txn = m_cluster->Status()["transaction"];
      return txn.is_object() && txn["phase"] == "preparing" &&
             txn["reason"].get<std::string>().starts_with("opening data: n0 ");
    };
    {
      const auto apply = m_cluster->Start(both);
      QVERIFY(LocalCluster::WaitFor(opens, 20));
      QVERIFY(m_cluster->GoesOn("far"));
      QCOMPARE(m_cluster->Run({"txn", "cancel"}).code, 0);
      const Outcome outcome = LocalCluster::Finish(*apply, 20);
      QVERIFY2(outcome.LastJson()["result"] == "rolled_back", outcome.Text());
    }
    const auto apply = m_cluster->Start(both);
    QVERIFY(LocalCluster::WaitFor(opens, 20));
    const Outcome outcome = LocalCluster::Finish(*apply, 300);
    QVERIFY2(outcome.LastJson()["result"] == "committed", outcome.Text());
    QVERIFY2(outcome.output.contains("\"waits_for\":\"opening data: n0 "), outcome.Text());
    QVERIFY(m_cluster->GoesOn("far"));
  }
};

TESSERA_TEST(E2eOpeningTest)
#include "e2e_opening_test.moc"
