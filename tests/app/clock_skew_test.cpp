// SPDX-License-Identifier: Apache-2.0
// What is a skew, what may be the way of the answer, and what is no clock at all.
#include "app/commands/clock_skew.h"

#include <fmt/format.h>

#include <QTest>
#include <cmath>

#include "tests/support/test_main.h"

using tessera::app::clockSkewOf;
using tessera::engine::Check;

namespace {
constexpr double kNow = 1'800'000'000;

Check clockCheck(const std::string& value) { return {1, "clock", Check::Verdict::kOk, value, ""}; }
}  // namespace

class ClockSkewTest : public QObject {
  Q_OBJECT

 private slots:
  void judgement_data() {
    QTest::addColumn<double>("ahead");
    QTest::addColumn<double>("latency");
    QTest::addColumn<double>("skew");
    QTest::addColumn<bool>("isTolerable");
    QTest::newRow("equal") << 0.0 << 0.0 << 0.0 << true;
    QTest::newRow("ahead, within") << 0.9 << 0.0 << 0.9 << true;
    QTest::newRow("ahead, beyond") << 1.1 << 0.0 << 1.1 << false;
    QTest::newRow("behind, within") << -0.9 << 0.0 << -0.9 << true;
    QTest::newRow("behind, beyond") << -1.1 << 0.0 << -1.1 << false;
    QTest::newRow("a slow answer looks behind") << -1.5 << 3.0 << 0.0 << true;
    QTest::newRow("ten seconds of waiting for another node") << -10.0 << 10.0 << -5.0 << true;
    QTest::newRow("an hour off, slowly") << 3600.0 << 10.0 << 3605.0 << false;
  }
  void judgement() {
    QFETCH(double, ahead);
    QFETCH(double, latency);
    QFETCH(double, skew);
    const auto read = clockSkewOf(clockCheck(fmt::format("{:.3f}", kNow + ahead)), kNow, latency);
    QVERIFY(read);
    QVERIFY2(std::abs(read->seconds - skew) < 1e-3, fmt::format("{}", read->seconds).c_str());
    QTEST(read->isTolerable, "isTolerable");
  }

  void aTimeBecomesADistance_data() {
    QTest::addColumn<double>("ahead");
    QTest::addColumn<QString>("value");
    QTest::addColumn<bool>("isWarning");
    QTest::newRow("equal") << 0.0 << "within 0.1 s of this machine" << false;
    QTest::newRow("tolerable") << -0.84 << "within 0.8 s of this machine" << false;
    QTest::newRow("ahead") << 4.2 << "4.2 s ahead of this machine" << true;
    QTest::newRow("behind") << -60.0 << "60.0 s behind this machine" << true;
  }
  void aTimeBecomesADistance() {
    QFETCH(double, ahead);
    Check check = clockCheck(fmt::format("{:.3f}", kNow + ahead));
    tessera::app::readClock(check, kNow, 0);
    QTEST(QString::fromStdString(check.value), "value");
    QTEST(check.verdict == Check::Verdict::kWarning, "isWarning");
    QTEST(!check.remedy.empty(), "isWarning");
    // Other checks stay.
    Check other{1, "memory", Check::Verdict::kOk, "1800000000", ""};
    tessera::app::readClock(other, kNow, 0);
    QCOMPARE(other.value, std::string("1800000000"));
  }

  void noClock_data() {
    QTest::addColumn<QString>("value");
    for (const char* value : {"", "soon", "12 o'clock", "nan", "inf", "0x10"})
      QTest::newRow(value) << QString::fromLatin1(value);
  }
  void noClock() {
    QFETCH(QString, value);
    QVERIFY(!clockSkewOf(clockCheck(value.toStdString()), kNow, 0));
  }
  void anotherCheckIsNoClock() {
    QVERIFY(!clockSkewOf({1, "memory", Check::Verdict::kOk, "1800000000", ""}, kNow, 0));
  }
};

TESSERA_TEST(ClockSkewTest)
#include "clock_skew_test.moc"
