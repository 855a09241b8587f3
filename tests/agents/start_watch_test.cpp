// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/start_watch.h"

#include <QTest>

#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::agents;
using namespace std::chrono_literals;

namespace {
constexpr std::int64_t kGiB = std::int64_t{1} << 30;
constexpr ptc::DeviceId kNear{0, 0}, kFar{1, 0}, kFarther{2, 3};
const StartWatch::Time kStart{};

QString textOf(const StartWatch& watch) { return QString::fromStdString(watch.Text()); }
QString lateOf(const StartWatch& watch, std::chrono::seconds after) {
  const auto late = watch.FindLate(kStart + after, 120s);
  return late ? QString::fromStdString(ToString(late->rank) + " " + late->what) : QString();
}
}  // namespace

class StartWatchTest : public QObject {
  Q_OBJECT

 private slots:
  void tellsHowFarTheSlowestIs() {
    StartWatch watch({kNear, kFar, kFarther}, kStart);
    QCOMPARE(textOf(watch), QString());
    watch.Note(kFar, {0, 0}, kStart);
    QCOMPARE(textOf(watch), QString("opening data: n1 is finding its files"));
    watch.Note(kFar, {0, 3 * kGiB}, kStart);
    QCOMPARE(textOf(watch), QString("opening data: n1 is finding its files, 3.0 GiB so far"));
    watch.Note(kFar, {3 * kGiB, 8 * kGiB}, kStart);
    QCOMPARE(textOf(watch), QString("opening data: n1 37.5 % of 8.0 GiB"));
    watch.Note(kFarther, {kGiB, 8 * kGiB}, kStart);
    QCOMPARE(textOf(watch), QString("opening data: n2 12.5 % of 8.0 GiB; 1 other node too"));
    watch.Note(kFarther, {8 * kGiB, 8 * kGiB}, kStart);
    QCOMPARE(textOf(watch), QString("opening data: n1 37.5 % of 8.0 GiB"));
    watch.NodeReady(1);
    QCOMPARE(textOf(watch), QString());
    watch.Note(kFar, {1, 2}, kStart);  // it is no longer watched
    QCOMPARE(textOf(watch), QString());
  }

  void aRankThatComesFurtherIsNeverLate() {
    StartWatch watch({kNear, kFar}, kStart);
    watch.Note(kNear, {8, 8}, kStart);
    for (auto at = 0s; at < 10000s; at += 119s) {
      watch.Note(kFar, {at.count(), 20000}, kStart + at);
      QCOMPARE(lateOf(watch, at + 119s), QString());
    }
  }

  void aRankThatStandsIsNamedAlsoWhileOthersGoOn() {
    StartWatch watch({kNear, kFar}, kStart);
    watch.Note(kFar, {kGiB, 4 * kGiB}, kStart + 10s);
    for (auto at = 0s; at <= 130s; at += 10s) watch.Note(kNear, {at.count(), 1000}, kStart + at);
    QCOMPARE(lateOf(watch, 130s), QString());
    QCOMPARE(lateOf(watch, 131s),
             QString("n1g0 made no progress with its data for 120 s: 25.0 % of 4.0 GiB"));
  }

  void whoSaysNothingHasTwoMinutesAfterTheLastWord() {
    StartWatch watch({kNear, kFar}, kStart);
    QCOMPARE(lateOf(watch, 120s), QString());
    QCOMPARE(lateOf(watch, 121s),
             QString("n0g0 was not ready after 120 s and reported no progress"));
    watch.Note(kNear, {1, 2}, kStart + 100s);
    watch.Note(kNear, {2, 2}, kStart + 150s);
    QCOMPARE(lateOf(watch, 270s), QString());
    QCOMPARE(lateOf(watch, 271s),
             QString("n1g0 was not ready after 120 s and reported no progress"));
    watch.NodeReady(1);
    QCOMPARE(lateOf(watch, 271s), QString("n0g0 was not ready 120 s after all data were open: its "
                                          "process groups are not connected"));
    watch.NodeReady(0);
    QCOMPARE(lateOf(watch, 10000s), QString());
  }
};

TESSERA_TEST_APPLESS(StartWatchTest)
#include "start_watch_test.moc"
