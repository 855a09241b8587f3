// SPDX-License-Identifier: Apache-2.0
// A crashed rank or a failed device ends a job. The job shows the reason and keeps its state until
// it is stopped. Then its name and its memory are free.
#include <QFile>
#include <QTest>
#include <csignal>
#include <nlohmann/json.hpp>

#include "tests/support/local_cluster.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

namespace {
const QString kJob = QStringLiteral("nano");

QByteArray ReadAll(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}
}  // namespace

class E2eFailureTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    LocalCluster::Options options;
    options.nodes = 1;
    options.memory = QStringLiteral("64M");
    m_cluster = std::make_unique<LocalCluster>(options);
    QVERIFY2(m_cluster->up().code == 0, m_cluster->up().Text());
  }
  void cleanupTestCase() { m_cluster.reset(); }

  void aCrashedRankIsNamedWithItsSignal() {
    start();
    const auto ranks = rankPids();
    QCOMPARE(ranks.size(), std::size_t{4});
    QCOMPARE(::kill(ranks.front(), SIGSEGV), 0);
    QVERIFY(hasFailed());
    const std::string reason = m_cluster->Job(kJob)["reason"].get<std::string>();
    QVERIFY2(reason.find("signal 11") != std::string::npos, reason.c_str());
    QVERIFY2(reason.find("n0g") != std::string::npos, reason.c_str());
    // The others are ended too, and the state of the last step is still there.
    QVERIFY(LocalCluster::WaitFor([&] { return rankPids().empty(); }, 10));
    for (const Json& device : m_cluster->Status()["nodes"][0]["devices"]) {
      QVERIFY(device["used_bytes"].get<std::int64_t>() > 0);
    }
    for (const char* verb : {"pause", "resume"}) {
      const Outcome refused = m_cluster->Run({"job", QString::fromLatin1(verb), kJob});
      QVERIFY2(refused.code == 1 && refused.errors.count(u'\n') == 1, refused.Text());
    }
    stop();
    const QByteArray log = ReadAll(m_cluster->home() + QStringLiteral("/clusters/t/n0/agent.log"));
    QVERIFY(log.contains("signal 11"));
  }

  void aFailedDeviceIsNotUsedAgain() {
    start();
    QVERIFY(m_cluster->Run({"device", "fail", "n0g2"}).code == 0);
    QVERIFY(hasFailed());
    stop();
    const Outcome refused = m_cluster->StartJob(kJob, "dp=1,tp=1", "n0g2");
    QVERIFY2(refused.code == 1, refused.Text());
    QVERIFY2(refused.errors.contains(QStringLiteral("device n0g2 cannot be used: it failed")),
             refused.Text());
    // Its failure outlives the agent; the others work.
    const auto agent = m_cluster->Agent(0);
    QVERIFY(agent && LocalCluster::Kill(*agent));
    QVERIFY(LocalCluster::WaitFor(
        [&] {
          const Json status = m_cluster->Status();
          return status.is_object() && !status["nodes"].empty() &&
                 status["nodes"][0]["state"] == "alive";
        },
        30));
    QVERIFY(m_cluster->StartJob(kJob, "dp=1,tp=1", "n0g2").code == 1);
    const Outcome started = m_cluster->StartJob(kJob, "dp=1,tp=2", "n0g0,n0g1");
    QVERIFY2(started.code == 0, started.Text());
    QVERIFY(m_cluster->GoesOn(kJob));
    stop();
  }

 private:
  void start() {
    const Outcome started = m_cluster->StartJob(kJob, "dp=2,tp=2", FirstDevices(4));
    QVERIFY2(started.code == 0, started.Text());
    QVERIFY(m_cluster->WaitStep(kJob, 2));
  }
  void stop() {
    const Outcome stopped = m_cluster->Run({"job", "stop", kJob, "--yes"});
    QVERIFY2(stopped.code == 0, stopped.Text());
    QVERIFY(m_cluster->Job(kJob).is_null());
  }
  bool hasFailed() const {
    return m_cluster->WaitJob(
        kJob, [](const Json& job) { return job["state"] == "failed"; }, 20);
  }
  /// The ranks: children of the keeper that are tessera-train.
  std::vector<pid_t> rankPids() const {
    const auto keeper = m_cluster->Keeper(0).pid;
    const QString folder = QStringLiteral("/proc/%1/task/%1/children").arg(keeper);
    std::vector<pid_t> out;
    for (const QByteArray& word : ReadAll(folder).split(' ')) {
      const auto pid = static_cast<pid_t>(word.toLong());
      const QByteArray name = ReadAll(QStringLiteral("/proc/%1/comm").arg(pid)).trimmed();
      if (pid > 0 && name == "tessera-train") out.push_back(pid);
    }
    return out;
  }

  std::unique_ptr<LocalCluster> m_cluster;
};

TESSERA_TEST(E2eFailureTest)
#include "e2e_failure_test.moc"
