// SPDX-License-Identifier: Apache-2.0
// Twenty rounds of random failures: see chaos.h. `chaos_bench` makes more of them.
#include <QTest>

#include "tests/e2e/chaos.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

class E2eChaosTest : public QObject {
  Q_OBJECT

 private slots:
  void twentyRounds() {
    constexpr int kRounds = 20;
    Chaos chaos(20261123);
    for (int i = 0; i < kRounds; ++i) {
      const QString wrong = chaos.Round();
      qInfo("round %d: %s", i, qPrintable(chaos.story()));
      QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    }
    const QString wrong = chaos.Finish();
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    const Chaos::Count& count = chaos.count();
    qInfo(
        "%d committed, %d rolled back, %d unknown to the client; %d restarts, %d recoveries, "
        "%d returns to a snapshot",
        count.committed, count.rolled_back, count.unknown, count.restarts, count.recoveries,
        count.returns);
    // The failures have hit something.
    QVERIFY(count.committed > 0 && count.restarts > 0);
    QVERIFY(count.rolled_back + count.unknown > 0);
  }
};

TESSERA_TEST(E2eChaosTest)
#include "e2e_chaos_test.moc"
