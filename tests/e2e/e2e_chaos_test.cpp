// SPDX-License-Identifier: Apache-2.0
// Rounds of random failures, on loopback and on machines: see chaos.h. `chaos_bench` makes more of
// them. QtTest ends a function after 300 s.
#include <QTest>

#include "tests/e2e/chaos.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

class E2eChaosTest : public QObject {
  Q_OBJECT

 private:
  /// The failures must have hit something.
  static void Rounds(Chaos& chaos, int rounds) {
    for (int i = 0; i < rounds; ++i) {
      const QString wrong = chaos.Round();
      qInfo("round %d: %s", i, qPrintable(chaos.story()));
      QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    }
    const QString wrong = chaos.Finish();
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    qInfo("%s", qPrintable(chaos.Summary()));
    const Chaos::Count& count = chaos.count();
    QVERIFY(count.committed > 0);
    QVERIFY(count.restarts + count.recoveries + count.returns > 0);
    QVERIFY(count.compared > 0);
    QVERIFY(count.rolled_back + count.unknown > 0);
  }

 private slots:
  void twentyRounds() {
    Chaos chaos(20261125, Chaos::Place::kLoopback);
    Rounds(chaos, 20);
  }

  // The seed has cuts at fault points, one of them of the registrar's machine, and the loss of a
  // node.
  void tenRoundsOnMachines() {
    Chaos chaos(4, Chaos::Place::kMachines);
    if (!chaos.problem().isEmpty()) QSKIP(qPrintable(chaos.problem()));
    Rounds(chaos, 10);
    QVERIFY(chaos.count().cuts > 0);
  }
};

TESSERA_TEST(E2eChaosTest)
#include "e2e_chaos_test.moc"
