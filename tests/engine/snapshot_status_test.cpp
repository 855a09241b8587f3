// SPDX-License-Identifier: Apache-2.0
#include "engine/cluster/snapshot_status.h"

#include <QTest>

#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::engine;

class SnapshotStatusTest : public QObject {
  Q_OBJECT

 private slots:
  void intervals_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<qint64>("steps");
    QTest::addColumn<qint64>("seconds");
    QTest::addColumn<QString>("again");
    QTest::newRow("off") << "off" << qint64{0} << qint64{0} << "off";
    QTest::newRow("steps") << "20" << qint64{20} << qint64{0} << "20";
    QTest::newRow("seconds") << "30s" << qint64{0} << qint64{30} << "30s";
    QTest::newRow("minutes") << "5m" << qint64{0} << qint64{300} << "300s";
    QTest::newRow("hours") << "24h" << qint64{0} << qint64{86400} << "86400s";
    QTest::newRow("most steps") << "1000000" << qint64{1000000} << qint64{0} << "1000000";
  }
  void intervals() {
    QFETCH(QString, text);
    QFETCH(qint64, steps);
    QFETCH(qint64, seconds);
    QFETCH(QString, again);
    const auto every = ParseSnapshotEvery(text.toStdString());
    QVERIFY(every);
    QCOMPARE(every->steps, steps);
    QCOMPARE(every->seconds, seconds);
    QCOMPARE(every->is_on(), text != QLatin1String("off"));
    QCOMPARE(QString::fromStdString(ToString(*every)), again);
    QVERIFY(*ParseSnapshotEvery(ToString(*every)) == *every);
    QVERIFY(CheckSnapshotEvery(*every));
  }

  void badIntervals_data() {
    QTest::addColumn<QString>("text");
    for (const char* text : {"", "0", "-1", "0s", "1000001", "25h", "1441m", "20 steps", "s", "1.5",
                             "9999999999999999999", "OFF", "2d"}) {
      QTest::newRow(text) << QString::fromLatin1(text);
    }
  }
  void badIntervals() {
    QFETCH(QString, text);
    const auto every = ParseSnapshotEvery(text.toStdString());
    QVERIFY(!every);
    const QString message = QString::fromStdString(every.error().ToString());
    QVERIFY2(message.contains(QLatin1Char('\'') + text + QLatin1Char('\'')) &&
                 message.contains(QLatin1String("1000000")) &&
                 message.contains(QLatin1String("24h")),
             qPrintable(message));
  }

  void bothAtOnceAreRefused() {
    QVERIFY(!CheckSnapshotEvery({20, 30}));
    QVERIFY(!CheckSnapshotEvery({-1, 0}));
    QVERIFY(!CheckSnapshotEvery({0, 86401}));
    QVERIFY(CheckSnapshotEvery({}));
  }
};

TESSERA_TEST_APPLESS(SnapshotStatusTest)
#include "snapshot_status_test.moc"
