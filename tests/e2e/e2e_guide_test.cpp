// SPDX-License-Identifier: Apache-2.0
/// \file
/// The commands of the guide work as described: each line of a page is run as it is printed there,
/// one after the other, by a shell.

#include <QFile>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/folders.h"
#include "tests/support/home_guard.h"
#include "tests/support/program.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

namespace {

/// The lines of a page's code blocks that begin with `tesseractl `.
QStringList CommandsOf(const QString& page) {
  QFile file(QStringLiteral(TESSERA_SOURCE_DIR "/resources/guide/") + page);
  if (!file.open(QIODevice::ReadOnly)) return {};
  static const QRegularExpression line(QStringLiteral("^    (tesseractl .*)$"),
                                       QRegularExpression::MultilineOption);
  QStringList commands;
  const QString text = QString::fromUtf8(file.readAll());
  for (auto it = line.globalMatch(text); it.hasNext();) commands << it.next().captured(1).trimmed();
  return commands;
}

/// A reader's machine: a folder to work in and a TESSERA_HOME, both gone afterwards.
class Reader {
 public:
  Reader() : m_home(QStringLiteral("/tmp/tsr.XXXXXX")), m_guard(m_home.path()) {}
  ~Reader() { run(QStringLiteral("tesseractl down --all --yes")); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  /// Runs a line in a shell without a terminal; what would ask gets --yes.
  Outcome run(QString line) const {
    static const QRegularExpression asks(QStringLiteral("^tesseractl (apply|job stop|node kill|down)( |$)"));
    if (line.contains(asks)) line += QStringLiteral(" --yes");
    QProcess shell;
    QStringList environment = EnvironmentWithHome(m_home.path());
    environment.removeIf([](const QString& entry) {
      return entry.startsWith(u"TESSERA_CLUSTER=") || entry.startsWith(u"PATH=");
    });
    environment << QStringLiteral("PATH=" TESSERA_BIN_DIR ":/usr/bin:/bin");
    shell.setEnvironment(environment);
    shell.setWorkingDirectory(m_folder.path());
    shell.setStandardInputFile(QProcess::nullDevice());
    shell.start(QStringLiteral("bash"), {QStringLiteral("-c"), line});
    return FinishProgram(shell, 180);
  }
  bool put(const QString& source, const QString& name) const {
    return QFile::copy(source, m_folder.filePath(name));
  }

 private:
  QTemporaryDir m_folder, m_home;
  HomeGuard m_guard;
};

}  // namespace

class E2eGuideTest : public QObject {
  Q_OBJECT

 private slots:
  void firstHour() {
    const QStringList commands = CommandsOf(QStringLiteral("first-hour.md"));
    QVERIFY(commands.size() >= 8);
    QVERIFY(commands.first().startsWith(QStringLiteral("tesseractl up ")));
    QVERIFY(commands.last().startsWith(QStringLiteral("tesseractl down")));
    const Reader reader;
    for (const QString& command : commands) {
      const Outcome outcome = reader.run(command);
      QVERIFY2(outcome.code == 0, (command.toUtf8() + ": " + outcome.Text()).constData());
      if (command.contains(QStringLiteral("node kill"))) waitUntilLost(reader);
      if (command.contains(QStringLiteral("node start"))) waitUntilItTrains(reader);
    }
  }

  void ownJob() {
    const QStringList commands = CommandsOf(QStringLiteral("own-job.md"));
    QVERIFY(!commands.isEmpty());
    const Reader reader;
    QVERIFY(reader.put(QStringLiteral(TESSERA_BIN_DIR "/tessera-job-example"),
                       QStringLiteral("my-job")));
    for (const char* file : {"tensors.json", "rules.json"})
      QVERIFY(reader.put(
          QStringLiteral(TESSERA_SOURCE_DIR "/agents/job/example.") + QString::fromLatin1(file),
          QString::fromLatin1(file)));
    const Outcome up = reader.run(QStringLiteral("tesseractl up --nodes 1 --gpu-memory 64M"));
    QVERIFY2(up.code == 0, up.Text());
    for (const QString& command : commands) {
      const Outcome outcome = reader.run(command);
      QVERIFY2(outcome.code == 0, (command.toUtf8() + ": " + outcome.Text()).constData());
    }
    const Outcome list = reader.run(QStringLiteral("tesseractl job list --names"));
    QCOMPARE(list.output, QStringLiteral("mine\n"));

    // A mesh alone, on the same GPUs; the job's name completes as the scripts ask for it.
    const Outcome mesh = reader.run(QStringLiteral("tesseractl apply mine --mesh tp=2 --json"));
    QVERIFY2(mesh.code == 0, mesh.Text());
    QCOMPARE(mesh.LastJson()["result"].get<std::string>(), std::string("committed"));
    const Json job = reader.run(QStringLiteral("tesseractl job list --json")).LastJson()["jobs"][0];
    QCOMPARE(job["mesh"]["tp"].get<int>(), 2);
    QCOMPARE(job["devices"].dump(), std::string(R"(["n0g0","n0g1"])"));
    // Another number of GPUs: its own and idle ones, or the first of its own.
    const Outcome more = reader.run(QStringLiteral("tesseractl apply mine --mesh dp=3 --json"));
    QVERIFY2(more.code == 0, more.Text());
    const auto devices = [&] {
      return reader.run(QStringLiteral("tesseractl job list --json"))
          .LastJson()["jobs"][0]["devices"]
          .dump();
    };
    QVERIFY2(devices().find("n0g0") != std::string::npos, devices().c_str());
    QCOMPARE(std::ranges::count(devices(), ','), std::ptrdiff_t{2});
    const Outcome fewer = reader.run(QStringLiteral("tesseractl apply mine --mesh dp=1 --json"));
    QVERIFY2(fewer.code == 0, fewer.Text());
    QCOMPARE(std::ranges::count(devices(), ','), std::ptrdiff_t{0});
    const Outcome odd = reader.run(QStringLiteral("tesseractl plan mine --mesh dp=64"));
    QCOMPARE(odd.code, 1);
    QVERIFY2(odd.errors.contains(QStringLiteral("needs 64 GPUs: 'mine' has 1, and")), odd.Text());
  }

  void watchingEndsAtAnInterrupt() {
    const Reader reader;
    const Outcome up = reader.run(QStringLiteral("tesseractl up --nodes 1 --gpus 1 -q"));
    QVERIFY2(up.code == 0, up.Text());
    QCOMPARE(up.output + up.errors, QString());
    const Outcome watch =
        reader.run(QStringLiteral("timeout --signal=INT 4 tesseractl status --watch --json"));
    // timeout reports 124 for a command that it had to end; the command itself exits with 0.
    QCOMPARE(watch.code, 124);
    QCOMPARE(watch.errors, QString());
    QVERIFY2(watch.output.count(u'\n') >= 2, watch.Text());
    QVERIFY(watch.LastJson()["nodes"].is_array());
  }

 private:
  static void waitUntilLost(const Reader& reader) {
    QTRY_VERIFY_WITH_TIMEOUT(
        reader.run(QStringLiteral("tesseractl status --json")).output.contains("n1 was lost"),
        60000);
  }
  // Replicas are on both nodes, so the job continues when its node is back.
  static void waitUntilItTrains(const Reader& reader) {
    const auto trains = [&] {
      const Json status = reader.run(QStringLiteral("tesseractl status --json")).LastJson();
      return status.is_object() && status["transaction"].is_null() &&
             status["jobs"][0]["state"] == "running";
    };
    QTRY_VERIFY_WITH_TIMEOUT(trains(), 90000);
  }
};

TESSERA_TEST(E2eGuideTest)
#include "e2e_guide_test.moc"
