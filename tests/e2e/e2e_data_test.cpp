// SPDX-License-Identifier: Apache-2.0
// A job whose data cannot be read pauses with the reason; it never trains on other data.
#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>

#include "tests/e2e/losses.h"
#include "tests/support/local_cluster.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

namespace {
constexpr std::int64_t kSteps = 120;
const QString kMesh = QStringLiteral("dp=3");  // 32 samples are 11, 11 and 10
const QString kDevices = QStringLiteral("n0g0,n0g1,n1g0");
}  // namespace

class E2eDataTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    LocalCluster::Options options;
    options.devices = 2;
    m_cluster = std::make_unique<LocalCluster>(options);
    QVERIFY2(m_cluster->up().code == 0, m_cluster->up().Text());
    for (int i = 0; i < 60000; ++i) m_text.append(static_cast<char>('a' + i * (i % 97) % 26));
    QVERIFY(write(m_text));
    QVERIFY(start(QStringLiteral("undisturbed")));
    QVERIFY(ends(QStringLiteral("undisturbed")));
    m_undisturbed = RunOf(*m_cluster, QStringLiteral("undisturbed"));
    QCOMPARE(m_undisturbed.size(), std::size_t{kSteps});
    QVERIFY(m_cluster->Run({"job", "stop", "undisturbed", "--yes"}).code == 0);
  }
  void cleanupTestCase() { m_cluster.reset(); }

  void aTruncatedFilePausesTheJob() {
    const QString job = QStringLiteral("cut");
    QVERIFY(start(job));
    QVERIFY(m_cluster->WaitStep(job, 10));
    QVERIFY(QFile::resize(m_file, 100));
    QVERIFY(pausesForData(job));
    const std::int64_t step = m_cluster->Step(job);
    QVERIFY(step >= 10 && step < kSteps);
    const Outcome events = m_cluster->Run({"events"});
    QVERIFY2(events.output.contains("data: ") && events.output.contains("tries again"),
             events.Text());

    // Too early: it is paused again, where it was.
    QVERIFY(m_cluster->Run({"job", "resume", job}).code == 0);
    QVERIFY(pausesForData(job));
    QCOMPARE(m_cluster->Step(job), step);

    QVERIFY(write(m_text));
    QVERIFY(m_cluster->Run({"job", "resume", job}).code == 0);
    QVERIFY(ends(job));
    QCOMPARE(m_cluster->Job(job)["reason"].get<std::string>(),
             "all " + std::to_string(kSteps) + " steps are made");
    const Run run = RunOf(*m_cluster, job);
    QCOMPARE(run.size(), std::size_t{kSteps});
    for (const auto& [at, numbers] : m_undisturbed) {
      QVERIFY2(run.at(at).loss == numbers.loss && run.at(at).grad_norm == numbers.grad_norm,
               qPrintable(QString::number(at)));
    }
    QVERIFY(m_cluster->Run({"job", "stop", job, "--yes"}).code == 0);
  }

  // While a transaction waits for a step of the job, the ranks pause because their data are gone.
  // After the rollback the job is paused with that reason on all nodes, even if the data are back
  // by then. Otherwise it would depend on timing which ranks train on.
  void aPauseThatCrossesATransactionIsKept_data() {
    QTest::addColumn<bool>("disconnected");
    QTest::newRow("the node stays connected") << false;
    QTest::newRow("its connection ends") << true;
  }
  void aPauseThatCrossesATransactionIsKept() {
    QFETCH(bool, disconnected);
    const QString job = QStringLiteral("crossed");
    QVERIFY(start(job));
    const auto apply =
        m_cluster->Start({"apply", job, "--mesh", "dp=4", "--devices", "n0g0,n0g1,n1g0,n1g1",
                          "--at-step", QString::number(kSteps - 1), "--overlap", "off", "--yes"});
    QVERIFY(LocalCluster::WaitFor([&] { return m_cluster->Phase() == "pausing"; }));
    const auto agent = m_cluster->Agent(1);
    QVERIFY(agent);
    tessera::app::signalProcess(*agent, SIGSTOP);  // else the pause would serve the transaction
    const bool cut = QFile::resize(m_file, 100);
    // All ranks pause because of that, also those whose agent cannot say so.
    std::int64_t step = -1;
    const bool paused = LocalCluster::WaitFor([&] {
      for (const QString& device : kDevices.split(u',')) {
        const auto arena = m_cluster->ArenaOf(device);
        if (!arena) return false;
        const tessera::engine::ArenaHeader& header = arena->header();
        step = static_cast<std::int64_t>(header.end.load());
        if (header.decision_pause.load() != tessera::engine::kRequestNoData) return false;
        if (header.decision_step.load() != header.end.load()) return false;
      }
      return true;
    });
    if (disconnected) QTest::qSleep(2800);  // the node replaces a connection that was silent so long
    const bool mended = write(m_text);
    const Outcome cancel = m_cluster->Run({"txn", "cancel"});
    tessera::app::signalProcess(*agent, SIGCONT);
    QVERIFY(paused);
    QVERIFY2(cut && mended && cancel.code == 0, cancel.Text());
    const Outcome applied = LocalCluster::Finish(*apply);
    QVERIFY2(applied.code != 0, applied.Text());
    QVERIFY(pausesForData(job));
    const Json digest = m_cluster->Ask({"digest", job});  // every rank has its state of this step
    QVERIFY(digest.is_object());
    QCOMPARE(digest["step"].get<std::int64_t>(), step);
    QCOMPARE(m_cluster->Step(job), step);
    QVERIFY(step < kSteps - 1);

    QVERIFY(m_cluster->Run({"job", "resume", job}).code == 0);
    QVERIFY(ends(job));
    const Run run = RunOf(*m_cluster, job);
    for (const auto& [at, numbers] : m_undisturbed) {
      QVERIFY2(run.at(at).loss == numbers.loss && run.at(at).grad_norm == numbers.grad_norm,
               qPrintable(QString::number(at)));
    }
    QVERIFY(m_cluster->Run({"job", "stop", job, "--yes"}).code == 0);
  }

 private:
  bool write(const QByteArray& bytes) {
    QFile file(m_file);
    return file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size();
  }
  bool start(const QString& job) {
    const Outcome outcome = m_cluster->Run(
        {"job", "start", "gpt-nano", "--name", job, "--mesh", kMesh, "--devices", kDevices,
         "--steps", QString::number(kSteps), "--global-batch", "32", "--data", m_file},
        160);
    if (outcome.code != 0) qWarning("%s", outcome.Text().constData());
    return outcome.code == 0;
  }
  bool ends(const QString& job) {
    return m_cluster->WaitJob(
        job, [](const Json& j) { return j["state"] == "paused" && j["step"] == kSteps; }, 200);
  }
  bool pausesForData(const QString& job) {
    const bool paused = m_cluster->WaitJob(
        job, [](const Json& j) { return j["state"] == "paused"; }, 60);
    const std::string reason = m_cluster->Job(job)["reason"].get<std::string>();
    if (!reason.starts_with("data: ")) qWarning("reason: %s", reason.c_str());
    return paused && reason.starts_with("data: ");
  }

  QTemporaryDir m_folder;
  const QString m_file = m_folder.filePath("text");
  QByteArray m_text;
  std::unique_ptr<LocalCluster> m_cluster;
  Run m_undisturbed;
};

TESSERA_TEST(E2eDataTest)
#include "e2e_data_test.moc"
