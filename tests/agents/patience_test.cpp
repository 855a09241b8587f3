// SPDX-License-Identifier: Apache-2.0
#include "agents/train/comm/patience.h"

#include <QTest>

#include "tests/support/test_main.h"

using tessera::agents::train::Patience;
using namespace std::chrono_literals;

class PatienceTest : public QObject {
  Q_OBJECT

 private slots:
  void theFirstStepsMayTakeLong() {
    Patience patience;
    QCOMPARE(patience.limit(), Patience::Milliseconds(10min));
    patience.Note(1s);
    patience.Note(1s);
    QCOMPARE(patience.limit(), Patience::Milliseconds(10min));
    patience.Note(1s);
    QCOMPARE(patience.limit(), Patience::Milliseconds(30s));
  }

  // Steps of more than a minute are not taken for a rank that hangs.
  void itFollowsTheMedianStep() {
    Patience patience;
    for (int i = 0; i < 5; ++i) patience.Note(70s);
    QCOMPARE(patience.limit(), Patience::Milliseconds(1400s));
    patience.Note(9000s);  // one slow step changes nothing
    QCOMPARE(patience.limit(), Patience::Milliseconds(1400s));
    for (int i = 0; i < 32; ++i) patience.Note(2s);
    QCOMPARE(patience.limit(), Patience::Milliseconds(40s));
  }

  void aGivenLimitStays() {
    Patience patience(5s);
    for (int i = 0; i < 5; ++i) patience.Note(70s);
    QCOMPARE(patience.limit(), Patience::Milliseconds(5s));
  }
};

TESSERA_TEST_APPLESS(PatienceTest)
#include "patience_test.moc"
