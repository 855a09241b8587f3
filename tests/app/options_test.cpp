// SPDX-License-Identifier: Apache-2.0
#include "app/commands/options.h"

#include <QTest>

#include "app/commands/help.h"
#include "tests/support/test_main.h"

using namespace tessera::app;
using Words = std::vector<std::string>;

namespace {
const Syntax kSyntax{
    .verb = "move",
    .summary = "Move something",
    .words = {{"JOB", "job"}, {"WHERE", "place", false}},
    .options = {
        {.name = "devices", .value = "LIST", .help = "list"},
        {.name = "zero", .value = "", .help = "shard", .fallback = "off", .choices = {"on", "off"}},
        outputOption("file", "none"),
        yesOption(),
        quietOption()}};
}  // namespace

class OptionsTest : public QObject {
  Q_OBJECT

 private slots:
  void readsWordsAndOptions() {
    const auto arguments =
        parseArguments(kSyntax, Words{"--devices", "a", "gpt", "--yes", "--devices=b=c", "--json"});
    QVERIFY(arguments.has_value());
    QCOMPARE(arguments->word(0), std::string("gpt"));
    QCOMPARE(arguments->numWords(), std::size_t{1});
    QVERIFY(arguments->has("yes"));
    QVERIFY(arguments->has("json"));
    QVERIFY(!arguments->has("cluster"));
    QCOMPARE(*arguments->value("devices"), std::string("b=c"));
    QCOMPARE(arguments->values("devices"), (Words{"a", "b=c"}));
  }

  void twoDashesEndTheOptions() {
    const auto arguments = parseArguments(kSyntax, Words{"--", "--yes"});
    QVERIFY(arguments.has_value());
    QCOMPARE(arguments->word(0), std::string("--yes"));
    QVERIFY(!arguments->has("yes"));
  }

  void lettersHaveValues_data() {
    QTest::addColumn<Words>("words");
    QTest::newRow("apart") << Words{"gpt", "-o", "file", "-y"};
    QTest::newRow("together") << Words{"gpt", "-ofile", "-y"};
    QTest::newRow("switches in front") << Words{"-yqo", "file", "gpt"};
    QTest::newRow("switches and value") << Words{"-yqofile", "gpt"};
  }
  void lettersHaveValues() {
    QFETCH(Words, words);
    const auto arguments = parseArguments(kSyntax, words);
    QVERIFY(arguments.has_value());
    QCOMPARE(*arguments->value("output"), std::string("file"));
    QVERIFY(arguments->has("yes"));
    QCOMPARE(arguments->word(0), std::string("gpt"));
  }

  void leadingOptionsEndAtTheVerb() {
    const Syntax program{.verb = "tesseractl", .summary = ""};
    QCOMPARE(*countLeadingOptions(program, Words{"--cluster", "a", "--json", "up", "--json"}),
             std::size_t{3});
    QCOMPARE(*countLeadingOptions(program, Words{"--cluster=a", "up"}), std::size_t{1});
    QVERIFY(!countLeadingOptions(program, Words{"--cluster"}));
    QVERIFY(!countLeadingOptions(program, Words{"--clutser", "a"}));
  }

  void helpNeedsNoWords() {
    QVERIFY(parseArguments(kSyntax, Words{"--help"}).has_value());
    QVERIFY(parseArguments(kSyntax, Words{"-h"})->has("help"));
  }

  void refuses_data() {
    QTest::addColumn<Words>("words");
    QTest::addColumn<QString>("message");
    const auto row = [](const char* name, const Words& words, const char* message) {
      QTest::newRow(name) << words << QString::fromLatin1(message);
    };
    row("unknown option", {"gpt", "--devcies", "x"},
        "unknown option '--devcies' of `move`; did you mean --devices?");
    row("a number of GPUs", {"gpt", "--gpus", "4"},
        "unknown option '--gpus' of `move`; did you mean --devices?");
    row("unknown option with a value", {"gpt", "--speed=3"}, "unknown option '--speed' of `move`");
    row("one dash", {"gpt", "-yes"}, "unknown option '-yes' of `move`; did you mean --yes?");
    row("a letter", {"gpt", "-x"}, "unknown option '-x' of `move`");
    row("letter without its value", {"gpt", "-o"}, "option '-o' needs a value FILE");
    row("not a choice", {"gpt", "--zero", "of"},
        "--zero 'of' is not one of on, off; did you mean off?");
    row("missing value", {"gpt", "--devices"}, "option '--devices' needs a value LIST");
    row("value for a switch", {"gpt", "--yes=1"}, "option '--yes' takes no value");
    row("missing word", {"--yes"}, "`move` needs JOB");
    row("too many words", {"a", "b", "c"}, "unexpected word 'c' after `move`");
  }
  void refuses() {
    QFETCH(Words, words);
    QFETCH(QString, message);
    const auto arguments = parseArguments(kSyntax, words);
    QVERIFY(!arguments);
    QCOMPARE(arguments.error().code, tessera::ErrorCode::kInvalidArgument);
    QCOMPARE(QString::fromStdString(arguments.error().ToString()), message);
  }

  void integerHasARange_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<bool>("good");
    QTest::newRow("least") << "1" << true;
    QTest::newRow("most") << "64" << true;
    QTest::newRow("below") << "0" << false;
    QTest::newRow("above") << "65" << false;
    QTest::newRow("negative") << "-1" << false;
    QTest::newRow("trailing letters") << "12x" << false;
    QTest::newRow("fraction") << "1.5" << false;
    QTest::newRow("overflow") << "99999999999999999999" << false;
    QTest::newRow("empty") << "" << false;
  }
  void integerHasARange() {
    QFETCH(QString, text);
    QFETCH(bool, good);
    const auto arguments = parseArguments(kSyntax, Words{"gpt", "--devices=" + text.toStdString()});
    QVERIFY(arguments.has_value());
    const auto number = arguments->integer("devices", 7, 1, 64);
    QCOMPARE(number.has_value(), good);
    if (good) QCOMPARE(*number, text.toLongLong());
    if (!good) QVERIFY(number.error().message.find("from 1 to 64") != std::string::npos);
    QCOMPARE(*arguments->integer("other", 7, 1, 64), std::int64_t{7});
  }

  void helpListsEverything() {
    const std::string help = helpOf("tesseractl", kSyntax);
    for (const char* part : {"Usage: tesseractl move JOB [WHERE] [options]", "Move something.",
                             "      --devices LIST  list\n", "  -y, --yes           do not ask\n",
                             "--zero on|off   shard (default: off)\n", "--cluster NAME|FILE",
                             "--json", "--help", "--version"})
      QVERIFY2(help.find(part) != std::string::npos, part);
  }
};

TESSERA_TEST_APPLESS(OptionsTest)
#include "options_test.moc"
