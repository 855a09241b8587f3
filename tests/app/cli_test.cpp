// SPDX-License-Identifier: Apache-2.0
// The program as a shell sees it: exit codes, one line of error, nothing that needs a cluster.
#include <QDir>
#include <QTemporaryDir>
#include <QTest>

#include "tests/support/program.h"
#include "tests/support/test_main.h"

using tessera::test::EnvironmentWithHome;
using tessera::test::Outcome;
using tessera::test::RunProgram;

class CliTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    m_home = std::make_unique<QTemporaryDir>();
    QVERIFY(m_home->isValid());
  }

  void wrongUsageIsTwo_data() {
    QTest::addColumn<QStringList>("words");
    QTest::addColumn<QString>("says");
    const auto row = [](const char* name, const QStringList& words, const char* says) {
      QTest::newRow(name) << words << QString::fromLatin1(says);
    };
    row("nothing", {}, "no verb given");
    row("unknown verb", {"fly"}, "unknown verb 'fly'");
    row("unknown second word", {"job", "fly"}, "unknown verb 'job fly'");
    row("half a verb", {"txn"}, "`txn` needs one more word");
    row("unknown option", {"status", "--fast"}, "unknown option '--fast'");
    row("unknown option before the verb", {"--fast", "status"}, "unknown option '--fast'");
    row("missing value", {"up", "--nodes"}, "'--nodes' needs a value");
    row("not a number", {"up", "--nodes", "two"}, "--nodes 'two'");
    row("too many nodes", {"up", "--nodes", "65"}, "from 1 to 64");
    row("not a size", {"up", "--gpu-memory", "lots"}, "'lots'");
    row("not a rate", {"up", "--link", "100M"}, "'100M'");
    row("bad cluster name", {"up", "--name", "../x"}, "'../x'");
    row("missing job", {"plan"}, "`plan` needs JOB");
    row("missing devices", {"plan", "gpt"}, "--devices is missing");
    row("not a device", {"plan", "gpt", "--devices", "gpu3"}, "'gpu3'");
    row("a device twice", {"plan", "gpt", "--devices", "n0g0,n0g0"}, "n0g0");
    row("unknown axis", {"plan", "gpt", "--devices", "n0g0", "--mesh", "xp=1"}, "xp");
    row("mesh that does not multiply", {"plan", "gpt", "--devices", "n0g0,n0g1", "--mesh", "dp=3"},
        "3");
    row("apply where nobody can be asked", {"apply", "gpt", "--devices", "n0g0"}, "--yes");
    row("tune where nobody can be asked", {"job", "tune", "gpt"}, "--yes");
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
    row("two beginnings", {"job", "metrics", "g", "--since", "1h", "--from-step", "3"}, "--since");
    row("nothing to export", {"export", "--what", "everything"}, "'everything'");
    row("no such format", {"export", "--format", "xml"}, "'xml'");
    row("three tables in one csv", {"export", "--what", "all", "--format", "csv"}, "one table");
    row("not a node", {"node", "kill", "1"}, "'1'");
    row("not a device to fail", {"device", "fail", "n1"}, "n1");
    row("two ways at once", {"down", "--all", "--name", "x"}, "--all and --name");
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
    QTest::newRow("nothing to stop") << QStringList{"down", "--name", "nowhere"} << "'nowhere'";
    QTest::newRow("nothing at all to stop") << QStringList{"down"} << "no local cluster";
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
                             "apply",        "txn show",       "txn cancel",  "device fail",
                             "node kill",    "digest",         "history",     "events",
                             "export",       "reshard",        "inspect",     "compare",
                             "rules check",  "rules list",     "rules show",  "models list",
                             "models show",  "topology"})
      QTest::newRow(verb) << QString::fromLatin1(verb).split(u' ');
  }
  void helpAndVersionEverywhere() {
    QFETCH(QStringList, verb);
    const Outcome help = run(verb + QStringList{"--help"});
    QCOMPARE(help.code, 0);
    QCOMPARE(help.errors, QString());
    QVERIFY(help.output.startsWith(("tesseractl " + verb.join(u' ')).trimmed()));
    QVERIFY(help.output.contains("--json"));
    const Outcome version = run(verb + QStringList{"--version"});
    QCOMPARE(version.code, 0);
    QVERIFY2(version.output.startsWith("tesseractl 0."), qPrintable(version.output));
  }

  void helpNamesTheDefaults() {
    const QString help = run({"job", "start", "--help"}).output;
    for (const char* part :
         {"gpt-mini", "default 16", "2000 steps", "--mesh", "--devices", "--data"})
      QVERIFY2(help.contains(QString::fromLatin1(part)), part);
  }

  void emptyListsAreNoErrors() {
    QCOMPARE(run({"profile", "list", "--json"}).output, QString("[]\n"));
    QCOMPARE(run({"down", "--all"}).code, 0);
  }

 private:
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
