// SPDX-License-Identifier: Apache-2.0
// Ten thousand simulated clusters under faults keep what agents/sim/cluster_sim.h promises. That
// the simulation finds errors is shown by tests/mutants.
#include "agents/sim/cluster_sim.h"

#include <QTest>

#include "agents/sim/soak.h"
#include "tests/support/test_main.h"

using namespace tessera::agents::sim;

class ClusterSimTest : public QObject {
  Q_OBJECT

 private slots:
  void aSeedRepeatsItself() {
    const ClusterResult first = SimulateCluster(7), second = SimulateCluster(7);
    QCOMPARE(first.events, second.events);
    QCOMPARE(first.steps, second.steps);
    QCOMPARE(first.commits, second.commits);
    QVERIFY(first.steps > 0);
  }

  void seedsThatDidNotHoldOnceHold_data() {
    QTest::addColumn<quint64>("seed");
    QTest::newRow("a rank of a paused job resumed after a change") << quint64{211019};
    QTest::newRow("an agent died so late that nothing could settle") << quint64{227670};
    QTest::newRow("a change resumed ranks that were being started") << quint64{3637};
    QTest::newRow("the registrar did not run while steps were repeated") << quint64{217423};
    QTest::newRow("a node was silent while it was asked for steps") << quint64{4409};
  }
  void seedsThatDidNotHoldOnceHold() {
    QFETCH(quint64, seed);
    QCOMPARE(SimulateCluster(seed).violation, std::string());
  }

  // In parts, because a test function may take five minutes. 10,000 seeds with TESSERA_TEST_ALL.
  void everySeedHolds_data() {
    QTest::addColumn<int>("first");
    const int last = qEnvironmentVariableIsSet("TESSERA_TEST_ALL") ? 8001 : 2001;
    for (int first = 1; first <= last; first += 2000) {
      QTest::newRow(qPrintable(QString::number(first))) << first;
    }
  }
  void everySeedHolds() {
    QFETCH(int, first);
    constexpr std::int64_t kSeeds = 2000;
    const SoakSum soaked = Soak({.first = static_cast<std::uint64_t>(first), .seeds = kSeeds},
                                [](std::uint64_t seed, const ClusterResult& result) {
                                  qWarning("seed %llu: %s", static_cast<unsigned long long>(seed),
                                           result.violation.c_str());
                                });
    QCOMPARE(soaked.bad, std::uint64_t{0});
    QCOMPARE(soaked.seeds, static_cast<std::uint64_t>(kSeeds));
    const ClusterResult& sum = soaked.sum;
    qInfo("%lld events, %lld steps, %lld changes, %lld commits, %lld recoveries",
          static_cast<long long>(sum.events), static_cast<long long>(sum.steps),
          static_cast<long long>(sum.transactions), static_cast<long long>(sum.commits),
          static_cast<long long>(sum.recoveries));
    // The faults do not keep the clusters from working.
    QVERIFY(sum.steps > 50 * kSeeds);
    QVERIFY(sum.commits > 2 * kSeeds);
    QVERIFY(sum.commits < sum.transactions + sum.recoveries);
    QVERIFY(sum.recoveries > kSeeds / 20);
    QVERIFY(sum.overlapped > kSeeds / 4);
    QVERIFY(sum.followed > kSeeds / 500);
    QVERIFY(sum.in_rounds > kSeeds / 10);
    QVERIFY(sum.digests > kSeeds);
  }
};

TESSERA_TEST_APPLESS(ClusterSimTest)
#include "cluster_sim_test.moc"
