// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/crash_guard.h"

#include <QTest>

#include "tests/support/test_main.h"

using tessera::agents::CrashGuard;

class CrashGuardTest : public QObject {
  Q_OBJECT

 private slots:
  void theThirdCrashWithinTenStepsIsTheLast() {
    CrashGuard guard;
    QVERIFY(guard.Note(100));
    QVERIFY(guard.Note(105));
    QVERIFY(!guard.Note(110));
    guard.Forgive();
    QVERIFY(guard.Note(110));
  }

  void crashesFarApartAreForgiven() {
    CrashGuard guard;
    for (std::int64_t step = 0; step < 100; step += 6) QVERIFY(guard.Note(step));
  }

  void aStateHandedInFromAnEarlierStepCountsToo() {
    CrashGuard guard;
    QVERIFY(guard.Note(500));
    QVERIFY(guard.Note(3));
    QVERIFY(!guard.Note(4));
  }
};

TESSERA_TEST_APPLESS(CrashGuardTest)
#include "crash_guard_test.moc"
