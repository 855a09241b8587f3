// SPDX-License-Identifier: Apache-2.0
// `experiment consistency` at small size: real jobs, one real change each, nothing left behind.
#include <QDir>
#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <csignal>
#include <nlohmann/json.hpp>

#include "engine/files/whole_file.h"
#include "tests/support/home_guard.h"
#include "tests/support/program.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

namespace {

// Enough steps after the change was asked for that a busy machine can prepare it.
constexpr std::int64_t kSteps = 500, kChange = 100, kBatch = 4;
const QString kStepTime = QStringLiteral("0.006");

}  // namespace

class E2eExperimentTest : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    QVERIFY(m_folder.isValid());
    QFile text(m_folder.filePath("text"));
    QVERIFY(text.open(QIODevice::WriteOnly));
    for (int i = 0; i < 240000; ++i) text.putChar(static_cast<char>('a' + i * (i % 97) % 26));
  }

  void threeRunsDoWhatTheyAreCalled() {
    const QString csv = m_folder.filePath("out.csv");
    const auto program = start({"--reference", "--csv", csv});
    const Outcome outcome = FinishProgram(*program, 300);
    QVERIFY2(outcome.code == 0, outcome.Text());
    const Json result = outcome.LastJson();
    QVERIFY(result.is_object());
    QCOMPARE(result["runs"].size(), std::size_t{4});
    const auto run = [&](std::size_t i) -> const Json& { return result["runs"][i]; };
    const auto number = [&](std::size_t i, const char* key) {
      return run(i)[key].get<std::int64_t>();
    };
    const std::int64_t samples = kSteps * kBatch;
    QCOMPARE(result["setup"]["samples"].get<std::int64_t>(), samples);

    // Right: every sample of the pass, once, in order, whatever step the change came at.
    QCOMPARE(run(0)["run"].get<std::string>(), std::string("right"));
    QVERIFY(number(0, "changed_after") >= kChange && number(0, "changed_after") < kSteps);
    QCOMPARE(run(0)["points"].size(), std::size_t{kSteps});
    QCOMPARE(number(0, "read_again"), std::int64_t{0});
    QCOMPARE(number(0, "never_read"), std::int64_t{0});
    const std::int64_t rightAt = number(0, "changed_after") * kBatch;
    QVERIFY((run(0)["read"] == Json{{0, rightAt}, {rightAt, samples}}));
    QCOMPARE(number(0, "batch_after"), kBatch);

    // Position lost: what was left of the pass is what was read twice, or all that was read before.
    QCOMPARE(run(1)["run"].get<std::string>(), std::string("lose_position"));
    const std::int64_t before = number(1, "changed_after") * kBatch, after = samples - before;
    QVERIFY((run(1)["read"] == Json{{0, before}, {0, after}}));
    QCOMPARE(number(1, "read_again"), std::min(before, after));
    QCOMPARE(number(1, "never_read"), samples - std::max(before, after));
    QCOMPARE(number(1, "batch_after"), kBatch);

    // Device batch kept: twice the ranks take twice the samples.
    QCOMPARE(run(2)["run"].get<std::string>(), std::string("keep_device_batch"));
    QCOMPARE(number(2, "batch_before"), kBatch);
    QCOMPARE(number(2, "batch_after"), 2 * kBatch);
    const Json& last = run(2)["points"].back();
    const std::int64_t keptAt = number(2, "changed_after");
    const std::int64_t planned = std::max(number(0, "changed_after"), number(1, "changed_after"));
    const std::int64_t steps = planned + std::max<std::int64_t>(1, (kSteps - planned) / 2);
    QCOMPARE(last["step"].get<std::int64_t>(), steps);
    QCOMPARE(last["samples"].get<std::int64_t>(), keptAt * kBatch + (steps - keptAt) * 2 * kBatch);
    QVERIFY((run(2)["read"] ==
             Json{{0, keptAt * kBatch}, {keptAt * kBatch, last["samples"].get<std::int64_t>()}}));

    // A change that is right leaves no trace but the order of sums, which learning makes larger.
    QCOMPARE(run(3)["run"].get<std::string>(), std::string("reference"));
    QVERIFY(run(3)["changed_after"].is_null());
    double largest = 0;
    for (std::size_t i = 0; i < kSteps; ++i) {
      const double moved = run(0)["points"][i]["loss"], still = run(3)["points"][i]["loss"];
      largest = std::max(largest, std::abs(moved - still));
      QVERIFY2(i >= kChange + 20 || largest <= 1e-5 * still, qPrintable(QString::number(i)));
    }
    qInfo("largest difference of a loss: %.1e", largest);
    QVERIFY2(largest < 0.5, qPrintable(QString::number(largest)));
    // Until the change all runs are the same one.
    for (std::size_t i = 0; i < kChange; ++i)
      for (const std::size_t other : {std::size_t{1}, std::size_t{2}})
        QVERIFY(std::abs(run(0)["points"][i]["loss"].get<double>() -
                         run(other)["points"][i]["loss"].get<double>()) < 1e-4);
    for (std::size_t i = 0; i < 4; ++i) {
      const double loss = run(i)["held_out_loss"];
      QVERIFY(loss > 0.1 && loss < 6);
      const auto group = result["setup"]["group"].get<std::int64_t>();
      QCOMPARE(std::int64_t(run(i)["pass_losses"].size()) * group, samples);
    }

    QFile table(csv);
    QVERIFY(table.open(QIODevice::ReadOnly));
    QCOMPARE(table.readAll().count('\n'), 1 + 3 * kSteps + steps);
    QVERIFY2(nothingIsLeft(), "processes or folders");
  }

  void aStopEndsEverything() {
    const auto program = start({});
    QTRY_VERIFY_WITH_TIMEOUT(hasTrainer(), 60000);
    ::kill(static_cast<pid_t>(program->processId()), SIGINT);
    const Outcome outcome = FinishProgram(*program, 60);
    QCOMPARE(outcome.code, 1);
    QVERIFY2(outcome.errors.contains("the experiment was stopped"), outcome.Text());
    QVERIFY2(nothingIsLeft(), "processes or folders");
  }

  // The next experiment ends and removes what a killed one has left.
  void theNextOneClearsUp() {
    const auto killed = start({});
    QTRY_VERIFY_WITH_TIMEOUT(hasTrainer(), 60000);
    ::kill(static_cast<pid_t>(killed->processId()), SIGKILL);
    FinishProgram(*killed, 20);
    QVERIFY(!nothingIsLeft());
    const auto next = start({"--steps", "4", "--change-at", "2", "--data", "/nowhere"});
    const Outcome outcome = FinishProgram(*next, 60);
    QCOMPARE(outcome.code, 1);
    QVERIFY2(outcome.errors.contains("/nowhere"), outcome.Text());
    QTRY_VERIFY_WITH_TIMEOUT(nothingIsLeft(), 10000);
  }

 private:
  /// Starts it with a folder of its own for temporary files, which is also its TESSERA_HOME.
  std::unique_ptr<QProcess> start(const QStringList& more) {
    QStringList environment = EnvironmentWithHome(m_folder.path());
    environment << "TMPDIR=" + m_folder.path() << "TESSERA_STEP_TIME=" + kStepTime;
    const QStringList words = QStringList{"experiment",
                                          "consistency",
                                          "--json",
                                          "--steps",
                                          QString::number(kSteps),
                                          "--change-at",
                                          QString::number(kChange),
                                          "--gpus-before",
                                          "2",
                                          "--data",
                                          m_folder.filePath("text")} +
                              more;
    return StartProgram(QStringLiteral("tesseractl"), words, environment);
  }

  /// Processes with a folder of an experiment of this test in their environment.
  QStringList processes() const {
    QStringList found;
    const QByteArray mark = "TESSERA_HOME=" + m_folder.path().toUtf8() + "/tessera-experiment-";
    for (const QString& pid : QDir(QStringLiteral("/proc")).entryList(QDir::Dirs)) {
      const auto variables =
          tessera::engine::ReadWholeFile("/proc/" + pid.toStdString() + "/environ");
      if (variables && QByteArray::fromStdString(*variables).contains(mark)) found << pid;
    }
    return found;
  }
  bool hasTrainer() const {
    for (const QString& pid : processes()) {
      const auto line = tessera::engine::ReadWholeFile("/proc/" + pid.toStdString() + "/cmdline");
      if (line && line->find("tessera-train") != std::string::npos) return true;
    }
    return false;
  }
  bool nothingIsLeft() const {
    return processes().isEmpty() &&
           QDir(m_folder.path()).entryList({"tessera-experiment-*"}, QDir::Dirs).isEmpty();
  }

  QTemporaryDir m_folder;
  HomeGuard m_guard{m_folder.path()};
};

TESSERA_TEST(E2eExperimentTest)
#include "e2e_experiment_test.moc"
