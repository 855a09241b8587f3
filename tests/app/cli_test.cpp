// SPDX-License-Identifier: Apache-2.0
// The program as a shell sees it: exit codes, one line of error, nothing that needs a cluster.
#include <QDir>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

#include "agents/net/socket.h"
#include "app/commands/cluster_lock.h"
#include "engine/history/history.h"
#include "tests/folders.h"
#include "tests/support/program.h"
#include "tests/support/test_main.h"

using tessera::test::EnvironmentWithHome;
using tessera::test::FinishProgram;
using tessera::test::Outcome;
using tessera::test::RunProgram;

class CliTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    m_home = std::make_unique<QTemporaryDir>();
    QVERIFY(m_home->isValid());
  }

  // Neither a long text nor a short one is lost without a word, and nothing aborts.
  void outputThatCannotBeWrittenIsSaid_data() {
    QTest::addColumn<QString>("words");
    QTest::newRow("long") << "help job start";
    QTest::newRow("short") << "--version";
    QTest::newRow("a document, which is flushed") << "--json models list";
    QTest::newRow("a long document") << "--json rules check --model gpt2";
    QTest::newRow("a table") << "rules list";
  }
  void outputThatCannotBeWrittenIsSaid() {
    QFETCH(QString, words);
    const QString program = QStringLiteral(TESSERA_BIN_DIR "/tesseractl ") + words;
    const auto shell = [&](const QString& line) {
      QProcess process;
      process.setEnvironment(EnvironmentWithHome(m_home->path()));
      process.start(QStringLiteral("/bin/sh"), {QStringLiteral("-c"), line});
      return FinishProgram(process, 20);
    };
    const Outcome full = shell(program + QStringLiteral(" > /dev/full"));
    QCOMPARE(full.code, 1);
    QCOMPARE(full.errors,
             QStringLiteral("tesseractl: the output cannot be written: No space left on device\n"));
    // A reader that has gone, as of `| head`, needs no message.
    const Outcome gone = shell(QStringLiteral("{ sleep 0.2; ") + program +
                               QStringLiteral("; echo $? >&2; } | true"));
    QCOMPARE(gone.errors, QStringLiteral("1\n"));
  }

  void wrongUsageIsTwo_data() {
    QTest::addColumn<QStringList>("words");
    QTest::addColumn<QString>("says");
    const auto row = [](const char* name, const QStringList& words, const char* says) {
      QTest::newRow(name) << words << QString::fromLatin1(says);
    };
    row("unknown verb", {"fly"}, "unknown verb 'fly'");
    row("unknown second word", {"job", "fly"}, "unknown verb 'job fly'");
    row("misspelt verb", {"stauts"}, "did you mean status?");
    row("misspelt second word", {"job", "strat"}, "did you mean job start?");
    row("misspelt option", {"up", "--noeds", "2"}, "did you mean --nodes?");
    row("an option of jobs", {"up", "--devices", "2"}, "did you mean --gpus?");
    row("half a verb", {"txn"}, "`txn` needs one more word");
    row("unknown option", {"status", "--fast"}, "unknown option '--fast'");
    row("unknown option before the verb", {"--fast", "status"}, "unknown option '--fast'");
    row("missing value", {"up", "--nodes"}, "'--nodes' needs a value");
    row("not a number", {"up", "--nodes", "two"}, "--nodes 'two'");
    row("too many nodes", {"up", "--nodes", "65"}, "from 1 to 64");
    row("not a size", {"up", "--gpu-memory", "lots"}, "'lots'");
    row("too small for a GPU", {"up", "--gpu-memory", "1"}, "--gpu-memory '1' is below 4.0 MiB");
    row("too small for a GPU of a machine",
        {"node", "setup", "--cluster", "lab", "--address", "10.0.0.1", "--gpu-memory", "4095K"},
        "--gpu-memory '4095K' is below 4.0 MiB");
    row("more than the machine has", {"up", "--gpu-memory", "100T"}, "of memory that are free");
    row("not a rate", {"up", "--link", "100M"}, "'100M'");
    row("bad cluster name", {"up", "--cluster", "../x"}, "'../x'");
    row("no host", {"up", "--hosts", "a,,b"}, "--hosts: '' is not HOST or USER@HOST");
    row("a host that is an option", {"up", "--hosts", "-oX=y"}, "'-oX=y' is not HOST");
    row("a host without GPUs", {"up", "--hosts", "a:0"}, "a number of GPUs from 1 to 64");
    row("a host in no rack", {"up", "--hosts", "a/"}, "--hosts: rack '' does not match");
    row("a rack that is no name", {"up", "--hosts", "a:2/Row 1"}, "rack 'Row 1' does not match");
    row("hosts and racks", {"up", "--hosts", "a", "--racks", "2"}, "exclude each other");
    row("more racks than nodes", {"up", "--racks", "3"}, "from 1 to 2");
    row("a node in a rack that is no name",
        {"node", "setup", "--cluster", "lab", "--address", "10.0.0.1", "--rack", "R1"},
        "--rack: rack 'R1' does not match [a-z0-9][a-z0-9-]{0,62}");
    row("hosts and nodes", {"up", "--hosts", "a", "--nodes", "2"}, "exclude each other");
    row("a port without hosts", {"up", "--port", "7400"}, "--port is of use only with --hosts");
    row("missing job", {"plan"}, "`plan` needs JOB");
    row("nothing to change", {"plan", "gpt"}, "nothing to change: give --devices");
    row("an order of no devices", {"plan", "gpt", "--mesh", "tp=2", "--pin"}, "--pin needs");
    row("not a device", {"plan", "gpt", "--devices", "gpu3"}, "'gpu3'");
    row("a device twice", {"plan", "gpt", "--devices", "n0g0,n0g0"}, "n0g0");
    row("unknown axis", {"plan", "gpt", "--devices", "n0g0", "--mesh", "xp=1"}, "xp");
    row("mesh that does not multiply", {"plan", "gpt", "--devices", "n0g0,n0g1", "--mesh", "dp=3"},
        "3");
    row("apply without a terminal", {"apply", "gpt", "--mesh", "dp=2"}, "confirm with --yes");
    row("rounds without a terminal",
        {"apply", "gpt", "--mesh", "dp=2", "--move-memory", "64M", "--yes"},
        "confirm with --confirm gpt");
    row("another job's name",
        {"apply", "gpt", "--mesh", "dp=2", "--move-memory", "64M", "--confirm", "gtp"},
        "--confirm is 'gtp', the job is 'gpt'");
    row("a name without rounds", {"apply", "gpt", "--mesh", "dp=2", "--confirm", "gpt"},
        "--confirm is for --move-memory only");
    row("no memory", {"plan", "gpt", "--mesh", "dp=2", "--move-memory", "much"},
        "--move-memory: 'much'");
    row("rounds beside training",
        {"plan", "gpt", "--mesh", "dp=2", "--move-memory", "64M", "--overlap", "on"},
        "--overlap on needs old and new state side by side");
    row("rounds of no job", {"plan", "--model", "gpt2", "--move-memory", "64M"},
        "--move-memory needs JOB");
    row("job stop without a terminal", {"job", "stop", "gpt"}, "confirm with --yes");
    row("node kill without a terminal", {"node", "kill", "n1"}, "confirm with --yes");
    row("tune for the warm-up only", {"job", "tune", "gpt", "--steps", "2", "--yes"}, "from 3 to");
    row("keeps neither", {"job", "tune", "gpt", "--keep", "worst", "--yes"}, "'worst'");
    row("no candidates", {"propose", "gpt", "--limit", "0"}, "from 1 to 64");
    row("candidates of a plan", {"plan", "gpt", "--devices", "n0g0", "--candidates", "x"}, "'x'");
    row("unknown model", {"job", "start", "gpt-huge"}, "gpt-huge");
    row("bad job name", {"digest", "Gpt"}, "'Gpt'");
    row("not a transaction", {"txn", "show", "last"}, "'last'");
    row("not a number of the history", {"history", "last"}, "'last'");
    row("not a time", {"history", "--from", "soon"}, "--from: 'soon'");
    row("time that runs backwards", {"events", "--from", "1h", "--to", "2h"}, "--from 1h");
    row("not a severity", {"events", "--severity", "awful"}, "awful");
    row("two beginnings", {"job", "metrics", "g", "--from", "1h", "--from-step", "3"},
        "--from-step");
    row("nothing to export", {"export", "--what", "everything"}, "'everything'");
    row("no such format", {"export", "--format", "xml"}, "'xml'");
    row("three tables in one csv", {"export", "--what", "all", "--format", "csv"}, "one table");
    row("not a node", {"node", "kill", "1"}, "'1'");
    row("an empty path", {"checkpoint", "delete", "", "--yes"},
        "`checkpoint delete` needs PATH, not an empty word");
    row("an empty job", {"job", "stop", "", "--yes"}, "`job stop` needs JOB, not an empty word");
    row("not a time to wait", {"status", "--timeout", "soon"}, "--timeout 'soon'");
    row("no time to wait", {"status", "--timeout", "0"}, "from 0.1 to 86400");
    row("not a device to fail", {"device", "fail", "n1"}, "n1");
    row("two ways at once", {"down", "--all", "--cluster", "x"}, "--all and --cluster");
  }
  void wrongUsageIsTwo() {
    QFETCH(QStringList, words);
    QFETCH(QString, says);
    const Outcome outcome = run(words);
    QCOMPARE(outcome.code, 2);
    QCOMPARE(outcome.output, QString());
    verifyOneLine(outcome, says);
  }

  void whatOnlyTheMachineKnowsIsOne_data() {
    QTest::addColumn<QStringList>("words");
    QTest::addColumn<QString>("says");
    QTest::newRow("no cluster") << QStringList{"status"} << "no cluster is known";
    QTest::newRow("unknown profile") << QStringList{"--cluster", "nowhere", "status"} << "nowhere";
    QTest::newRow("nothing to stop") << QStringList{"down", "--cluster", "nowhere"} << "'nowhere'";
    QTest::newRow("nothing at all to stop") << QStringList{"down"} << "no cluster is known";
    QTest::newRow("nothing to forget")
        << QStringList{"profile", "remove", "nowhere"} << "'nowhere'";
    QTest::newRow("no logs") << QStringList{"logs"} << "no cluster is known";
  }
  void whatOnlyTheMachineKnowsIsOne() {
    QFETCH(QStringList, words);
    QFETCH(QString, says);
    const Outcome outcome = run(words);
    QCOMPARE(outcome.code, 1);
    verifyOneLine(outcome, says);
  }

  void helpAndVersionEverywhere_data() {
    QTest::addColumn<QStringList>("verb");
    QTest::newRow("program") << QStringList{};
    for (const char* verb : {"up",           "down",           "status",      "logs",
                             "profile list", "profile remove", "job start",   "job stop",
                             "job pause",    "job resume",     "job metrics", "plan",
                             "job list",     "job describe",   "job wait",    "apply",
                             "txn show",     "txn cancel",     "device fail", "node kill",
                             "digest",       "history",        "events",      "export",
                             "reshard",      "inspect",        "compare",     "rules check",
                             "rules list",   "rules show",     "models list", "models show",
                             "topology",     "lesson list",    "lesson check"})
      QTest::newRow(verb) << QString::fromLatin1(verb).split(u' ');
  }
  void helpAndVersionEverywhere() {
    QFETCH(QStringList, verb);
    const Outcome help = run(verb + QStringList{"--help"});
    QCOMPARE(help.code, 0);
    QCOMPARE(help.errors, QString());
    QVERIFY(help.output.startsWith(("Usage: tesseractl " + verb.join(u' ')).trimmed()));
    QVERIFY(help.output.contains("--json"));
    const Outcome version = run(verb + QStringList{"--version"});
    QCOMPARE(version.code, 0);
    QVERIFY2(version.output.startsWith("tesseractl 0."), qPrintable(version.output));
  }

  void helpNamesTheDefaults() {
    const QString help = run({"job", "start", "--help"}).output;
    for (const char* part :
         {"gpt-mini", "default: 16", "2000 steps", "--mesh", "--devices", "--data"})
      QVERIFY2(help.contains(QString::fromLatin1(part)), part);
  }

  void helpIsFoundInManyWays_data() {
    QTest::addColumn<QStringList>("words");
    QTest::addColumn<QString>("begins");
    QTest::newRow("bare") << QStringList{} << "Usage: tesseractl [global options] VERB";
    QTest::newRow("help") << QStringList{"help"} << "Usage: tesseractl [global options] VERB";
    QTest::newRow("-h") << QStringList{"-h"} << "Usage: tesseractl [global options] VERB";
    QTest::newRow("help VERB") << QStringList{"help", "job", "stop"}
                               << "Usage: tesseractl job stop JOB";
    QTest::newRow("VERB -h") << QStringList{"job", "stop", "-h"}
                             << "Usage: tesseractl job stop JOB";
    QTest::newRow("-h VERB") << QStringList{"-h", "job", "stop"}
                             << "Usage: tesseractl job stop JOB";
    QTest::newRow("half a verb") << QStringList{"job", "--help"} << "Usage: tesseractl job VERB";
    QTest::newRow("help half a verb") << QStringList{"help", "job"} << "Usage: tesseractl job VERB";
  }
  void helpIsFoundInManyWays() {
    QFETCH(QStringList, words);
    QFETCH(QString, begins);
    const Outcome help = run(words);
    QCOMPARE(help.code, 0);
    QCOMPARE(help.errors, QString());
    QVERIFY2(help.output.startsWith(begins), qPrintable(help.output.left(80)));
  }

  void bytesThatAreNoTextAreOneLine() {
    QProcess bash;
    bash.setEnvironment(EnvironmentWithHome(m_home->path()));
    bash.start("bash", {"-c", QStringLiteral(TESSERA_BIN_DIR "/tesseractl job start gpt-nano --set "
                                                             "dropout=$'\\xff'")});
    QVERIFY(bash.waitForFinished(20000));
    QCOMPARE(bash.exitStatus(), QProcess::NormalExit);
    QCOMPARE(bash.exitCode(), 2);
    const QByteArray errors = bash.readAllStandardError();
    QVERIFY2(
        errors.startsWith("tesseractl: ") && errors.count('\n') == 1 && errors.contains("dropout"),
        errors.constData());
  }

  void coloursAreForTerminals() {
    QVERIFY(!run({"help"}).output.contains(u'\x1b'));
    QVERIFY(run({"help", "--color", "always"}).output.contains(u'\x1b'));
    QVERIFY(!run({"help", "--color", "never"}).output.contains(u'\x1b'));
  }

  void errorsAreJsonToo_data() {
    QTest::addColumn<QStringList>("words");
    QTest::addColumn<int>("exit");
    QTest::addColumn<QString>("error");
    QTest::newRow("usage") << QStringList{"up", "--nodes", "two", "--json"} << 2
                           << "invalid_argument";
    QTest::newRow("unknown verb") << QStringList{"--json", "fly"} << 2 << "invalid_argument";
    QTest::newRow("machine") << QStringList{"status", "--json"} << 1 << "not_found";
    QTest::newRow("compare") << QStringList{"compare", "/no/a", "/no/b", "--json"} << 2
                             << "not_found";
  }
  void errorsAreJsonToo() {
    QFETCH(QStringList, words);
    QFETCH(int, exit);
    QFETCH(QString, error);
    const Outcome outcome = run(words);
    QCOMPARE(outcome.code, exit);
    QCOMPARE(outcome.output, QString());
    const QJsonObject json = QJsonDocument::fromJson(outcome.errors.toUtf8()).object();
    QCOMPARE(json["version"].toInt(), 1);
    QCOMPARE(json["error"]["code"].toString(), error);
    QCOMPARE(json["error"]["exit_code"].toInt(), exit);
    QVERIFY(!json["error"]["message"].toString().isEmpty());
  }

  void clusterIsChosenInOrder() {
    QDir(m_home->path()).mkpath("profiles");
    for (const char* name : {"alpha", "beta"}) {
      QFile file(m_home->filePath(QStringLiteral("profiles/%1.json").arg(QLatin1String(name))));
      QVERIFY(file.open(QIODevice::WriteOnly));
      file.write(R"({"name":")" + QByteArray(name) + R"("})");  // not whole: the error names it
    }
    const auto meant = [&](const QStringList& words, const QStringList& more = {}) {
      QStringList environment = EnvironmentWithHome(m_home->path());
      environment.removeIf([](const QString& e) { return e.startsWith(u"TESSERA_CLUSTER="); });
      const Outcome outcome = RunProgram("tesseractl", words, environment + more);
      return outcome.errors.contains("alpha")  ? QString("alpha")
             : outcome.errors.contains("beta") ? QString("beta")
                                               : outcome.errors.trimmed();
    };
    QVERIFY(meant({"status"}).contains("2 profiles are known and none is named local"));
    QCOMPARE(run({"profile", "use", "alpha"}).code, 0);
    QCOMPARE(meant({"status"}), QString("alpha"));
    QCOMPARE(meant({"status"}, {"TESSERA_CLUSTER=beta"}), QString("beta"));
    QCOMPARE(meant({"--cluster", "alpha", "status"}, {"TESSERA_CLUSTER=beta"}), QString("alpha"));
    QCOMPARE(run({"profile", "use", "--clear"}).code, 0);
    QVERIFY(meant({"status"}).contains("none is named local"));
    const Outcome misspelt = run({"profile", "use", "alpa"});
    QCOMPARE(misspelt.code, 1);
    verifyOneLine(misspelt, "did you mean alpha?");
  }

  // Also `down`, which may mean a cluster without a profile, and `logs`, which reads a stopped one.
  void allVerbsMeanTheSameCluster_data() {
    QTest::addColumn<QStringList>("stopped");
    QTest::addColumn<QStringList>("running");
    QTest::addColumn<QString>("meant");
    const auto row = [](const char* name, const QStringList& stopped, const QStringList& running,
                        const char* meant) {
      QTest::newRow(name) << stopped << running << QString::fromLatin1(meant);
    };
    row("the one that runs, not a stopped local", {"local"}, {"simulated"}, "simulated");
    row("local of several", {"other"}, {"local", "simulated"}, "local");
    row("the only stopped one", {"simulated"}, {}, "simulated");
    row("local of the stopped ones", {"local", "simulated"}, {}, "local");
  }
  void allVerbsMeanTheSameCluster() {
    QFETCH(QStringList, stopped);
    QFETCH(QStringList, running);
    QFETCH(QString, meant);
    for (const QString& name : stopped + running) {
      QVERIFY(QDir(m_home->path()).mkpath("clusters/" + name));
      if (!running.contains(name)) continue;
      // Its agents are on a host that is not there.
      write("clusters/" + name + "/hosts.json", R"({"ssh": "false", "hosts": []})");
      QVERIFY(QDir(m_home->path()).mkpath("profiles"));
      write("profiles/" + name + ".json", R"({"name":")" + name.toUtf8() + R"("})");
    }
    for (const QStringList& words :
         {QStringList{"status"}, {"history"}, {"logs"}, {"job", "list"}, {"down"}}) {
      const Outcome outcome = run(words);
      const QString said = outcome.output + outcome.errors;
      QVERIFY2(said.contains(meant),
               (words.join(' ').toUtf8() + ": " + outcome.Text()).constData());
      for (const QString& other : stopped + running)
        QVERIFY2(other == meant || !said.contains(other), outcome.Text());
    }
    // A cluster whose jobs are not known may train.
    QCOMPARE(run({"down"}).code, running.isEmpty() ? 0 : 2);
  }

  void oneUpAtATime() {
    QVERIFY(QDir(m_home->path()).mkpath("clusters/local"));
    const auto held =
        tessera::app::ClusterLock::take(m_home->filePath("clusters").toStdString(), "local", "up");
    QVERIFY2(held.has_value(), held ? "" : held.error().message.c_str());
    const QString says = QStringLiteral("another `up` of 'local' is running (pid %1)")
                             .arg(QCoreApplication::applicationPid());
    for (const QStringList& words :
         {QStringList{"up"}, {"up", "--hosts", "nowhere", "--cluster", "local"}, {"down"}}) {
      const Outcome refused = run(words);
      QCOMPARE(refused.code, 1);
      verifyOneLine(refused, says);
    }
    // Each name has a lock of its own.
    QVERIFY(
        tessera::app::ClusterLock::take(m_home->filePath("clusters").toStdString(), "other", "up"));
  }

  void quietPrintsNothingOnSuccess() {
    const QString folder = m_home->filePath("man");
    const Outcome loud = run({"manual", folder});
    QCOMPARE(loud.code, 0);
    QVERIFY(loud.output.contains("pages in"));
    const Outcome quiet = run({"manual", folder, "-q"});
    QCOMPARE(quiet.code, 0);
    QCOMPARE(quiet.output + quiet.errors, QString());
  }

  // A terminal is what `script` gives its command.
  void aTerminalIsAsked_data() {
    QTest::addColumn<QByteArray>("answer");
    QTest::addColumn<QString>("says");
    QTest::newRow("no") << QByteArray("n\n") << "Nothing changed";
    QTest::newRow("yes") << QByteArray("y\n") << "no cluster is known";
  }
  void aTerminalIsAsked() {
    QFETCH(QByteArray, answer);
    QFETCH(QString, says);
    if (QStandardPaths::findExecutable("script").isEmpty()) QSKIP("script is not installed");
    QProcess script;
    script.setEnvironment(EnvironmentWithHome(m_home->path()));
    script.start("script",
                 {"-qec", QStringLiteral(TESSERA_BIN_DIR "/tesseractl job stop gpt"), "/dev/null"});
    QVERIFY(script.waitForStarted());
    script.write(answer);
    QVERIFY(script.waitForFinished(20000));
    const QString output = QString::fromUtf8(script.readAll());
    QCOMPARE(script.exitCode(), 1);
    QVERIFY2(output.contains("Stop job 'gpt'") && output.contains("[y/N]"), qPrintable(output));
    QVERIFY2(output.contains(says), qPrintable(output));
  }

  // Of a stopped cluster; e2e_basic_test asks a running one.
  void aJobThatNobodyKnowsIsNoEmptyHistory() {
    const QString folder = m_home->filePath("clusters/local/n0");
    QVERIFY(QDir().mkpath(folder));
    {
      const auto history = tessera::engine::History::Open((folder + "/history.db").toStdString());
      QVERIFY(history.has_value());
      const std::vector<tessera::engine::Sample> samples{{"mine", 1, 2.5, 1, 100, 0}};
      QVERIFY((*history)->AddSamples(samples).has_value());
    }
    for (const QStringList& words : {QStringList{"job", "metrics"}, {"history", "--job"},
                                     {"export", "--job"}, {"export", "--what", "all", "--job"}}) {
      const Outcome unknown = run(words + QStringList{"other"});
      QVERIFY2(unknown.code == 1 && unknown.output.isEmpty() &&
                   unknown.errors.contains("no job 'other'; known are mine"),
               unknown.Text());
      const Outcome known = run(words + QStringList{"mine"});
      QVERIFY2(known.code == 0, known.Text());
    }
  }

  // One home has an operator and a viewer of a cluster.
  void aProfileNamesItsCluster() {
    const auto keys = [&](const char* name) {
      const QString file = m_home->filePath(QLatin1String(name));
      const auto saved = tessera::agents::SaveKeys(tessera::agents::NewCurveKeys(),
                                                   file.toStdString());
      return saved ? file : QString();
    };
    const QString server = QString::fromStdString(tessera::agents::NewCurveKeys().public_key);
    const Outcome lab = run({"profile", "add", "lab", "--registrar", "127.0.0.1:7400",
                             "--server-key", server, "--key", keys("operator.key")});
    QVERIFY2(lab.code == 0, lab.Text());
    const Outcome view = run({"profile", "add", "lab-view", "--file",
                              m_home->filePath("profiles/lab.json"), "--key", keys("viewer.key")});
    QVERIFY2(view.code == 0, view.Text());
    const Outcome named = run({"profile", "add", "other", "--cluster", "lab", "--registrar",
                               "127.0.0.1:7400", "--server-key", server, "--key",
                               m_home->filePath("viewer.key")});
    QVERIFY2(named.code == 0, named.Text());
    const QJsonArray profiles =
        QJsonDocument::fromJson(run({"profile", "list", "--json"}).output.toUtf8())
            .object()["profiles"]
            .toArray();
    QCOMPARE(profiles.size(), 3);
    for (const QJsonValue& profile : profiles)
      QCOMPARE(profile["cluster"].toString(), QString("lab"));
    const Outcome wrong = run({"profile", "add", "x", "--cluster", "No Name", "--file",
                               m_home->filePath("profiles/lab.json")});
    QCOMPARE(wrong.code, 2);
  }

  void emptyListsAreNoErrors() {
    QCOMPARE(run({"profile", "list", "--json"}).output,
             QString("{\"version\":1,\"profiles\":[]}\n"));
    QCOMPARE(run({"down", "--all"}).code, 0);
  }

 private:
  void write(const QString& name, const QByteArray& text) const {
    QFile file(m_home->filePath(name));
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write(text) == text.size());
  }
  Outcome run(const QStringList& words) const {
    return RunProgram("tesseractl", words, EnvironmentWithHome(m_home->path()));
  }

  static void verifyOneLine(const Outcome& outcome, const QString& says) {
    QVERIFY2(outcome.SaysInOneLine("tesseractl", says), outcome.Text());
  }

  std::unique_ptr<QTemporaryDir> m_home;
};

TESSERA_TEST(CliTest)
#include "cli_test.moc"
