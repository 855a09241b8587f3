// SPDX-License-Identifier: Apache-2.0
#include "agents/net/backoff.h"

#include <QTest>
#include <vector>

#include "tests/support/test_main.h"

using tessera::agents::Backoff;

class BackoffTest : public QObject {
  Q_OBJECT

 private slots:
  void pausesDoubleUpToTheLongest() {
    Backoff backoff;
    std::vector<long> pauses;
    for (int i = 0; i < 10; ++i) pauses.push_back(backoff.Next().count());
    QCOMPARE(pauses,
             (std::vector<long>{250, 500, 1000, 2000, 4000, 8000, 16'000, 30'000, 30'000, 30'000}));
  }

  void aSuccessStartsOver() {
    Backoff backoff;
    for (int i = 0; i < 5; ++i) static_cast<void>(backoff.Next());
    backoff.Reset();
    QCOMPARE(backoff.Next(), std::chrono::milliseconds(250));
    QCOMPARE(backoff.Next(), std::chrono::milliseconds(500));
  }
};

TESSERA_TEST_APPLESS(BackoffTest)
#include "backoff_test.moc"
