// SPDX-License-Identifier: Apache-2.0
#include "ui/format.h"

#include <QLocale>
#include <QTest>

#include "tests/support/test_main.h"

using namespace tessera;
namespace format = tessera::ui::format;

class FormatTest : public QObject {
  Q_OBJECT
 private slots:
  void timesOfOtherDaysHaveTheirDate() {
    const auto at = [](const QDate& day) {
      const QDateTime time(day, QTime(14, 2, 31));
      return static_cast<double>(time.toMSecsSinceEpoch()) / 1000;
    };
    QCOMPARE(ui::format::shortClock(at(QDate::currentDate())), QStringLiteral("14:02:31"));
    QCOMPARE(ui::format::shortClock(at(QDate(2025, 6, 15))), QStringLiteral("06-15 14:02:31"));
  }
  void numbersOfUnknownSize() {
    QCOMPARE(ui::format::quantity(0), QStringLiteral("0"));
    QCOMPARE(ui::format::quantity(0.9125), QStringLiteral("0.9125"));
    QCOMPARE(ui::format::quantity(-12345), QStringLiteral("-12,345"));
    QCOMPARE(ui::format::quantity(1.21e6), QStringLiteral("1.21 M"));
    QCOMPARE(ui::format::quantity(3e-5), QStringLiteral("3.00E-05"));
    QCOMPARE(ui::format::quantity(std::nan("")), ui::format::unknown());
    QCOMPARE(ui::format::quantity(-HUGE_VAL), QStringLiteral("−∞"));
  }
  void initTestCase() { QLocale::setDefault(QLocale(QLocale::English)); }
  void cleanup() { QLocale::setDefault(QLocale(QLocale::English)); }

  void bytes_data() {
    QTest::addColumn<qint64>("count");
    QTest::addColumn<QString>("text");
    QTest::newRow("none") << qint64{0} << "0 B";
    QTest::newRow("below a unit") << qint64{512} << "512 B";
    QTest::newRow("exact has no decimals") << (qint64{512} << 10) << "512 KiB";
    QTest::newRow("one decimal") << qint64{39'216'742} << "37.4 MiB";
    QTest::newRow("small, one decimal") << qint64{9'856'614} << "9.4 MiB";
    QTest::newRow("from 100 none") << (qint64{118} << 20) + 400'000 << "118 MiB";
    QTest::newRow("rounds up to the next unit") << ((qint64{1} << 20) - 1) << "1.0 MiB";
    QTest::newRow("rounds to 100") << qint64{104'852'357} << "100 MiB";
    QTest::newRow("large") << (qint64{412} << 30) << "412 GiB";
    QTest::newRow("largest") << std::numeric_limits<qint64>::max() << "8192 PiB";
  }
  void bytes() {
    QFETCH(qint64, count);
    QLocale plain(QLocale::English);
    plain.setNumberOptions(QLocale::OmitGroupSeparator);
    QLocale::setDefault(plain);
    QTEST(format::bytes(count), "text");
  }

  void bytesOfSharesAUnit() {
    QCOMPARE(format::bytesOf(118 << 20, 512 << 20), QStringLiteral("118 of 512 MiB"));
    QCOMPARE(format::bytesOf(0, 512 << 20), QStringLiteral("0 of 512 MiB"));
    QCOMPARE(format::bytesOf(17 << 10, 512 << 20), QStringLiteral("17 KiB of 512 MiB"));
  }

  void bytesAsTakeTheUnitOfAnother() {
    const std::int64_t gib = std::int64_t{1} << 30;
    QCOMPARE(format::bytesAs(gib * 3 / 2, 18 * gib), QStringLiteral("1.5"));
    QCOMPARE(format::bytesAs(2048 * gib, 18 * gib), QStringLiteral("2,048"));
    QCOMPARE(format::bytesAs(1, 18 * gib), QStringLiteral("<0.1"));
    QCOMPARE(format::bytesAs(0, 18 * gib), QStringLiteral("0"));
  }

  void rate_data() {
    QTest::addColumn<double>("value");
    QTest::addColumn<QString>("text");
    QTest::newRow("none") << 0.0 << "0 B/s";
    QTest::newRow("megabytes") << 98e6 << "98 MB/s";
    QTest::newRow("few megabytes") << 9.4e6 << "9.4 MB/s";
    QTest::newRow("gigabytes") << 12.1e9 << "12.1 GB/s";
    QTest::newRow("just below a unit") << 999.9e6 << "1.0 GB/s";
  }
  void rate() {
    QFETCH(double, value);
    QTEST(format::rate(value), "text");
  }

  void seconds_data() {
    QTest::addColumn<double>("value");
    QTest::addColumn<QString>("text");
    QTest::newRow("none") << 0.0 << "0 s";
    QTest::newRow("microseconds") << 350e-6 << "350 µs";
    QTest::newRow("few milliseconds") << 0.0035 << "3.5 ms";
    QTest::newRow("milliseconds") << 0.035 << "35 ms";
    QTest::newRow("hundredths") << 0.31 << "0.31 s";
    QTest::newRow("tenths") << 4.1 << "4.1 s";
    QTest::newRow("rounds to the next form") << 9.96 << "10 s";
    QTest::newRow("seconds") << 42.0 << "42 s";
    QTest::newRow("minutes") << 185.0 << "3 min 5 s";
    QTest::newRow("hours") << 7440.0 << "2 h 4 min";
    QTest::newRow("negative") << -4.1 << "−4.1 s";
  }
  void seconds() {
    QFETCH(double, value);
    QTEST(format::seconds(value), "text");
  }

  void agesAndWaits() {
    QCOMPARE(format::age(0.4), QStringLiteral("just now"));
    QCOMPARE(format::age(12.9), QStringLiteral("12 s ago"));
    QCOMPARE(format::age(200), QStringLiteral("3 min ago"));
    QCOMPARE(format::wait(5), QStringLiteral("5 s"));
    QCOMPARE(format::wait(185), QStringLiteral("3 min 5 s"));
  }

  void countsFollowTheLocale() {
    QCOMPARE(format::count(1284), QStringLiteral("1,284"));
    QLocale::setDefault(QLocale(QLocale::German));
    QCOMPARE(format::count(1284), QStringLiteral("1.284"));
    QCOMPARE(format::bytes(39'216'742), QStringLiteral("37,4 MiB"));
    QLocale::setDefault(QLocale::c());
    QCOMPARE(format::count(1284), QStringLiteral("1,284"));  // no locale: for people all the same
  }

  void shortCounts() {
    QCOMPARE(format::shortCount(950), QStringLiteral("950"));
    QCOMPARE(format::shortCount(5800), QStringLiteral("5.8 k"));
    QCOMPARE(format::shortCount(96'000), QStringLiteral("96 k"));
    QCOMPARE(format::shortCount(1.21e6), QStringLiteral("1.21 M"));
    QCOMPARE(format::shortCount(999'900), QStringLiteral("1.00 M"));
  }

  void percentIsWholeOnlyAtTheEnd() {
    QCOMPARE(format::percent(0.617), QStringLiteral("62 %"));
    QCOMPARE(format::percent(0.9999), QStringLiteral("99 %"));
    QCOMPARE(format::percent(1), QStringLiteral("100 %"));
    QCOMPARE(format::percent(-1), QStringLiteral("0 %"));
    QCOMPARE(format::percent(7), QStringLiteral("100 %"));
  }

  void namesOfThings() {
    ptc::MeshShape shape;
    shape[ptc::Axis::kDp] = 4;
    shape[ptc::Axis::kTp] = 2;
    QCOMPARE(format::shape(shape), QStringLiteral("4 × 2 × 1"));
    shape[ptc::Axis::kCp] = 2;
    QCOMPARE(format::shape(shape), QStringLiteral("4 × 2 × 1 · cp 2"));
    QCOMPARE(format::device({1, 3}), QStringLiteral("n1g3"));
    QCOMPARE(format::gpus(1), QStringLiteral("1 GPU"));
    QCOMPARE(format::gpus(4), QStringLiteral("4 GPUs"));
    QCOMPARE(format::orUnknown(std::nullopt), QStringLiteral("—"));
  }

  void errorIsOneLine() {
    const Error error{ErrorCode::kFailedPrecondition, "epoch 3 is\nnot epoch 4", "apply"};
    QCOMPARE(format::error(error),
             QStringLiteral("Not possible now: apply: epoch 3 is not epoch 4"));
    QVERIFY(!format::error({ErrorCode::kTimeout, {}, {}}).isEmpty());
  }

  // Every value of every enum has words of its own.
  void wordsAreDistinct() {
    const auto distinct = [](auto first, auto last) {
      QSet<QString> words;
      int number = 0;
      for (int i = static_cast<int>(first); i <= static_cast<int>(last); ++i, ++number) {
        words.insert(format::text(static_cast<decltype(first)>(i)));
      }
      return words.size() == number && !words.contains(QString());
    };
    QVERIFY(distinct(engine::NodeState::kJoining, engine::NodeState::kLeft));
    QVERIFY(distinct(engine::JobState::kStarting, engine::JobState::kFailed));
    QVERIFY(distinct(engine::TxnPhase::kPlanned, engine::TxnPhase::kInDoubt));
    QVERIFY(distinct(engine::Severity::kDebug, engine::Severity::kError));
    QVERIFY(distinct(ErrorCode::kInvalidArgument, ErrorCode::kInternal));
  }
};
TESSERA_TEST_APPLESS(FormatTest)
#include "format_test.moc"
