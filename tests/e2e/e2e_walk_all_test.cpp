// SPDX-License-Identifier: Apache-2.0
// Every ordered pair of the twelve meshes as a change of one running job, with and without ZeRO.
#include <QTest>

#include "tests/e2e/walk.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

class E2eWalkAllTest : public QObject {
  Q_OBJECT

 private slots:
  void everyPair_data() {
    QTest::addColumn<bool>("zero");
    QTest::newRow("without zero") << false;
    QTest::newRow("with zero") << true;
  }
  void everyPair() {
    QFETCH(bool, zero);
    const LocalCluster cluster(LocalCluster::Options{});
    QVERIFY2(cluster.up().code == 0, cluster.up().Text());
    const QStringList complaints = Walk(cluster, EveryPairOnce(zero), Walker::kTrainer);
    QVERIFY2(complaints.isEmpty(), qPrintable(complaints.join(u'\n')));
  }
};

TESSERA_TEST(E2eWalkAllTest)
#include "e2e_walk_all_test.moc"
