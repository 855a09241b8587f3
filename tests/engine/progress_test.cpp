// SPDX-License-Identifier: Apache-2.0
#include "engine/transfer/progress.h"

#include <QTest>
#include <cmath>

#include "tests/support/test_main.h"

using namespace tessera;
using engine::Progress;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {
const Progress::Time kStart{seconds{1000}};
bool Near(double a, double b) { return std::abs(a - b) <= 1e-9 * std::abs(b); }
}  // namespace

class ProgressTest : public QObject {
  Q_OBJECT
 private slots:
  void aSteadyRateIsKnownFromTheFirstUpdate() {
    Progress progress(100'000, kStart);
    for (int i = 1; i <= 50; ++i) {
      const auto now = kStart + milliseconds{100 * i};
      progress.Update(100 * i, now);
      QVERIFY(Near(progress.Rate(now), 1000));
    }
  }
  void etaWaitsForTwoSecondsOrTwoPercent() {
    Progress slow(100'000, kStart);
    slow.Update(100, kStart + milliseconds{1000});
    QVERIFY(!slow.Eta(kStart + milliseconds{1999}));
    slow.Update(200, kStart + seconds{2});
    QVERIFY(Near(*slow.Eta(kStart + seconds{2}), 998));

    Progress fast(100'000, kStart);
    fast.Update(1999, kStart + milliseconds{100});
    QVERIFY(!fast.Eta(kStart + milliseconds{100}));
    fast.Update(4000, kStart + milliseconds{200});
    QVERIFY(fast.Eta(kStart + milliseconds{200}).has_value());
  }
  void theRateFollowsWithATimeConstantOfFiveSeconds() {
    Progress progress(1'000'000'000, kStart);
    std::int64_t done = 0;
    int tick = 0;
    for (; tick < 1000; ++tick) progress.Update(done += 100, kStart + milliseconds{100 * tick});
    for (int i = 0; i < 50; ++i, ++tick) {
      progress.Update(done += 200, kStart + milliseconds{100 * tick});
    }
    // 1000 B/s for long, then 2000 B/s for 5 s: the rate has moved by 1 - 1/e of the step.
    const double expected = 1000 + 1000 * (1 - std::exp(-1.0));
    QVERIFY(std::abs(progress.Rate(kStart + milliseconds{100 * (tick - 1)}) - expected) < 1);
  }
  void standingStillLowersRateAndRaisesEta() {
    Progress progress(10'000, kStart);
    progress.Update(4000, kStart + seconds{4});
    const double before = *progress.Eta(kStart + seconds{4});
    const double after = *progress.Eta(kStart + seconds{10});
    QVERIFY(Near(before, 6));
    QVERIFY(after > 3 * before);
    QVERIFY(progress.Rate(kStart + seconds{10}) < 400);
  }
  // The range of a steady rate is the estimate. A rate that jumps has a range around it.
  void theRangeShowsHowTheRateVaries() {
    Progress steady(1'000'000, kStart);
    Progress jumps(1'000'000, kStart);
    std::int64_t jumped = 0;
    for (int i = 1; i <= 100; ++i) {
      const auto now = kStart + milliseconds{100 * i};
      steady.Update(1000 * i, now);
      jumps.Update(jumped += i % 2 ? 0 : 2000, now);
    }
    const auto now = kStart + seconds{10};
    QVERIFY(Near(steady.EtaRange(now)->least, *steady.Eta(now)));
    QVERIFY(Near(steady.EtaRange(now)->most, *steady.Eta(now)));
    const auto range = jumps.EtaRange(now);
    QVERIFY(range->least < 0.9 * *jumps.Eta(now));
    QVERIFY(range->most > 1.1 * *jumps.Eta(now));
    // With bursts of seconds, little is known; the range stays within its bound.
    Progress bursts(1'000'000, kStart);
    bursts.Update(1, kStart + seconds{2});
    bursts.Update(20'000, kStart + seconds{4});
    bursts.Update(20'001, kStart + seconds{6});
    const auto wide = bursts.EtaRange(kStart + seconds{6});
    QVERIFY(wide->most > 2 * *bursts.Eta(kStart + seconds{6}));
    QVERIFY(wide->most <= 4 * *bursts.Eta(kStart + seconds{6}));
    QVERIFY(!Progress(100, kStart).EtaRange(kStart + seconds{1}));
  }
  void updatesOfOneMomentAreAddedUp() {
    Progress progress(10'000, kStart);
    progress.Update(500, kStart + seconds{1});
    progress.Update(1000, kStart + seconds{1});
    progress.Update(2000, kStart + seconds{2});
    QCOMPARE(progress.bytes_done(), 2000);
    // 500 in the first second, 1500 in the second.
    const double e = std::exp(-0.2);
    QVERIFY(Near(progress.Rate(kStart + seconds{2}), (1 - e) * (1500 + 500 * e) / (1 - e * e)));
  }
  void endsAndEmptyTransfersHaveNothingLeft() {
    Progress progress(100, kStart);
    progress.Update(100, kStart + milliseconds{1});
    QCOMPARE(*progress.Eta(kStart + milliseconds{1}), 0.0);
    QCOMPARE(*Progress(0, kStart).Eta(kStart), 0.0);
    QVERIFY(!Progress(100, kStart).Eta(kStart + seconds{5}));  // nothing moves: no promise
  }
};
TESSERA_TEST_APPLESS(ProgressTest)
#include "progress_test.moc"
