// SPDX-License-Identifier: Apache-2.0
// The panel as a shell sees it: options before any display, one line of error, a picture without a
// cluster.
#include <QFile>
#include <QImage>
#include <QSet>
#include <QTemporaryDir>
#include <QTest>

#include "tests/support/program.h"
#include "tests/support/send_signal.h"
#include "tests/support/test_main.h"

using tessera::test::EnvironmentWithHome;
using tessera::test::FinishProgram;
using tessera::test::Outcome;
using tessera::test::RunProgram;
using tessera::test::SendSignal;
using tessera::test::StartProgram;

class PanelCliTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    m_home = std::make_unique<QTemporaryDir>();
    QVERIFY(m_home->isValid());
  }

  void helpNeedsNoDisplay() {
    const Outcome help = run({"--help"});
    QCOMPARE(help.code, 0);
    QCOMPARE(help.errors, QString());
    for (const char* option :
         {"--connect", "--readonly", "--operate", "--live", "--view", "--screenshot", "--quit",
          "--size", "--theme", "--play", "--lesson", "--step", "--keep", "--version"})
      QVERIFY2(help.output.contains(QString::fromLatin1(option)), option);
    const Outcome version = run({"--version"});
    QCOMPARE(version.code, 0);
    QVERIFY2(version.output.startsWith("tessera 0."), qPrintable(version.output));
  }

  void wrongUsageIsTwo_data() {
    QTest::addColumn<QStringList>("words");
    QTest::addColumn<QString>("says");
    QTest::newRow("unknown option") << QStringList{"--fast"} << "unknown option '--fast'";
    QTest::newRow("an option of tesseractl") << QStringList{"--json"} << "unknown option '--json'";
    QTest::newRow("a word") << QStringList{"demo"} << "unexpected word 'demo'";
    QTest::newRow("missing value") << QStringList{"--connect"} << "needs a value";
    QTest::newRow("no theme") << QStringList{"--theme", "blue"} << "'blue'";
    QTest::newRow("no size") << QStringList{"--size", "big"} << "'big'";
    QTest::newRow("too small") << QStringList{"--size", "10x10"} << "'10x10'";
    QTest::newRow("locked and armed") << QStringList{"--readonly", "--operate"} << "--readonly";
    QTest::newRow("live but not armed") << QStringList{"--live"} << "--operate";
    QTest::newRow("a view that is not there") << QStringList{"--view", "graph"} << "tensors";
    QTest::newRow("quit without a picture") << QStringList{"--quit"} << "--screenshot";
    QTest::newRow("a step without a lesson") << QStringList{"--step", "2"} << "--lesson";
    QTest::newRow("no step") << QStringList{"--lesson", "zero", "--step", "0"} << "--step";
    QTest::newRow("keep without a cluster") << QStringList{"--keep"} << "--simulate";
    QTest::newRow("unknown step") << QStringList{"--play", "grow,jump"} << "grow,shrink,lose";
  }
  void wrongUsageIsTwo() {
    QFETCH(QStringList, words);
    QFETCH(QString, says);
    const Outcome outcome = run(words);
    QCOMPARE(outcome.code, 2);
    verifyOneLine(outcome, says);
  }

  void noDisplayIsSaid() {
    const Outcome outcome = run({});
    QCOMPARE(outcome.code, 1);
    verifyOneLine(outcome, "no display");
  }

  void anUnknownProfileIsSaid() {
    const Outcome outcome = run({"--connect", "nowhere"}, true);
    QCOMPARE(outcome.code, 1);
    verifyOneLine(outcome, "nowhere");
  }

  void aWrongLessonIsSaid() {
    const Outcome unknown = run({"--lesson", "no-such"}, true);
    QCOMPARE(unknown.code, 1);
    verifyOneLine(unknown, "no lesson 'no-such'; there are shards");
    const QString name = m_home->filePath("mine.json");
    QFile file(name);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("{\"title\": \"Mine\",\n \"summary\": 3}");
    file.close();
    const Outcome wrong = run({"--lesson", name}, true);
    QCOMPARE(wrong.code, 2);
    verifyOneLine(wrong, name + ":2:2: 'summary' must be a text, not 3");
  }

  void aLessonIsDrawnWithoutACluster() {
    const QString file = m_home->filePath("lesson.png");
    const Outcome outcome = run(
        {"--lesson", "zero", "--step", "3", "--screenshot", file, "--quit", "--size", "1280x720"},
        true);
    QVERIFY2(outcome.code == 0, qPrintable(outcome.errors));
    QVERIFY(QFile::exists(file));
    QVERIFY(!QFile::exists(m_home->filePath("lessons.json")));  // a picture is no progress
  }

  // The size is that of the window, not a reason to forget what the user does.
  void aGivenSizeKeepsProgressAndLayout() {
    const auto panel = StartProgram(
        "tessera", {"--lesson", "zero", "--step", "3", "--size", "1280x720"}, environment(true));
    const QString progress = m_home->filePath("lessons.json");
    QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(progress), 20'000);
    QVERIFY(SendSignal(panel->processId(), SIGTERM));
    const Outcome outcome = FinishProgram(*panel, 20);
    QVERIFY2(outcome.code == 128 + SIGTERM, outcome.Text());
    QFile settings(m_home->filePath("panel.ini"));
    QVERIFY(settings.open(QIODevice::ReadOnly));
    QVERIFY(settings.readAll().contains("1280,720"));
  }

  void withoutAClusterTheWindowIsNotBlank() {
    const QString file = m_home->filePath("empty.png");
    const Outcome outcome = run({"--screenshot", file, "--quit", "--size", "1280x720"}, true);
    QVERIFY2(outcome.code == 0, qPrintable(outcome.errors));
    const QImage picture(file);
    QCOMPARE(picture.size(), QSize(1280, 720));
    QSet<QRgb> colours;
    for (int y = 0; y < picture.height(); y += 4)
      for (int x = 0; x < picture.width(); x += 4) colours.insert(picture.pixel(x, y));
    QVERIFY2(colours.size() > 8, qPrintable(QString::number(colours.size())));
  }

 private:
  Outcome run(const QStringList& words, bool offscreen = false) const {
    return RunProgram("tessera", words, environment(offscreen));
  }

  QStringList environment(bool offscreen) const {
    QStringList environment = EnvironmentWithHome(m_home->path());
    for (const char* name :
         {"DISPLAY=", "WAYLAND_DISPLAY=", "QT_QPA_PLATFORM=", "XDG_RUNTIME_DIR="})
      environment.removeIf(
          [&](const QString& entry) { return entry.startsWith(QLatin1String(name)); });
    environment << "XDG_RUNTIME_DIR=" + m_home->path();
    if (offscreen) environment << "QT_QPA_PLATFORM=offscreen";
    return environment;
  }

  static void verifyOneLine(const Outcome& outcome, const QString& says) {
    QVERIFY2(outcome.SaysInOneLine("tessera", says), outcome.Text());
  }

  std::unique_ptr<QTemporaryDir> m_home;
};

TESSERA_TEST(PanelCliTest)
#include "panel_cli_test.moc"
