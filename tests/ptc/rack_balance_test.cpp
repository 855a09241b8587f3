// SPDX-License-Identifier: Apache-2.0
#include "ptc/plan/rack_balance.h"

#include <QTest>
#include <algorithm>

#include "ptc/base/at.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::ptc;

namespace {

struct Problem {
  std::vector<RackLoad> loads;
  RackPorts ports;
  std::vector<std::int64_t> entering;
};

Problem AnyProblem(std::mt19937_64& rng) {
  const auto any = [&rng](int most) {
    return 1 + static_cast<int>(rng() % static_cast<unsigned>(most));
  };
  Problem problem;
  const int hosts = any(7);
  problem.ports.num_racks = any(3);
  problem.ports.rack_speed = any(4);
  for (int host = 0; host < hosts; ++host) {
    problem.ports.rack_of_host.push_back(any(problem.ports.num_racks) - 1);
    problem.ports.host_speeds.push_back(any(3));
  }
  for (int rack = 0; rack < problem.ports.num_racks; ++rack) {
    problem.entering.push_back(rng() % 4 == 0 ? any(10000) : 0);
  }
  for (int l = any(6); l > 0; --l) {
    RackLoad& load = problem.loads.emplace_back();
    load.rack = any(problem.ports.num_racks) - 1;
    for (int host = 0; host < hosts; ++host) {
      if (rng() % 2 == 0) load.load.ports.push_back(host);
    }
    if (load.load.ports.empty()) load.load.ports.push_back(any(hosts) - 1);
    for (int u = any(3); u > 0; --u) {
      const std::int64_t grain = std::int64_t{1} << rng() % 4;
      load.load.units.push_back({grain * any(5000), grain});
    }
  }
  return problem;
}

/// The time of the last port, from the shares alone.
double TimeOf(const Problem& problem, const std::vector<std::vector<Share>>& shares) {
  std::vector<std::int64_t> out(problem.ports.host_speeds.size());
  std::vector<std::int64_t> rack_out(At(problem.ports.num_racks));
  std::vector<std::int64_t> rack_in = problem.entering;
  for (std::size_t l = 0; l < shares.size(); ++l) {
    for (const Share& share : shares[l]) {
      out[At(share.port)] += share.bytes;
      const int rack = problem.ports.rack_of_host[At(share.port)];
      if (rack == problem.loads[l].rack) continue;
      rack_out[At(rack)] += share.bytes;
      rack_in[At(problem.loads[l].rack)] += share.bytes;
    }
  }
  double time = 0;
  for (std::size_t host = 0; host < out.size(); ++host) {
    time = std::max(time, static_cast<double>(out[host]) /
                              static_cast<double>(problem.ports.host_speeds[host]));
  }
  for (const auto* racks : {&rack_out, &rack_in}) {
    for (std::int64_t bytes : *racks) {
      time = std::max(time,
                      static_cast<double>(bytes) / static_cast<double>(problem.ports.rack_speed));
    }
  }
  return time;
}

/// The ports on the way from a host to a rack. Ports are numbered: hosts, out of racks, into racks.
std::vector<std::size_t> PortsOf(const Problem& problem, int host, int rack) {
  const std::size_t hosts = problem.ports.host_speeds.size();
  const int from = problem.ports.rack_of_host[At(host)];
  if (from == rack) return {At(host)};
  return {At(host), hosts + At(from), hosts + At(problem.ports.num_racks) + At(rack)};
}
std::vector<double> SpeedsOf(const Problem& problem) {
  std::vector<double> speeds(problem.ports.host_speeds.begin(), problem.ports.host_speeds.end());
  speeds.resize(speeds.size() + 2 * At(problem.ports.num_racks),
                static_cast<double>(problem.ports.rack_speed));
  return speeds;
}

/// A lower bound by duality: with weights per unit of time on each port, the cost of all loads on
/// their cheapest hosts. Adds the time that the ports then take to `load`.
double BoundAt(const Problem& problem, const std::vector<double>& weights,
               std::vector<double>& load) {
  const std::vector<double> speeds = SpeedsOf(problem);
  double sum = 0;
  for (double weight : weights) sum += weight;
  double cost = 0;
  const std::size_t into = problem.ports.host_speeds.size() + At(problem.ports.num_racks);
  for (std::size_t r = 0; r < problem.entering.size(); ++r) {
    load[into + r] += static_cast<double>(problem.entering[r]) / speeds[into + r];
    cost += weights[into + r] * load[into + r];
  }
  for (const RackLoad& l : problem.loads) {
    double bytes = 0;
    for (const Unit& unit : l.load.units) bytes += static_cast<double>(unit.bytes);
    double cheapest = -1;
    std::vector<std::size_t> ports;
    for (int host : l.load.ports) {
      double price = 0;
      for (std::size_t port : PortsOf(problem, host, l.rack)) price += weights[port] / speeds[port];
      if (cheapest >= 0 && price >= cheapest) continue;
      cheapest = price;
      ports = PortsOf(problem, host, l.rack);
    }
    cost += cheapest * bytes;
    for (std::size_t port : ports) load[port] += bytes / speeds[port];
  }
  return cost / sum;
}

/// The best bound of those with all weight on one port, and of weights that follow the late ports
/// (Plotkin, Shmoys and Tardos 1995).
double WeightedBound(const Problem& problem) {
  std::vector<double> weights(SpeedsOf(problem).size(), 1);
  double best = 0;
  for (std::size_t port = 0; port < weights.size(); ++port) {
    std::vector<double> alone(weights.size());
    std::vector<double> load(weights.size());
    alone[port] = 1;
    best = std::max(best, BoundAt(problem, alone, load));
  }
  for (int round = 0; round < 20000; ++round) {
    std::vector<double> load(weights.size());
    best = std::max(best, BoundAt(problem, weights, load));
    const double most = *std::max_element(load.begin(), load.end());
    if (most == 0) break;
    for (std::size_t port = 0; port < weights.size(); ++port) {
      weights[port] *= 1 + 0.004 * load[port] / most;
    }
    const double largest = *std::max_element(weights.begin(), weights.end());
    for (double& weight : weights) weight /= largest;
  }
  return best;
}

/// The lower bound with the given prices per byte of each port.
double BoundAtPrices(const Problem& problem, const std::vector<std::int64_t>& prices) {
  std::vector<double> weights = SpeedsOf(problem);
  for (std::size_t port = 0; port < weights.size(); ++port) {
    weights[port] *= static_cast<double>(prices[port]);
  }
  std::vector<double> load(weights.size());
  return BoundAt(problem, weights, load);
}

double GrainsOf(const Problem& problem) {
  return 8.0 * static_cast<double>(problem.loads.size() * 3);
}

}  // namespace

class RackBalanceTest : public QObject {
  Q_OBJECT
 private slots:
  void everyByteIsServedOnceByAHostThatMay() {
    std::mt19937_64 rng(test::Seed());
    for (int i = 0; i < 3000; ++i) {
      const Problem problem = AnyProblem(rng);
      std::vector<std::int64_t> sent(problem.ports.host_speeds.size());
      const auto shares =
          DivideInRacks(problem.loads, problem.ports, {}, problem.entering, sent).pieces;
      std::vector<std::int64_t> expected(sent.size());
      for (std::size_t l = 0; l < shares.size(); ++l) {
        const Load& load = problem.loads[l].load;
        std::vector<std::int64_t> served(load.units.size());
        for (const Share& share : shares[l]) {
          QVERIFY(share.bytes > 0);
          QVERIFY(std::count(load.ports.begin(), load.ports.end(), share.port) == 1);
          QCOMPARE(share.bytes % load.units[At(share.unit)].grain, 0);
          served[At(share.unit)] += share.bytes;
          expected[At(share.port)] += share.bytes;
        }
        for (std::size_t u = 0; u < served.size(); ++u) QCOMPARE(served[u], load.units[u].bytes);
      }
      QCOMPARE(sent, expected);
    }
  }

  // Loads that use three ports at once: near the optimum of the linear program.
  void theLastPortIsDoneNearlyAsEarlyAsCanBe() {
    std::mt19937_64 rng(test::Seed() + 1);
    for (int i = 0; i < 40; ++i) {
      const Problem problem = AnyProblem(rng);
      std::vector<std::int64_t> sent(problem.ports.host_speeds.size());
      const auto shares =
          DivideInRacks(problem.loads, problem.ports, {}, problem.entering, sent).pieces;
      const double time = TimeOf(problem, shares);
      const double bound = WeightedBound(problem);
      QVERIFY2(time >= bound * (1 - 1e-9), "no division beats the bound");
      QVERIFY2(time <= bound * 1.03 + GrainsOf(problem),
               qPrintable(QString("%1, bound %2").arg(time).arg(bound)));
    }
  }

  // If neither hosts alone nor racks alone prove the time, the prices do.
  void pricesProveTheTime() {
    std::mt19937_64 rng(test::Seed() + 2);
    int priced = 0;
    for (int i = 0; i < 4000; ++i) {
      const Problem problem = AnyProblem(rng);
      std::vector<std::int64_t> sent(problem.ports.host_speeds.size());
      const auto [shares, prices] =
          DivideInRacks(problem.loads, problem.ports, {}, problem.entering, sent);
      if (prices.empty()) continue;
      ++priced;
      QCOMPARE(prices.size(), SpeedsOf(problem).size());
      QVERIFY(*std::min_element(prices.begin(), prices.end()) >= 0);
      const double time = TimeOf(problem, shares);
      const double bound = BoundAtPrices(problem, prices);
      QVERIFY2(time >= bound * (1 - 1e-9), "no division beats the bound");
      QVERIFY2(time <= bound * (1 + 1e-6) + GrainsOf(problem),
               qPrintable(QString("%1, bound %2").arg(time).arg(bound)));
    }
    QVERIFY(priced > 20);
  }

  // If there is time, bytes stay in the rack.
  void aRackIsLeftOnlyWhereThatSavesTime() {
    const RackPorts ports{{0, 0, 1}, {1, 1, 1}, 10, 2};
    std::vector<std::int64_t> sent(3);
    const std::vector<RackLoad> loads = {{0, {{0, 1, 2}, {{300, 1}}}}};
    (void)DivideInRacks(loads, ports, {150, 1}, {0, 0}, sent);
    QCOMPARE(sent, (std::vector<std::int64_t>{150, 150, 0}));
    sent = {0, 0, 0};
    (void)DivideInRacks(loads, ports, {}, {0, 0}, sent);
    QCOMPARE(sent, (std::vector<std::int64_t>{100, 100, 100}));
    // With a slow rack port few bytes cross.
    const RackPorts slow{{0, 0, 1}, {10, 10, 10}, 1, 2};
    sent = {0, 0, 0};
    (void)DivideInRacks(loads, slow, {}, {0, 0}, sent);
    QVERIFY(sent[2] <= 15);
    QVERIFY(std::max(sent[0], sent[1]) <= 150);
  }
};

TESSERA_TEST_APPLESS(RackBalanceTest)
#include "rack_balance_test.moc"
