// SPDX-License-Identifier: Apache-2.0
#include "ptc/base/json_reader.h"

#include <QTest>

#include "tests/support/test_main.h"

using namespace tessera;

namespace {

QString Text(const std::string& text) { return QString::fromStdString(text); }

/// Reads the members a (text), n (integer in 1..9), r (number in 0..1), b (bool) and l (texts).
struct Members {
  std::string a = "default";
  std::int64_t n = 5;
  double r = 0.5;
  bool b = true;
  std::vector<std::string> l = {"x"};
};
Result<Members> ReadMembers(const NamedText& file) {
  TESSERA_TRY(const JsonValue root, ParseJson(file));
  TESSERA_TRY(const JsonReader reader,
              JsonReader::Make(file, root, "a thing", {"a", "n", "r", "b", "l"}));
  Members members;
  TESSERA_RETURN_IF_ERROR(reader.Optional("a", members.a));
  TESSERA_RETURN_IF_ERROR(reader.Optional("n", members.n, 1, 9));
  TESSERA_RETURN_IF_ERROR(reader.Optional("r", members.r, 0, 1));
  TESSERA_RETURN_IF_ERROR(reader.Optional("b", members.b));
  TESSERA_RETURN_IF_ERROR(reader.Optional("l", members.l));
  return members;
}

}  // namespace

class JsonReaderTest : public QObject {
  Q_OBJECT
 private slots:
  void membersThatAreMissingKeepTheirValues() {
    const auto members = ReadMembers({"f", "{}"});
    QVERIFY(members);
    QCOMPARE(Text(members->a), QString("default"));
    QCOMPARE(members->n, 5);
    QCOMPARE(members->r, 0.5);
    QVERIFY(members->b);
    QCOMPARE(members->l.size(), std::size_t{1});
  }

  void membersAreRead() {
    const auto members =
        ReadMembers({"f", "{\"a\": \"\\u00e4\", \"n\": 9, \"r\": 1e-1, \"b\": false, \"l\": []}"});
    QVERIFY(members);
    QCOMPARE(Text(members->a), QString::fromUtf8("ä"));
    QCOMPARE(members->n, 9);
    QCOMPARE(members->r, 0.1);
    QVERIFY(!members->b);
    QVERIFY(members->l.empty());
  }

  void errorsNameLineKeyLimitAndValue_data() {
    QTest::addColumn<QString>("member");
    QTest::addColumn<QString>("message");
    const auto row = [](const char* member, const char* message) {
      QTest::newRow(member) << member << message;
    };
    row("\"n\": 10", "'n' must be a whole number in 1..9, not 10");
    row("\"n\": 0", "'n' must be a whole number in 1..9, not 0");
    row("\"n\": 1.0", "'n' must be a whole number in 1..9, not 1.0");
    row("\"n\": 99999999999999999999",
        "'n' must be a whole number in 1..9, not 99999999999999999999");
    row("\"r\": 2", "'r' must be a number in 0..1, not 2");
    row("\"r\": \"half\"", "'r' must be a number in 0..1, not 'half'");
    row("\"b\": 1", "'b' must be true or false, not 1");
    row("\"a\": {}", "'a' must be a text, not an object");
    row("\"l\": [\"x\", null]", "'l' must be a list of texts, not of null");
    row("\"l\": \"x\"", "'l' must be a list, not 'x'");
    row("\"z\": 1", "unknown key 'z', a thing has a, n, r, b, l");
    row("\"a\": \"\", \"a\": \"\"", "key 'a' appears twice in an object");
  }
  void errorsNameLineKeyLimitAndValue() {
    QFETCH(QString, member);
    QFETCH(QString, message);
    const std::string text = "{\n" + member.toStdString() + "\n}";
    const auto named = ReadMembers({"f.json", text});
    QVERIFY(!named);
    QCOMPARE(Text(named.error().ToString()), "f.json:2: " + message);
  }

  // A text without a name has no position, for callers that name a path.
  void errorsOfUnnamedTextsHaveNoPosition() {
    const auto members = ReadMembers({"", "\n{\"n\": 10}"});
    QVERIFY(!members);
    QCOMPARE(Text(members.error().ToString()),
             QString("'n' must be a whole number in 1..9, not 10"));
    const auto broken = ReadMembers({"", "{\"n\": ]"});
    QVERIFY(!broken);
    QCOMPARE(Text(broken.error().ToString()), QString("not json at byte 7"));
  }

  void anyBytesAreQuotedAsJson() {
    QCOMPARE(Text(JsonQuoted("a\"\\\n")), QString("\"a\\\"\\\\\\n\""));
    QCOMPARE(Text(JsonQuoted("\xff")), QString::fromUtf8("\"\xef\xbf\xbd\""));
  }
};

TESSERA_TEST_APPLESS(JsonReaderTest)
#include "json_reader_test.moc"
