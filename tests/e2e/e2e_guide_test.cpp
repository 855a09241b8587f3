// SPDX-License-Identifier: Apache-2.0
/// \file
/// The commands of the guide work as described: each line of a page is run as it is printed there,
/// one after the other, by a shell.

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "tests/folders.h"
#include "tests/support/home_guard.h"
#include "tests/support/json_page.h"
#include "tests/support/program.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

namespace {

/// A command of a page, and the lines of output that the page shows for it.
struct Example {
  QString command;
  QStringList output;
};

QString TextOf(const QString& page) {
  QFile file(QStringLiteral(TESSERA_SOURCE_DIR "/resources/guide/") + page);
  return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

/// The lines of a page's indented code that begin with `tesseractl `. A block without a command is
/// the output of the command before it.
QList<Example> ExamplesOf(const QString& page) {
  static const QRegularExpression block(QStringLiteral("(?:^ {4,}\\S.*$\n?)+"),
                                        QRegularExpression::MultilineOption);
  static const QRegularExpression program(QStringLiteral("^ +tessera(?:ctl)? "),
                                          QRegularExpression::MultilineOption);
  QList<Example> examples;
  const QString text = TextOf(page);
  for (auto it = block.globalMatch(text); it.hasNext();) {
    const QString code = it.next().captured();
    const bool isOutput = !code.contains(program);
    for (const QString& line : code.split(u'\n', Qt::SkipEmptyParts)) {
      const QString trimmed = line.trimmed();
      if (trimmed.startsWith(QLatin1String("tesseractl ")))
        examples << Example{trimmed, {}};
      else if (isOutput && !examples.isEmpty())
        examples.back().output << trimmed;
    }
  }
  return examples;
}

/// What stays the same from run to run: no digits, units of sizes and times, or widths of columns.
QString ShapeOf(QString line) {
  static const QRegularExpression digest(QStringLiteral("\\b[0-9a-f]{16}\\b")),
      unit(QStringLiteral("\\d+(?:\\.\\d+)? (?:B|KiB|MiB|GiB|ms|s)\\b")),
      number(QStringLiteral("\\d+(?:\\.\\d+)?"));
  return line.replace(digest, QStringLiteral("DIGEST"))
      .replace(unit, QStringLiteral("SIZE"))
      .replace(number, QStringLiteral("0"))
      .simplified();
}

/// The lines that the page shows and the command did not print; empty if there are none.
QString MissingFrom(const QString& printed, const QStringList& shown) {
  QStringList shapes;
  for (const QString& line : printed.split(u'\n')) shapes << ShapeOf(line);
  QStringList missing;
  for (const QString& line : shown)
    if (!shapes.contains(ShapeOf(line))) missing << line;
  return missing.join(u'\n');
}

QStringList CommandsOf(const QString& page) {
  QStringList commands;
  for (const Example& example : ExamplesOf(page)) commands << example.command;
  return commands;
}

/// A reader's machine: a folder to work in and a TESSERA_HOME, both gone afterwards.
class Reader {
 public:
  Reader() : m_home(QStringLiteral("/tmp/tsr.XXXXXX")), m_guard(m_home.path()) {}
  ~Reader() { run(QStringLiteral("tesseractl down --all --yes")); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  /// Runs a line in a shell without a terminal; what would ask gets --yes, or the name of the job.
  /// Paths below /srv are in the folder of this reader, and the checkpoint of the pages is the
  /// newest one there.
  Outcome run(QString line) const {
    static const QRegularExpression asks(QStringLiteral(
        "^tesseractl (apply|job stop|node kill|down|checkpoint load|checkpoint delete)( |$)"));
    if (line.contains(QLatin1String(" --move-memory ")) && line.contains(asks))
      line += QStringLiteral(" --confirm gpt-mini");
    else if (line.contains(asks))
      line += QStringLiteral(" --yes");
    line.replace(QLatin1String("/srv/"), m_folder.filePath(QStringLiteral("srv/")));
    const QStringList saved =
        QDir(m_folder.filePath(QStringLiteral("srv/checkpoints")))
            .entryList({QStringLiteral("gpt-mini-step-*")}, QDir::Dirs, QDir::Time);
    if (!saved.isEmpty()) line.replace(QLatin1String("gpt-mini-step-120"), saved.first());
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
    QDir(m_folder.path()).mkpath(QFileInfo(name).path());
    return QFile::copy(source, m_folder.filePath(name));
  }
  bool write(const QString& name, const QByteArray& bytes) const {
    QFile file(m_folder.filePath(name));
    return file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size();
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
    const QList<Example> examples = ExamplesOf(QStringLiteral("first-hour.md"));
    QVERIFY(examples.size() >= 8);
    QVERIFY(examples.first().command.startsWith(QStringLiteral("tesseractl up ")));
    QVERIFY(examples.last().command.startsWith(QStringLiteral("tesseractl down")));
    QVERIFY(std::ranges::count_if(examples, [](const Example& e) { return !e.output.isEmpty(); }) >=
            3);
    const Reader reader;
    for (const Example& example : examples) {
      const QString& command = example.command;
      const Outcome outcome = reader.run(command);
      QVERIFY2(outcome.code == 0, (command.toUtf8() + ": " + outcome.Text()).constData());
      const QString missing = MissingFrom(outcome.output, example.output);
      QVERIFY2(missing.isEmpty(),
               qPrintable(command + QStringLiteral(" did not print: ") + missing));
      if (command.contains(QStringLiteral("node kill"))) waitUntilLost(reader);
      if (command.contains(QStringLiteral("node start"))) waitUntilItTrains(reader);
    }
  }

  // The page json.md has the keys of what the verbs of a cluster print.
  void jsonOfACluster() {
    const JsonPage page;
    const Reader reader;
    const auto check = [&](const char* verb, const QString& words) {
      const Outcome outcome = reader.run(QStringLiteral("tesseractl %1 --json").arg(words));
      // `doctor` judges this machine as well.
      if (outcome.code != 0 && std::string(verb) != "doctor") return outcome.Text();
      QByteArray found;
      for (const QString& line : outcome.output.split(u'\n', Qt::SkipEmptyParts))
        found += page.differences(verb, line).join(u'\n').toUtf8();
      if (outcome.output.isEmpty()) found = "no output";
      return found.isEmpty() ? QByteArray() : words.toUtf8() + ": " + found;
    };
    for (const auto& [verb, words] : std::initializer_list<std::pair<const char*, const char*>>{
             {"up", "up --nodes 2 --gpus 2 --gpu-memory 256M"},
             {"job start", "job start gpt-nano --mesh dp=2 --snapshot-every 5"},
             {"job wait", "job wait gpt-nano --step 3 --timeout 2m"},
             {"status", "status"},
             {"job list", "job list"},
             {"digest", "digest gpt-nano"},
             {"propose", "propose gpt-nano"},
             {"plan", "plan gpt-nano --mesh tp=2 --candidates 3"},
             {"apply", "apply gpt-nano --mesh tp=2"},
             {"history", "history"},
             {"job describe", "job describe gpt-nano"},
             {"job metrics", "job metrics gpt-nano"},
             {"events", "events"},
             {"logs", "logs"},
             {"export", "export --what all --output rows.jsonl"},
             {"checkpoint save", "checkpoint save gpt-nano saved"},
             {"checkpoint list", "checkpoint list"},
             {"job snapshots", "job snapshots gpt-nano 30s"},
             {"job on-failure", "job on-failure gpt-nano shrink"},
             {"job pause", "job pause gpt-nano"},
             {"job wait", "job wait gpt-nano --state paused"},
             {"job resume", "job resume gpt-nano"},
             {"topology", "topology"},
             {"registrar show", "registrar show"},
             {"doctor", "doctor"},
             {"profile list", "profile list"}})
      QCOMPARE(check(verb, QString::fromLatin1(words)), QByteArray());

    const Json last =
        reader.run(QStringLiteral("tesseractl history --json")).LastJson()["transactions"][0];
    const QString id = QString::number(last["id"].get<int>());
    QCOMPARE(check("history", QStringLiteral("history ") + id), QByteArray());
    QCOMPARE(check("txn show", QStringLiteral("txn show ") + id), QByteArray());
    QCOMPARE(last["to"]["mesh"]["tp"].get<int>(), 2);

    // Who started the job, and when.
    const Json job = reader.run(QStringLiteral("tesseractl job list --json")).LastJson()["jobs"][0];
    QVERIFY2(job["owner"].get<std::string>().find("tesseractl, ") != std::string::npos,
             job.dump().c_str());
    QVERIFY(job["started"].get<double>() > 0 && job["age_seconds"].get<double>() >= 0);
    const Outcome wide = reader.run(QStringLiteral("tesseractl job list --wide"));
    QVERIFY2(wide.output.contains(QStringLiteral("loss of a node")), wide.Text());
    // The exit codes of a wait.
    QCOMPARE(reader.run(QStringLiteral("tesseractl job wait nobody")).code, 1);
    QCOMPARE(reader.run(QStringLiteral("tesseractl job wait gpt-nano")).code, 1);  // it has no end
    QCOMPARE(
        reader.run(QStringLiteral("tesseractl job wait gpt-nano --step 100000000 --timeout 1s"))
            .code,
        3);
    QCOMPARE(check("job stop", QStringLiteral("job stop gpt-nano --yes")), QByteArray());
    QCOMPARE(check("down", QStringLiteral("down --yes")), QByteArray());
    QCOMPARE(reader.run(QStringLiteral("tesseractl job wait gpt-nano --timeout 1s")).code, 3);
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

  /// The commands of a page, in their order, on a cluster with a job unless `before` says
  /// otherwise. What needs another state than that, such as a change in progress, matches
  /// `skipped`.
  void pagesAreRunFromTheTopDown_data() {
    QTest::addColumn<QString>("page");
    QTest::addColumn<QStringList>("before");
    QTest::addColumn<QString>("skipped");
    const QString up = QStringLiteral("tesseractl up --nodes 2 --gpus 4 --gpu-memory 256M");
    const QString start = QStringLiteral(
        "tesseractl job start gpt-mini --mesh dp=2,tp=2 --devices n0g0,n0g1,n0g2,n0g3");
    const auto row = [](const char* page, const QStringList& before, const char* skipped) {
      QTest::newRow(page) << QString::fromLatin1(page) << before << QString::fromLatin1(skipped);
    };
    row("index.md", {}, "job (describe|wait)");
    row("changing.md", {up, start}, "txn (decide|throttle|cancel)");
    row("pipelines.md", {up, start}, "");
    row("tuning.md", {up, start}, "probe|job tune");
    row("history.md", {up, start, QStringLiteral("tesseractl apply gpt-mini --mesh dp=4")}, "");
    row("checkpoints.md", {up, start}, "checkpoint delete");
    row("upgrading.md", {up, start}, "");
    row("troubleshooting.md", {up, start}, "job resume|node give-up");
    row("offline.md", {up, start}, "inspect|reshard|compare");
    row("data.md", {up}, "job resume");
    row("security.md", {}, "keys revoke");
  }
  void pagesAreRunFromTheTopDown() {
    QFETCH(QString, page);
    QFETCH(QStringList, before);
    QFETCH(QString, skipped);
    const Reader reader;
    const QString text = QStringLiteral("/usr/share/common-licenses/GPL-3");
    for (const char* name :
         {"srv/text/a", "srv/more.txt", "srv/web/a", "srv/books/a", "srv/other/a"})
      QVERIFY(reader.put(text, QString::fromLatin1(name)));
    for (const QString& command : before) {
      const Outcome outcome = reader.run(command);
      QVERIFY2(outcome.code == 0, (command.toUtf8() + ": " + outcome.Text()).constData());
    }
    const QRegularExpression skip(QStringLiteral("^tesseractl (?:%1)( |$)").arg(skipped));
    int run = 0;
    for (const Example& example : ExamplesOf(page)) {
      if (!skipped.isEmpty() && example.command.contains(skip)) continue;
      // A page may start the same job twice, for two of its cases.
      if (example.command.startsWith(QLatin1String("tesseractl job start ")))
        reader.run(QStringLiteral("tesseractl job stop gpt-mini"));
      const Outcome outcome = reader.run(example.command);
      QVERIFY2(outcome.code == 0, (example.command.toUtf8() + ": " + outcome.Text()).constData());
      const QString missing = MissingFrom(outcome.output, example.output);
      QVERIFY2(missing.isEmpty(),
               qPrintable(example.command + QStringLiteral(" did not print: ") + missing));
      ++run;
      // The next step of the page is to install the other version and start the agents again.
      if (page == QLatin1String("upgrading.md") &&
          example.command == QLatin1String("tesseractl down"))
        QCOMPARE(reader.run(before.first()).code, 0);
    }
    QVERIFY2(run >= 2, qPrintable(page));
  }

  // The scenario of the page can be copied into a file.
  void theScenarioOfTheGuideHolds() {
    const QString text = TextOf(QStringLiteral("simulator.md"));
    const auto begin = text.indexOf(QLatin1String("\n    {\n")),
               end = text.indexOf(QLatin1String("\n    }\n"), begin);
    QVERIFY(begin > 0 && end > begin);
    const Reader reader;
    QVERIFY(reader.write(QStringLiteral("lost.json"), text.mid(begin, end + 6 - begin).toUtf8()));
    const Outcome outcome = reader.run(QStringLiteral("tesseractl scenario run lost.json"));
    QVERIFY2(outcome.code == 0, outcome.Text());
  }

  void theJudgeSeesWhatWasNotPrinted() {
    const QString printed =
        QStringLiteral("noise\ncommitted: epoch 2,  pause 1.1 ms\nab12ab12ab12ab12  x at step 7\n");
    QCOMPARE(MissingFrom(printed, {QStringLiteral("committed: epoch 30, pause 12.5 s")}),
             QString());
    QCOMPARE(MissingFrom(printed, {QStringLiteral("0123456789abcdef  x at step 16")}), QString());
    QVERIFY(!MissingFrom(printed, {QStringLiteral("committed: epoch 30")}).isEmpty());
    QVERIFY(!MissingFrom(printed, {QStringLiteral("0123456789abcdef  y at step 16")}).isEmpty());
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
    QVERIFY2(watch.output.count(u'\n') >= 1, watch.Text());  // an idle cluster changes seldom
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
