// SPDX-License-Identifier: Apache-2.0
#include "ptc/plan/auction.h"

#include <QTest>
#include <algorithm>
#include <set>

#include "ptc/plan/assignment.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::ptc;

namespace {

struct Problem {
  std::vector<std::vector<Wish>> persons;
  int objects = 0;
};
/// Sparse; often with equal values, and with persons who want nothing.
Problem AnyProblem(std::mt19937_64& rng, int most) {
  Problem problem;
  problem.objects = 1 + static_cast<int>(rng() % static_cast<unsigned>(most));
  const auto persons = 1 + rng() % static_cast<unsigned>(problem.objects);
  const std::uint64_t values = rng() % 2 == 0 ? 3 : 1'000'000'000;
  const std::uint64_t one_in = 1 + rng() % 8;
  for (std::uint64_t p = 0; p < persons; ++p) {
    std::vector<Wish>& wishes = problem.persons.emplace_back();
    for (int object = 0; object < problem.objects; ++object) {
      if (rng() % one_in == 0)
        wishes.push_back({object, static_cast<std::int64_t>(rng() % values)});
    }
    std::shuffle(wishes.begin(), wishes.end(), rng);
  }
  return problem;
}

std::int64_t Exact(const Problem& problem) {
  std::vector<std::vector<AssignmentCost>> costs;
  for (const auto& wishes : problem.persons) {
    auto& row = costs.emplace_back(static_cast<std::size_t>(problem.objects));
    for (const Wish& w : wishes) row[static_cast<std::size_t>(w.object)].first = -w.value;
  }
  std::int64_t value = 0;
  const auto columns = SolveAssignment(costs);
  for (std::size_t p = 0; p < columns.size(); ++p) value -= costs[p][columns[p]].first;
  return value;
}

}  // namespace

class AuctionTest : public QObject {
  Q_OBJECT
 private slots:
  // Nobody shares an object, the value is that of the pairs, and the exact optimum lies between the
  // value and the bound, which are no further apart than a step for each object.
  void theOptimumIsBetweenValueAndBound() {
    std::mt19937_64 rng(test::Seed());
    for (int i = 0; i < 1500; ++i) {
      const Problem problem = AnyProblem(rng, i % 100 == 0 ? 300 : 24);
      const auto step = static_cast<std::int64_t>(1 + rng() % 50);
      const Auction auction = HoldAuction(problem.persons, problem.objects, step);
      QCOMPARE(auction.object_of.size(), problem.persons.size());
      std::set<int> taken;
      std::int64_t value = 0;
      for (std::size_t p = 0; p < problem.persons.size(); ++p) {
        const int object = auction.object_of[p];
        QVERIFY(object >= 0 && object < problem.objects && taken.insert(object).second);
        for (const Wish& w : problem.persons[p]) value += w.object == object ? w.value : 0;
      }
      QCOMPARE(auction.value, value);
      const std::int64_t exact = Exact(problem);
      QVERIFY(auction.value <= exact);
      QVERIFY(exact <= auction.bound);
      QVERIFY(auction.bound - auction.value <= step * problem.objects);
    }
  }

  void ofTwoWhoWantTheSameTheKeenerGetsIt() {
    const Auction auction = HoldAuction({{{0, 10}, {1, 9}}, {{0, 10}}}, 3, 1);
    QCOMPARE(auction.object_of, (std::vector<int>{1, 0}));
    QCOMPARE(auction.value, 19);
    QVERIFY(auction.bound >= 19 && auction.bound <= 22);
  }

  void nobodyAndNothing() {
    QVERIFY(HoldAuction({}, 0, 1).object_of.empty());
    QCOMPARE(HoldAuction({}, 4, 1).value, 0);
    QCOMPARE(HoldAuction({{}}, 1, 1).object_of, std::vector<int>{0});
  }
};

TESSERA_TEST_APPLESS(AuctionTest)
#include "auction_test.moc"
