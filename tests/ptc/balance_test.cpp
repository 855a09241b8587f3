// SPDX-License-Identifier: Apache-2.0
#include "ptc/plan/balance.h"

#include <QTest>
#include <algorithm>

#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera::ptc;

namespace {

struct Problem {
  std::vector<Load> loads;
  std::vector<std::int64_t> speeds;
  std::vector<std::int64_t> done;
};

Problem AnyProblem(std::mt19937_64& rng) {
  Problem problem;
  const std::size_t ports = 1 + rng() % 6;
  for (std::size_t p = 0; p < ports; ++p) {
    problem.speeds.push_back(static_cast<std::int64_t>(1 + rng() % 3));
    problem.done.push_back(rng() % 3 == 0 ? static_cast<std::int64_t>(rng() % 5000) : 0);
  }
  const std::size_t loads = rng() % 8;
  for (std::size_t l = 0; l < loads; ++l) {
    Load load;
    while (load.ports.empty()) {
      for (std::size_t p = 0; p < ports; ++p) {
        if (rng() % 2 == 0) load.ports.push_back(static_cast<int>(p));
      }
    }
    const std::size_t units = rng() % 5;
    for (std::size_t u = 0; u < units; ++u) {
      const std::int64_t grain = std::int64_t{1} << rng() % 4;
      load.units.push_back({grain * static_cast<std::int64_t>(1 + rng() % 1000), grain});
    }
    problem.loads.push_back(load);
  }
  return problem;
}

/// The least time by its definition: a set of ports takes at least the time of the loads that only
/// it can serve.
double LeastTime(const Problem& problem) {
  double least = 0;
  const std::size_t sets = std::size_t{1} << problem.speeds.size();
  for (std::size_t set = 1; set < sets; ++set) {
    double bytes = 0;
    double speed = 0;
    for (std::size_t p = 0; p < problem.speeds.size(); ++p) {
      if ((set >> p & 1U) == 0) continue;
      bytes += static_cast<double>(problem.done[p]);
      speed += static_cast<double>(problem.speeds[p]);
    }
    for (const Load& load : problem.loads) {
      const bool inside = std::all_of(load.ports.begin(), load.ports.end(),
                                      [&](int p) { return (set >> p & 1U) != 0; });
      for (const Unit& unit : load.units) bytes += inside ? static_cast<double>(unit.bytes) : 0;
    }
    least = std::max(least, bytes / speed);
  }
  return least;
}

}  // namespace

class BalanceTest : public QObject {
  Q_OBJECT
 private slots:
  void everyByteIsServedOnceByAPortThatMay() {
    std::mt19937_64 rng(tessera::test::Seed());
    for (int i = 0; i < 3000; ++i) {
      const Problem problem = AnyProblem(rng);
      std::vector<std::int64_t> done = problem.done;
      const auto shares = Divide(problem.loads, problem.speeds, {}, done);
      std::vector<std::int64_t> expected = problem.done;
      QCOMPARE(shares.size(), problem.loads.size());
      for (std::size_t l = 0; l < shares.size(); ++l) {
        const Load& load = problem.loads[l];
        std::vector<std::int64_t> served(load.units.size());
        int last = 0;
        for (const Share& share : shares[l]) {
          QVERIFY(share.bytes > 0 && share.unit >= last);
          last = share.unit;
          QVERIFY(std::count(load.ports.begin(), load.ports.end(), share.port) == 1);
          QCOMPARE(share.bytes % load.units[static_cast<std::size_t>(share.unit)].grain, 0);
          served[static_cast<std::size_t>(share.unit)] += share.bytes;
          expected[static_cast<std::size_t>(share.port)] += share.bytes;
        }
        for (std::size_t u = 0; u < served.size(); ++u) QCOMPARE(served[u], load.units[u].bytes);
        QVERIFY(shares[l].size() <= load.units.size() + load.ports.size());
      }
      QCOMPARE(done, expected);
    }
  }

  // Exact up to one grain per load and port, because grains are not cut.
  void theLastPortIsDoneAsEarlyAsCanBe() {
    std::mt19937_64 rng(tessera::test::Seed() + 1);
    int shared = 0;
    for (int i = 0; i < 3000; ++i) {
      const Problem problem = AnyProblem(rng);
      std::vector<std::int64_t> done = problem.done;
      (void)Divide(problem.loads, problem.speeds, {}, done);
      double time = 0;
      for (std::size_t p = 0; p < done.size(); ++p) {
        time =
            std::max(time, static_cast<double>(done[p]) / static_cast<double>(problem.speeds[p]));
      }
      const double least = LeastTime(problem);
      QVERIFY2(time >= least * (1 - 1e-12), "no division beats the definition");
      QVERIFY2(time <= least + 1 + 8.0 * static_cast<double>(problem.loads.size()),
               qPrintable(QString("%1 instead of %2").arg(time).arg(least)));
      shared += time > 0 ? 1 : 0;
    }
    QVERIFY(shared > 1000);
  }

  // Two ports and two equal units: none is cut.
  void unitsThatFitAreNotCut() {
    std::vector<std::int64_t> done(2);
    const auto shares = Divide({{{0, 1}, {{100, 4}, {100, 4}}}}, {1, 1}, {}, done);
    QCOMPARE(shares[0].size(), std::size_t{2});
    QCOMPARE(done, (std::vector<std::int64_t>{100, 100}));
  }

  // If another port takes longer anyway, bytes stay together.
  void noHurryBeforeTheFloor() {
    std::vector<std::int64_t> done(2);
    const auto shares = Divide({{{0, 1}, {{100, 4}}}}, {1, 1}, {100, 1}, done);
    QCOMPARE(shares[0].size(), std::size_t{1});
  }
};

TESSERA_TEST_APPLESS(BalanceTest)
#include "balance_test.moc"
