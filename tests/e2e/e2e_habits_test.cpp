// SPDX-License-Identifier: Apache-2.0
// Ordinary programs in PyTorch, one habit each (tests/e2e/habits): their job changes its mesh from
// dp 1 to 2, 4 and 2, and a rank is killed. Their losses are those of a job that was left alone.
// Each run tries a third of them, chosen by its printed seed; with TESSERA_TEST_ALL all.
#include <QDir>
#include <QFile>
#include <QRegularExpression>
#include <QSaveFile>
#include <QTemporaryDir>
#include <QTest>
#include <csignal>
#include <nlohmann/json.hpp>

#include "tests/e2e/losses.h"
#include "tests/e2e/torch_jobs.h"
#include "tests/folders.h"
#include "tests/python/python.h"
#include "tests/support/digests.h"
#include "tests/support/local_cluster.h"
#include "tests/support/random.h"
#include "tests/support/send_signal.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

namespace {

/// What a script imports besides torch.
QStringList ModulesOf(const QString& path) {
  QStringList modules = {QStringLiteral("torch")};
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) return modules;
  static const QRegularExpression imports(
      QStringLiteral("^(?:import|from) (transformers|accelerate|lightning|torchdata)\\b"),
      QRegularExpression::MultilineOption);
  const QString text = QString::fromUtf8(file.readAll());
  for (const auto& match : imports.globalMatch(text)) modules << match.captured(1);
  if (text.contains(QStringLiteral("tessera.accelerate"))) modules << QStringLiteral("accelerate");
  if (text.contains(QStringLiteral("tessera.lightning"))) modules << QStringLiteral("lightning");
  modules.removeDuplicates();
  return modules;
}

}  // namespace

class E2eHabitsTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    const Python python = FindPython({QStringLiteral("torch")});
    if (python.program.isEmpty()) QSKIP(qPrintable(python.why));
    m_python = python.program;
    m_jobs = std::make_unique<TorchJobs>(
        m_python, LocalCluster::Options{
                      .nodes = 2, .devices = 2, .memory = QStringLiteral("64M"), .link = {}});
    QVERIFY2(cluster().up().code == 0, cluster().up().Text());
    // Some write weights beside themselves.
    const QDir habits(QStringLiteral(TESSERA_SOURCE_DIR "/tests/e2e/habits"));
    m_names = habits.entryList({QStringLiteral("*.py")}, QDir::Files);
    for (const QString& name : m_names)
      QVERIFY(QFile::copy(habits.filePath(name), m_files.filePath(name)));
    QVERIFY(QFile::copy(QStringLiteral(TESSERA_SOURCE_DIR "/tests/e2e/pace.py"),
                        m_files.filePath(QStringLiteral("pace.py"))));
  }
  void cleanupTestCase() { m_jobs.reset(); }
  void cleanup() {
    if (!m_jobs) return;
    for (const char* job : {"still", "moved"}) cluster().Run({"job", "stop", job, "--yes"});
  }

  void trainsOnAsIfNothingHadHappened_data() {
    QTest::addColumn<QString>("script");
    const bool all = qEnvironmentVariableIsSet("TESSERA_TEST_ALL");
    for (qsizetype i = 0; i < m_names.size(); ++i) {
      if (all || static_cast<std::uint64_t>(i) % 3 == Seed() % 3)
        QTest::newRow(qPrintable(m_names[i])) << m_names[i];
    }
  }
  void trainsOnAsIfNothingHadHappened() {
    QFETCH(QString, script);
    const QString path = m_files.filePath(script);
    const QStringList modules = ModulesOf(path);
    const Python python = FindPython(modules);
    if (python.program != m_python) QSKIP(qPrintable(python.why));
    QVERIFY(m_jobs->Start("still", path, {"dp=1", "n0g1"}));
    QVERIFY(m_jobs->EndsPaused("still"));
    const Run still = RunOf(cluster(), "still");
    QCOMPARE(still.size(), static_cast<std::size_t>(TorchSteps()));
    QVERIFY(still.at(TorchSteps()).loss < still.at(1).loss);
    QVERIFY(cluster().Run({"job", "stop", "still", "--yes"}).code == 0);

    // Ranks that join import the modules while the others train on.
    QVERIFY(SetPace("1.5"));
    QVERIFY(m_jobs->Start("moved", path, {"dp=1", "n0g1"}, {"--pace", PaceFile()}));
    QVERIFY(Moves("dp=2", "n0g1,n1g0"));
    QVERIFY(Moves("dp=4", "n0g0,n0g1,n1g0,n1g1"));
    const std::vector<std::int64_t> ranks = m_jobs->Ranks(path);
    QCOMPARE(ranks.size(), std::size_t{4});
    QVERIFY(SendSignal(ranks.back(), SIGKILL));
    QVERIFY(cluster().WaitJob(
        "moved", [](const Json& now) { return now["state"] == "suspended"; }, kTorchPatience));
    QVERIFY(cluster().WaitJob(
        "moved", [](const Json& now) { return now["state"] == "running"; }, kTorchPatience));
    QVERIFY(Moves("dp=2", "n0g0,n1g1"));
    QVERIFY(cluster().Step("moved") < TorchSteps());
    QVERIFY(SetPace("0"));
    QVERIFY(m_jobs->EndsPaused("moved"));
    const Run moved = RunOf(cluster(), "moved");
    const QString difference = DifferenceOf(moved, still);
    QVERIFY2(difference.isEmpty(), qPrintable(difference));
    QVERIFY2(LargestDifference(moved, still) < kClose,
             qPrintable(QString::number(LargestDifference(moved, still))));
  }

 private:
  /// Relative. Sums of four parts are rounded otherwise than those of one.
  static constexpr double kClose = 2e-6;
  LocalCluster& cluster() { return m_jobs->cluster(); }
  QString PaceFile() const { return m_files.filePath(QStringLiteral("pace")); }
  bool SetPace(const char* seconds_per_step) {
    QSaveFile file(PaceFile());
    return file.open(QIODevice::WriteOnly) && file.write(seconds_per_step) > 0 && file.commit();
  }
  /// After a further step.
  bool Moves(const QString& mesh, const QString& devices) {
    if (!cluster().WaitStep("moved", cluster().Step("moved") + 1)) return false;
    const Json moved = cluster().Apply("moved", mesh, devices, {"--overlap", "auto"});
    if (!moved.is_object() || moved["result"] != "committed") return false;
    return AreDigestsEqual(moved);
  }
  static bool AreDigestsEqual(const Json& moved) {
    return moved["digest_before"].is_string() && moved["digest_before"] == moved["digest_after"] &&
           moved["digest_before"].get<std::string>().size() == 16;
  }

  QString m_python;
  QStringList m_names;  // of the scripts
  QTemporaryDir m_files;
  std::unique_ptr<TorchJobs> m_jobs;
};

TESSERA_TEST(E2eHabitsTest)
#include "e2e_habits_test.moc"
