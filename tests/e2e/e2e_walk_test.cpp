// SPDX-License-Identifier: Apache-2.0
// Six reconfigurations of a running job that between them grow, shrink, cut finer, join and do
// both.
#include <QTest>
#include <set>

#include "tests/e2e/walk.h"

using namespace tessera::test;

class E2eWalkTest : public QObject {
  Q_OBJECT

 private slots:
  void theFullWalkTakesEveryPairOnce() {
    const std::vector<std::size_t> walk = EveryPairOnce();
    std::set<std::pair<std::size_t, std::size_t>> pairs;
    for (std::size_t i = 1; i < walk.size(); ++i) {
      QVERIFY(walk[i - 1] != walk[i]);
      QVERIFY(pairs.insert({walk[i - 1], walk[i]}).second);
    }
    QCOMPARE(pairs.size(), std::size_t{56});
  }

  void sixPairs() {
    const LocalCluster cluster(LocalCluster::Options{});
    QVERIFY2(cluster.up().code == 0, cluster.up().Text());
    // (1,1) (2,2) (4,2) (1,4) (2,1) (2,4) (4,1)
    const QStringList complaints = Walk(cluster, {0, 3, 6, 5, 1, 7, 4});
    QVERIFY2(complaints.isEmpty(), qPrintable(complaints.join(u'\n')));
  }

  // Nodes of one host map each other's arenas: nothing crosses a network.
  void nodesOfOneHostShareMemory() {
    LocalCluster::Options options;
    options.one_host = true;
    const LocalCluster cluster(options);
    QVERIFY2(cluster.up().code == 0, cluster.up().Text());
    const QString job = QStringLiteral("nano");
    const Outcome start = cluster.StartJob(job, QStringLiteral("dp=2,tp=2"), FirstDevices(4));
    QVERIFY2(start.code == 0, start.Text());
    const Json plan =
        cluster.Ask({QStringLiteral("plan"), job, QStringLiteral("--devices"), FirstDevices(8)});
    QVERIFY(plan.is_object());
    QCOMPARE(plan["bytes"]["network"].get<std::int64_t>(), 0);
    QVERIFY(plan["bytes"]["host"].get<std::int64_t>() > 0);
    const Json moved = cluster.Apply(job, QStringLiteral("dp=4,tp=2"), FirstDevices(8));
    QVERIFY(moved.is_object() && moved["result"] == "committed");
    QCOMPARE(moved["bytes_moved"].dump(), moved["volume_bound"].dump());
    QCOMPARE(moved["digest_before"].dump(), moved["digest_after"].dump());
    QVERIFY(cluster.GoesOn(job));
  }
};

QTEST_GUILESS_MAIN(E2eWalkTest)
#include "e2e_walk_test.moc"
