// SPDX-License-Identifier: Apache-2.0
// What end-to-end tests compare with: what is missing on both sides is not equal.
#include <QTest>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "tests/e2e/losses.h"
#include "tests/support/digests.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

class ComparisonsTest : public QObject {
  Q_OBJECT

 private slots:
  void digestsAreThereAndEqual_data() {
    QTest::addColumn<QString>("before");
    QTest::addColumn<QString>("after");
    QTest::addColumn<QString>("wrong");
    const QString digest = QStringLiteral("\"0123456789abcdef\"");
    const QString no = QStringLiteral("this is not a digest");
    QTest::newRow("equal") << digest << digest << QString();
    QTest::newRow("another") << digest << QStringLiteral("\"0123456789abcdee\"")
                             << QStringLiteral("the digests differ");
    QTest::newRow("both empty") << QStringLiteral("\"\"") << QStringLiteral("\"\"") << no;
    QTest::newRow("both missing") << QStringLiteral("null") << QStringLiteral("null") << no;
    QTest::newRow("one missing") << digest << QStringLiteral("null") << no;
    QTest::newRow("too short") << QStringLiteral("\"0123\"") << QStringLiteral("\"0123\"") << no;
    QTest::newRow("no digits") << QStringLiteral("\"0123456789abcdeg\"")
                               << QStringLiteral("\"0123456789abcdeg\"") << no;
  }
  void digestsAreThereAndEqual() {
    QFETCH(QString, before);
    QFETCH(QString, after);
    QFETCH(QString, wrong);
    const QString said = QString::fromStdString(
        WrongDigests(Json::parse(before.toStdString()), Json::parse(after.toStdString())));
    QVERIFY2(wrong.isEmpty() ? said.isEmpty() : said.startsWith(wrong), qPrintable(said));
  }

  void runsHaveTheSameSteps() {
    const Run run = {{1, {2.0, 1}}, {2, {1.5, 1}}, {3, {1.0, 1}}};
    QCOMPARE(LargestDifference(run, run), 0.0);
    Run other = run;
    other.at(2).loss = 1.2;
    QVERIFY(std::abs(LargestDifference(run, other) - 0.2) < 1e-12);
    other.at(2).loss = std::numeric_limits<double>::quiet_NaN();
    QVERIFY(std::isinf(LargestDifference(run, other)));
    // A step that one of them does not have, at the end or within.
    QVERIFY(std::isinf(LargestDifference(run, UpTo(2, run))));
    QVERIFY(std::isinf(LargestDifference(UpTo(2, run), run)));
    other = run;
    other.extract(2);
    other[4] = {0.5, 1};
    QVERIFY(std::isinf(LargestDifference(run, other)));
    QVERIFY(std::isinf(LargestDifference({}, {})));
  }

  void aRunUpToAStep() {
    const Run run = {{1, {2.0, 1}}, {3, {1.0, 1}}};
    QCOMPARE(UpTo(2, run).size(), std::size_t{1});
    QCOMPARE(UpTo(3, run).size(), std::size_t{2});
    QCOMPARE(UpTo(9, run).size(), std::size_t{2});
  }
};

TESSERA_TEST(ComparisonsTest)
#include "comparisons_test.moc"
