// SPDX-License-Identifier: Apache-2.0
/// \file
/// The option table and what is made from it: help, examples, completions, man pages, suggestions.
/// Every command line in the guide, README and the error catalogue fits the table.

#include <QDir>
#include <QFile>
#include <QProcess>
#include <QRegularExpression>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "app/commands/command.h"
#include "app/commands/completion.h"
#include "app/commands/errors.h"
#include "app/commands/help.h"
#include "app/commands/manual.h"
#include "app/commands/suggest.h"
#include "app/commands/terminal.h"
#include "tests/folders.h"
#include "tests/support/test_main.h"

using namespace tessera::app;

namespace {

QString ReadText(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

/// Words as a shell splits them, up to a redirection, a pipe or a comment.
std::vector<std::string> ShellWords(const QString& line) {
  std::vector<std::string> words;
  QString word;
  bool isWord = false;
  QChar quote;
  for (const QChar c : line) {
    if (!quote.isNull()) {
      if (c == quote)
        quote = QChar();
      else
        word += c;
    } else if (c == u'"' || c == u'\'') {
      quote = c;
      isWord = true;
    } else if (c == u'>' || c == u'|' || c == u';' || c == u'#') {
      break;
    } else if (c.isSpace()) {
      if (isWord) words.push_back(word.toStdString());
      word.clear();
      isWord = false;
    } else {
      word += c;
      isWord = true;
    }
  }
  if (isWord) words.push_back(word.toStdString());
  return words;
}

struct DocumentedLine {
  QString where;
  QString text;
};

/// Lines of code blocks and spans between backticks that begin with `tesseractl `. Behind a line of
/// a block an explanation may follow, three blanks apart.
void CollectLines(const QString& where, const QString& text, std::vector<DocumentedLine>& lines) {
  static const QRegularExpression block(QStringLiteral("^ *(tesseractl .*)$"),
                                        QRegularExpression::MultilineOption);
  static const QRegularExpression span(QStringLiteral("`(tesseractl [^`]+)`"));
  static const QRegularExpression explanation(QStringLiteral(" {3,}.*$"));
  for (const QRegularExpression& form : {block, span})
    for (auto it = form.globalMatch(text); it.hasNext();)
      lines.push_back({where, it.next().captured(1).remove(explanation)});
}

std::vector<DocumentedLine> DocumentedLines() {
  const QString root = QStringLiteral(TESSERA_SOURCE_DIR);
  std::vector<DocumentedLine> lines;
  CollectLines(QStringLiteral("README.md"), ReadText(root + QStringLiteral("/README.md")), lines);
  const QDir guide(root + QStringLiteral("/resources/guide"));
  for (const QString& page : guide.entryList({QStringLiteral("*.md")}, QDir::Files))
    CollectLines(page, ReadText(guide.filePath(page)), lines);
  for (const KnownError& error : knownErrors())
    CollectLines(QStringLiteral("catalogue.json"), QString::fromStdString(error.remedy), lines);
  return lines;
}

bool Runs(const QString& program) { return !QStandardPaths::findExecutable(program).isEmpty(); }

}  // namespace

class CommandTableTest : public QObject {
  Q_OBJECT

 private slots:
  void everyVerbIsDescribed_data() { verbs(); }
  void everyVerbIsDescribed() {
    const Syntax& syntax = verb().syntax;
    QVERIFY(!syntax.summary.empty() && !syntax.summary.ends_with('.'));
    QVERIFY(std::isupper(static_cast<unsigned char>(syntax.summary.front())));
    QVERIFY2(!syntax.examples.empty(), "no example");
    const std::string help = helpOf("tesseractl", syntax);
    QVERIFY(help.starts_with("Usage: tesseractl " + syntax.verb));
    for (const std::string& example : syntax.examples)
      QVERIFY2(help.find(example) != std::string::npos, example.c_str());
    for (const OptionSpec& option : allOptions(syntax)) {
      QVERIFY2(help.find("--" + option.name) != std::string::npos, option.name.c_str());
      QVERIFY2(!option.help.empty() && !option.help.ends_with('.'), option.name.c_str());
      // Default and repetition are added to the help.
      QVERIFY2(option.help.find("(default") == std::string::npos, option.name.c_str());
      QVERIFY2(option.help.find("repeated") == std::string::npos, option.name.c_str());
    }
    for (const QString& line : QString::fromStdString(help).split(u'\n'))
      if (!line.contains(QStringLiteral("tesseractl")))
        QVERIFY2(line.size() <= 80, qPrintable(line));
  }

  void lettersAndNamesOfAVerbAreUnique_data() { verbs(); }
  void lettersAndNamesOfAVerbAreUnique() {
    std::set<std::string> names;
    std::set<char> letters;
    for (const OptionSpec& option : allOptions(verb().syntax)) {
      QVERIFY2(names.insert(option.name).second, option.name.c_str());
      if (option.letter != 0) QVERIFY2(letters.insert(option.letter).second, option.name.c_str());
    }
  }

  void lettersMeanTheSameEverywhere() {
    const std::map<std::string, char> known = {{"help", 'h'},   {"limit", 'n'}, {"output", 'o'},
                                               {"yes", 'y'},    {"quiet", 'q'}, {"force", 'f'},
                                               {"follow", 'f'}, {"watch", 'w'}};
    for (const Command& command : commands())
      for (const OptionSpec& option : allOptions(command.syntax)) {
        const auto it = known.find(option.name);
        QVERIFY2(option.letter == (it == known.end() ? 0 : it->second), option.name.c_str());
      }
  }

  void examplesFitTheTable_data() { verbs(); }
  void examplesFitTheTable() {
    for (const std::string& example : verb().syntax.examples)
      QVERIFY2(fits(QString::fromStdString(example)).isEmpty(),
               qPrintable(fits(QString::fromStdString(example))));
  }

  void documentedLinesFitTheTable() {
    const auto lines = DocumentedLines();
    QVERIFY(lines.size() > 80);
    std::set<QString> pages;
    for (const DocumentedLine& line : lines) {
      pages.insert(line.where);
#ifndef TESSERA_WITH_FUSE
      static const QRegularExpression ofMounts(QStringLiteral("^tesseractl (un)?mount\\b"));
      if (ofMounts.match(line.text).hasMatch()) continue;  // not in this build
#endif
      const QString problem = fits(line.text);
      QVERIFY2(
          problem.isEmpty(),
          qPrintable(QStringList({line.where, line.text, problem}).join(QStringLiteral(": "))));
    }
    QVERIFY(pages.contains(QStringLiteral("README.md")));
    QVERIFY(pages.contains(QStringLiteral("own-job.md")));
  }

  // The check above sees a wrong line.
  void wrongLinesDoNotFit_data() {
    QTest::addColumn<QString>("line");
    QTest::newRow("option") << "tesseractl logs n1 --lines 50";
    QTest::newRow("verb") << "tesseractl job strat gpt-mini";
    QTest::newRow("word") << "tesseractl status all";
    QTest::newRow("choice") << "tesseractl plan g --zero maybe --devices 1x2";
  }
  void wrongLinesDoNotFit() {
    QFETCH(QString, line);
    QVERIFY(!fits(line).isEmpty());
  }

  void everyVerbIsInTheGeneralHelp() {
    const std::string help = generalHelp();
    for (const Command& command : commands())
      QVERIFY2(help.find("\n  " + command.syntax.verb + " ") != std::string::npos,
               command.syntax.verb.c_str());
    for (const VerbGroup& group : verbGroups())
      QVERIFY2(help.find("\n" + group.title + ":\n") != std::string::npos, group.title.c_str());
    QVERIFY(help.find("TESSERA_CLUSTER") != std::string::npos);
  }

  void suggestsTheNearest_data() {
    QTest::addColumn<QString>("word");
    QTest::addColumn<QString>("meant");
    QTest::newRow("swapped") << "stauts"
                             << "status";
    QTest::newRow("left out") << "statu"
                              << "status";
    QTest::newRow("too much") << "statuus"
                              << "status";
    QTest::newRow("wrong letter") << "ststus"
                                  << "status";
    QTest::newRow("beginning") << "hist"
                               << "history";
    QTest::newRow("option") << "--devcies"
                            << "--devices";
    QTest::newRow("far away") << "elephant"
                              << "";
    QTest::newRow("one letter") << "x"
                                << "";
    QTest::newRow("empty") << ""
                           << "";
  }
  void suggestsTheNearest() {
    QFETCH(QString, word);
    QFETCH(QString, meant);
    QCOMPARE(closestTo(word.toStdString(), {"up", "status", "history", "--devices"}),
             meant.toStdString());
  }

  void editDistanceCountsEdits() {
    QCOMPARE(editDistance("", ""), std::size_t{0});
    QCOMPARE(editDistance("abc", ""), std::size_t{3});
    QCOMPARE(editDistance("", "abc"), std::size_t{3});
    QCOMPARE(editDistance("abc", "abc"), std::size_t{0});
    QCOMPARE(editDistance("abcd", "acbd"), std::size_t{1});
    QCOMPARE(editDistance("kitten", "sitting"), std::size_t{3});
  }

  void widthCountsCharactersThatShow() {
    QCOMPARE(displayWidth(""), std::size_t{0});
    QCOMPARE(displayWidth("n0 → n1"), std::size_t{7});
    QCOMPARE(displayWidth("\033[31mfailed\033[0m"), std::size_t{6});
  }

  void bashCompletes_data() {
    QTest::addColumn<QStringList>("line");  // the last one is being typed
    QTest::addColumn<QStringList>("has");
    QTest::addColumn<QString>("hasNot");
    const auto row = [](const char* name, const QStringList& line, const QStringList& has,
                        const char* hasNot) {
      QTest::newRow(name) << line << has << QString::fromLatin1(hasNot);
    };
    row("verbs", {""}, {"up", "job", "plan", "help"}, "start");
    row("the beginning of a verb", {"sta"}, {"status"}, "up");
    row("second words", {"job", ""}, {"start", "stop", "list", "metrics"}, "up");
    row("options of a verb", {"plan", "--"}, {"--devices", "--mesh", "--json"}, "--follow");
    row("letters", {"job", "stop", "-"}, {"--yes", "-y"}, "-n");
    row("choices", {"plan", "g", "--zero", ""}, {"on", "off"}, "auto");
    row("choices behind =", {"plan", "g", "--zero", "=", "o"}, {"on", "off"}, "auto");
    row("choices of a global option", {"status", "--color", ""}, {"auto", "never"}, "on");
    row("choices of a word", {"completion", ""}, {"bash", "zsh", "fish"}, "up");
    row("a verb behind a global option", {"--cluster", "lab", "sta"}, {"status"}, "up");
    row("folders", {"manual", "here/"}, {"here/folder"}, "here/file");
    row("files", {"inspect", "here/f"}, {"here/folder", "here/file"}, "up");
    row("models", {"models", "show", "gpt"}, {"gpt2", "gpt3-175b"}, "llama-3-8b");
  }
  void bashCompletes() {
    QFETCH(QStringList, line);
    QFETCH(QStringList, has);
    QFETCH(QString, hasNot);
    QTemporaryDir folder;
    QVERIFY(QDir(folder.path()).mkpath(QStringLiteral("here/folder")));
    for (const char* name : {"here/file", "script"}) {
      QFile file(folder.filePath(QString::fromLatin1(name)));
      QVERIFY(file.open(QIODevice::WriteOnly));
      if (QByteArray(name) == "script") file.write(QByteArray::fromStdString(bashCompletion()));
    }
    QProcess bash;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QStringLiteral("PATH"), QStringLiteral(TESSERA_BIN_DIR) + u':' +
                                                   environment.value(QStringLiteral("PATH")));
    bash.setProcessEnvironment(environment);
    bash.setWorkingDirectory(folder.path());
    QStringList words = {QStringLiteral("tesseractl")};
    for (const QString& word : line) words << u'\'' + word + u'\'';
    bash.start(QStringLiteral("bash"),
               {QStringLiteral("--norc"), QStringLiteral("-uc"),
                QStringLiteral("source ./script\nCOMP_WORDS=(%1)\nCOMP_CWORD=%2\n_tesseractl\n"
                               "printf '%s\\n' \"${COMPREPLY[@]-}\"")
                    .arg(words.join(u' '))
                    .arg(line.size())});
    QVERIFY(bash.waitForFinished(20000));
    QCOMPARE(QString::fromUtf8(bash.readAllStandardError()), QString());
    const QStringList found = QString::fromUtf8(bash.readAllStandardOutput()).split(u'\n');
    for (const QString& word : has)
      QVERIFY2(found.contains(word), qPrintable(word + QStringLiteral(" in ") + found.join(u' ')));
    QVERIFY2(!found.contains(hasNot), qPrintable(found.join(u' ')));
  }

  // Values come from the cluster that the line means.
  void bashAsksTheCluster_data() {
    QTest::addColumn<QStringList>("line");
    QTest::addColumn<QString>("asked");
    QTest::addColumn<QStringList>("found");
    const auto row = [](const char* name, const QStringList& line, const char* asked,
                        const QStringList& found) {
      QTest::newRow(name) << line << QString::fromLatin1(asked) << found;
    };
    row("jobs", {"job", "stop", "g"}, "job list --names", {"gpt", "gpt-mini"});
    row("jobs of an option", {"history", "--job", "gpt-"}, "job list --names", {"gpt-mini"});
    row("nodes", {"node", "kill", ""}, "status --names", {"n0", "n1"});
    row("a device", {"device", "fail", "n1"}, "topology --names", {"n1g0"});
    row("devices", {"plan", "gpt", "--devices", "n0g0,n1"}, "topology --names", {"n0g0,n1g0"});
    row("transactions", {"txn", "show", ""}, "history --names", {"11", "12"});
    row("clusters", {"--cluster", "l"}, "profile list --names", {"lab", "local"});
    row("clusters of `down`", {"down", "--cluster", "lo"}, "profile list --names", {"local"});
    row("models of jobs", {"job", "start", "gpt-n"}, "", {"gpt-nano"});
    row("another cluster", {"--cluster", "lab", "job", "stop", "gpt-"},
        "--cluster=lab job list --names", {"gpt-mini"});
    row("another cluster behind =", {"--cluster", "=", "lab", "job", "stop", "gpt-"},
        "--cluster=lab job list --names", {"gpt-mini"});
    row("a cluster behind the verb", {"job", "stop", "--cluster", "lab", "gpt-"},
        "--cluster=lab job list --names", {"gpt-mini"});
    row("no cluster", {"--cluster", "off", "job", "stop", ""}, "--cluster=off job list --names",
        {""});
  }
  void bashAsksTheCluster() {
    QFETCH(QStringList, line);
    QFETCH(QString, asked);
    QFETCH(QStringList, found);
    QTemporaryDir folder;
    const auto write = [&folder](const char* name, const QByteArray& text) {
      QFile file(folder.filePath(QString::fromLatin1(name)));
      return file.open(QIODevice::WriteOnly) && file.write(text) == text.size() &&
             file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    };
    QVERIFY(write("script", QByteArray::fromStdString(bashCompletion())));
    QVERIFY(write("tesseractl", R"sh(#!/bin/sh
echo "$@" > asked
case "$*" in
  --cluster=off*) echo 'cluster off is not running' >&2; exit 1 ;;
  *'job list --names') printf '%s\n' gpt gpt-mini ;;
  *'status --names') printf '%s\n' n0 n1 ;;
  *'topology --names') printf '%s\n' n0g0 n0g1 n1g0 ;;
  *'history --names') printf '%s\n' 12 11 ;;
  *'profile list --names') printf '%s\n' lab local ;;
esac
)sh"));
    QProcess bash;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QStringLiteral("PATH"),
                       folder.path() + u':' + environment.value(QStringLiteral("PATH")));
    bash.setProcessEnvironment(environment);
    bash.setWorkingDirectory(folder.path());
    QStringList words = {QStringLiteral("tesseractl")};
    for (const QString& word : line) words << u'\'' + word + u'\'';
    bash.start(QStringLiteral("bash"),
               {QStringLiteral("--norc"), QStringLiteral("-uc"),
                QStringLiteral("source ./script\nCOMP_WORDS=(%1)\nCOMP_CWORD=%2\n_tesseractl\n"
                               "printf '%s\\n' \"${COMPREPLY[@]-}\"")
                    .arg(words.join(u' '))
                    .arg(line.size())});
    QVERIFY(bash.waitForFinished(20000));
    QCOMPARE(QString::fromUtf8(bash.readAllStandardError()), QString());
    QStringList shown = QString::fromUtf8(bash.readAllStandardOutput()).trimmed().split(u'\n');
    shown.sort();
    QCOMPARE(shown, found);
    QCOMPARE(ReadText(folder.filePath(QStringLiteral("asked"))).trimmed(), asked);
  }

  // The shells ask for the same values, and wait for no more than 2 s.
  void allShellsAskForTheSameValues() {
    for (const std::string& script : {bashCompletion(), zshCompletion(), fishCompletion()}) {
      for (const char* part : {"job list", "status", "topology", "history", "profile list",
                               "models list", "rules list", "lesson list", "timeout 2 tesseractl",
                               "--cluster=", "2>/dev/null", "gpt-nano"})
        QVERIFY2(script.find(part) != std::string::npos, part);
    }
  }

  void scriptsAreValid_data() {
    QTest::addColumn<QString>("shell");
    QTest::addColumn<std::string>("script");
    QTest::newRow("bash") << "bash" << bashCompletion();
    QTest::newRow("zsh") << "zsh" << zshCompletion();
    QTest::newRow("fish") << "fish" << fishCompletion();
  }
  void scriptsAreValid() {
    QFETCH(QString, shell);
    QFETCH(std::string, script);
    for (const Command& command : commands())
      for (const OptionSpec& option : command.syntax.options)
        QVERIFY2(script.find(option.name) != std::string::npos, option.name.c_str());
    if (!Runs(shell)) QSKIP("this shell is not installed");
    QTemporaryDir folder;
    QFile file(folder.filePath(QStringLiteral("script")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(QByteArray::fromStdString(script));
    file.close();
    QProcess check;
    check.start(shell, {QStringLiteral("-n"), file.fileName()});
    QVERIFY(check.waitForFinished(20000));
    QCOMPARE(QString::fromUtf8(check.readAllStandardError()), QString());
    QCOMPARE(check.exitCode(), 0);
  }

  void everyVerbHasAManualPage() {
    std::set<std::string> files;
    for (const ManualPage& page : manualPages()) files.insert(page.file);
    std::set<std::string> programs;
    for (const std::string& file : files)
      if (!file.starts_with("tesseractl")) programs.insert(file);
    const std::set<std::string> built = {"tessera.1", "tessera-agent.1", "tessera-train.1"};
    QVERIFY(std::ranges::includes(built, programs) && programs.contains("tessera-agent.1"));
    QCOMPARE(files.size(), commands().size() + 1 + programs.size());
    QVERIFY(files.contains("tesseractl.1") && files.contains("tesseractl-job-start.1"));
  }

  void manualPagesAreValid() {
    if (!Runs(QStringLiteral("groff"))) QSKIP("groff is not installed");
    QTemporaryDir folder;
    QStringList words = {QStringLiteral("-man"), QStringLiteral("-Tutf8"), QStringLiteral("-ww"),
                         QStringLiteral("-z"),   QStringLiteral("-K"),     QStringLiteral("utf8")};
    for (const ManualPage& page : manualPages()) {
      QVERIFY2(QString::fromStdString(page.text).contains(QStringLiteral(".SH NAME")),
               page.file.c_str());
      QFile file(folder.filePath(QString::fromStdString(page.file)));
      QVERIFY(file.open(QIODevice::WriteOnly));
      file.write(QByteArray::fromStdString(page.text));
      words << file.fileName();
    }
    QProcess groff;
    groff.start(QStringLiteral("groff"), words);
    QVERIFY(groff.waitForFinished(60000));
    QCOMPARE(QString::fromUtf8(groff.readAllStandardError()), QString());
    QCOMPARE(groff.exitCode(), 0);
  }

 private:
  static void verbs() {
    QTest::addColumn<int>("index");
    const auto all = commands();
    for (std::size_t i = 0; i < all.size(); ++i)
      QTest::newRow(all[i].syntax.verb.c_str()) << static_cast<int>(i);
  }
  static Command verb() {
    QFETCH(int, index);
    return commands()[static_cast<std::size_t>(index)];
  }

  /// Describes what is wrong with a line that begins with `tesseractl`; empty for a valid one.
  static QString fits(const QString& line) {
    std::vector<std::string> words = ShellWords(line);
    if (words.empty() || words.front() != "tesseractl") return QStringLiteral("another program");
    words.erase(words.begin());
    std::erase(words, "...");
    // What else one gives, or one word, as in a message with a name.
    std::vector<std::string> named = words;
    std::ranges::replace(named, "…", "NAME");
    std::erase(words, "…");
    const QString problem = problemOf(words);
    return problem.isEmpty() || problemOf(named).isEmpty() ? QString() : problem;
  }
  static QString problemOf(const std::vector<std::string>& words) {
    std::string verb;  // a verb alone is a mention of it
    for (const std::string& word : words) verb += (verb.empty() ? "" : " ") + word;
    if (findCommand(verb) != nullptr) return {};
    const auto parsed = parseLine(words);
    return parsed ? QString() : QString::fromStdString(parsed.error().ToString());
  }
};

TESSERA_TEST_APPLESS(CommandTableTest)
#include "command_table_test.moc"
