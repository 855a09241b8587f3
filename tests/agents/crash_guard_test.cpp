// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/crash_guard.h"

#include <QTest>

#include "tests/support/test_main.h"

using tessera::agents::CrashGuard;
using tessera::agents::RankEnd;

class CrashGuardTest : public QObject {
  Q_OBJECT

 private slots:
  void theThirdCrashWithinTenStepsIsTheLast() {
    CrashGuard guard;
    QVERIFY(guard.Note(100, RankEnd::kCrash));
    QVERIFY(guard.Note(105, RankEnd::kCrash));
    QVERIFY(!guard.Note(110, RankEnd::kCrash));
    guard.Forgive();
    QVERIFY(guard.Note(110, RankEnd::kCrash));
  }

  void crashesFarApartAreForgiven() {
    CrashGuard guard;
    for (std::int64_t step = 0; step < 100; step += 6) QVERIFY(guard.Note(step, RankEnd::kCrash));
  }

  void aRefusalIsTheLast() {
    CrashGuard guard;
    QVERIFY(!guard.Note(100, RankEnd::kRefusal));
    QVERIFY(guard.Note(100, RankEnd::kCrash));
  }

  void aStateHandedInFromAnEarlierStepCountsToo() {
    CrashGuard guard;
    QVERIFY(guard.Note(500, RankEnd::kCrash));
    QVERIFY(guard.Note(3, RankEnd::kCrash));
    QVERIFY(!guard.Note(4, RankEnd::kCrash));
  }
};

TESSERA_TEST_APPLESS(CrashGuardTest)
#include "crash_guard_test.moc"
