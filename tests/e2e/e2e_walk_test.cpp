// SPDX-License-Identifier: Apache-2.0
// 24 changes of a running job: larger and smaller meshes, finer and coarser cuts, layers that
// change their stage, ZeRO on and off.
#include <QTest>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/e2e/walk.h"
#include "tests/support/digests.h"
#include "tests/support/exact_job.h"
#include "tests/support/test_main.h"

using namespace tessera::test;

class E2eWalkTest : public QObject {
  Q_OBJECT

 private slots:
  void walksAreClosedAndTakeNoPairTwice_data() {
    QTest::addColumn<bool>("full");
    QTest::addColumn<std::size_t>("pairs");
    QTest::newRow("every pair") << true << std::size_t{12 * 11};
    QTest::newRow("twice around") << false << std::size_t{24};
  }
  void walksAreClosedAndTakeNoPairTwice() {
    QFETCH(bool, full);
    QFETCH(std::size_t, pairs);
    const WalkStops walk = full ? EveryPairOnce(true) : TwiceAround();
    std::set<std::pair<std::size_t, std::size_t>> taken;
    std::set<std::pair<bool, bool>> zero;
    for (std::size_t i = 1; i < walk.size(); ++i) {
      QVERIFY(walk[i - 1].mesh != walk[i].mesh);
      QVERIFY(taken.insert({walk[i - 1].mesh, walk[i].mesh}).second);
      zero.insert({walk[i - 1].zero, walk[i].zero});
    }
    QCOMPARE(taken.size(), pairs);
    QCOMPARE(walk.front().mesh, walk.back().mesh);
    QCOMPARE(zero.size(), std::size_t{full ? 1U : 4U});
  }

  void twiceAround() {
    const LocalCluster cluster(LocalCluster::Options{});
    QVERIFY2(cluster.up().code == 0, cluster.up().Text());
    const QStringList complaints = Walk(cluster, TwiceAround(), Walker::kExact);
    QVERIFY2(complaints.isEmpty(), qPrintable(complaints.join(u'\n')));
  }

  // Nodes of one host map each other's arenas, so no byte crosses the network.
  void nodesOfOneHostShareMemory() {
    LocalCluster::Options options;
    options.one_host = true;
    const LocalCluster cluster(options);
    QVERIFY2(cluster.up().code == 0, cluster.up().Text());
    const QString job = QStringLiteral("exact");
    const Outcome start = StartExactJob(cluster, job, QStringLiteral("dp=2,tp=2"), FirstDevices(4));
    QVERIFY2(start.code == 0, start.Text());
    const Json plan =
        cluster.Ask({QStringLiteral("plan"), job, QStringLiteral("--devices"), FirstDevices(8)});
    QVERIFY(plan.is_object());
    QCOMPARE(plan["bytes"]["network"].get<std::int64_t>(), 0);
    QVERIFY(plan["bytes"]["host"].get<std::int64_t>() > 0);
    const Json moved = cluster.Apply(job, QStringLiteral("dp=4,tp=2"), FirstDevices(8));
    QVERIFY(moved.is_object() && moved["result"] == "committed");
    QCOMPARE(moved["moved_bytes"].dump(), moved["volume_bound_bytes"].dump());
    VERIFY_DIGESTS(moved["digest_before"], moved["digest_after"]);
    QVERIFY(cluster.GoesOn(job));
  }
};

TESSERA_TEST(E2eWalkTest)
#include "e2e_walk_test.moc"
