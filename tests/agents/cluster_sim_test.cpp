// SPDX-License-Identifier: Apache-2.0
// Simulated clusters under faults keep what agents/sim/cluster_sim.h promises. That
// the simulation finds errors is shown by tests/mutants.
#include "agents/sim/cluster_sim.h"

#include <QTest>
#include <algorithm>

#include "agents/sim/soak.h"
#include "tests/support/test_main.h"

using namespace tessera::agents::sim;

namespace {
constexpr qint64 kSeedsOfAPart = 2000;
}

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
    QTest::newRow("the stop of an earlier job ended ranks that join") << quint64{910980};
  }
  void seedsThatDidNotHoldOnceHold() {
    QFETCH(quint64, seed);
    QCOMPARE(SimulateCluster(seed).violation, std::string());
  }

  // In parts, because a test function may take five minutes. TESSERA_TEST_CLUSTERS is the number of
  // clusters; with TESSERA_TEST_SEED the first one has that seed.
  void everySeedHolds_data() {
    QTest::addColumn<quint64>("first");
    QTest::addColumn<qint64>("seeds");
    const qint64 clusters = qEnvironmentVariable("TESSERA_TEST_CLUSTERS", "1000").toLongLong();
    const quint64 begin = qEnvironmentVariable("TESSERA_TEST_SEED", "1").toULongLong();
    for (qint64 done = 0; done < clusters; done += kSeedsOfAPart) {
      const quint64 first = begin + static_cast<quint64>(done);
      QTest::newRow(qPrintable(QString::number(first)))
          << first << std::min(kSeedsOfAPart, clusters - done);
    }
  }
  void everySeedHolds() {
    QFETCH(quint64, first);
    QFETCH(qint64, seeds);
    const SoakSum soaked = Soak({.first = first, .seeds = static_cast<std::uint64_t>(seeds)},
                                [](std::uint64_t seed, const ClusterResult& result) {
                                  qWarning("seed %llu: %s", static_cast<unsigned long long>(seed),
                                           result.violation.c_str());
                                });
    QCOMPARE(soaked.bad, std::uint64_t{0});
    QCOMPARE(soaked.seeds, static_cast<std::uint64_t>(seeds));
    const ClusterResult& sum = soaked.sum;
    qInfo("%lld events, %lld steps, %lld changes, %lld commits, %lld recoveries",
          static_cast<long long>(sum.events), static_cast<long long>(sum.steps),
          static_cast<long long>(sum.transactions), static_cast<long long>(sum.commits),
          static_cast<long long>(sum.recoveries));
    // The faults do not keep the clusters from working.
    QVERIFY(sum.steps > 50 * seeds);
    QVERIFY(sum.commits > 2 * seeds);
    QVERIFY(sum.commits < sum.transactions + sum.recoveries);
    QVERIFY(sum.recoveries > seeds / 20);
    QVERIFY(sum.overlapped > seeds / 4);
    QVERIFY(sum.in_rounds > seeds / 10);
    QVERIFY(sum.digests > seeds);
    if (seeds < 1000) return;  // too few for what is rare
    QVERIFY(sum.followed > seeds / 500);
  }
};

TESSERA_TEST_APPLESS(ClusterSimTest)
#include "cluster_sim_test.moc"
