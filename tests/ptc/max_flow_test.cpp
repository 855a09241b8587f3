// SPDX-License-Identifier: Apache-2.0
#include "ptc/certificate/max_flow.h"

#include <QTest>
#include <algorithm>
#include <cmath>
#include <limits>

#include "ptc/certificate/port_times.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera::ptc;

namespace {

struct Edge {
  std::size_t from, to;
  std::int64_t capacity;
};

std::int64_t CutOf(const std::vector<Edge>& edges, unsigned side) {
  std::int64_t cut = 0;
  for (const Edge& edge : edges) {
    if ((side >> edge.from & 1U) != 0 && (side >> edge.to & 1U) == 0) cut += edge.capacity;
  }
  return cut;
}

/// A load of `bytes` that any of the ports in the bit set may serve.
struct Load {
  unsigned ports;
  std::int64_t bytes;
};

std::vector<int> PortsIn(unsigned set) {
  std::vector<int> ports;
  for (int port = 0; port < 32; ++port) {
    if ((set >> static_cast<unsigned>(port) & 1U) != 0) ports.push_back(port);
  }
  return ports;
}

}  // namespace

class MaxFlowTest : public QObject {
  Q_OBJECT
 private slots:
  // The flow equals the smallest of all cuts, and its own cut is one of these.
  void flowIsTheSmallestCut() {
    std::mt19937_64 rng(tessera::test::Seed());
    for (int i = 0; i < 1500; ++i) {
      const std::size_t nodes = 2 + rng() % 6;
      std::vector<Edge> edges;
      for (std::size_t e = rng() % 16; e > 0; --e) {
        edges.push_back({rng() % nodes, rng() % nodes, static_cast<std::int64_t>(rng() % 20)});
      }
      MaxFlow flow(nodes);
      for (const Edge& edge : edges) flow.AddEdge(edge.from, edge.to, edge.capacity);
      std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
      for (unsigned side = 0; side < 1U << nodes; ++side) {
        if ((side & 1U) != 0 && (side & 2U) == 0) smallest = std::min(smallest, CutOf(edges, side));
      }
      QCOMPARE(static_cast<std::int64_t>(flow.Run(0, 1)), smallest);
      unsigned reached = 0;
      for (std::size_t n = 0; n < nodes; ++n) {
        if (flow.SourceSide()[n]) reached |= 1U << n;
      }
      QVERIFY((reached & 1U) != 0 && (reached & 2U) == 0);
      QCOMPARE(CutOf(edges, reached), smallest);
    }
  }

  void capacitiesMayExceedSixtyFourBits() {
    MaxFlow flow(3);
    const Wide big = Wide{std::numeric_limits<std::int64_t>::max()} * 1000;
    flow.AddEdge(0, 2, big);
    flow.AddEdge(2, 1, big - 1);
    QVERIFY(flow.Run(0, 1) == big - 1);
  }

  // The least time is the maximum over all sets of ports of the time for the loads that only the
  // set can serve. The reference tries all sets, with equal and unequal speeds.
  void leastTimeIsThatOfTheTightestSet() {
    std::mt19937_64 rng(tessera::test::Seed() + 1);
    int shared_bound = 0;
    for (int i = 0; i < 3000; ++i) {
      const unsigned ports = 1 + static_cast<unsigned>(rng() % 6);
      std::vector<double> speeds;
      for (unsigned p = 0; p < ports; ++p) {
        speeds.push_back(i % 2 == 0 ? 7 : static_cast<double>(1 + rng() % 5));
      }
      PortTimes times(speeds);
      std::vector<Load> loads;
      for (std::size_t l = rng() % 7; l > 0; --l) {
        const auto set = static_cast<unsigned>(1 + rng() % ((1U << ports) - 1));
        loads.push_back({set, static_cast<std::int64_t>(rng() % 50)});
        times.Add(PortsIn(set), loads.back().bytes);
      }
      double longest = 0;
      for (unsigned set = 1; set < 1U << ports; ++set) {
        double speed = 0;
        for (int port : PortsIn(set)) speed += speeds[static_cast<std::size_t>(port)];
        std::int64_t bytes = 0;
        for (const Load& load : loads) bytes += (load.ports & ~set) == 0 ? load.bytes : 0;
        longest = std::max(longest, static_cast<double>(bytes) / speed);
      }
      const PortTimes::Bound bound = times.Least();
      QVERIFY(std::abs(bound.seconds - longest) < 1e-9);
      QCOMPARE(bound.port < 0, longest == 0.0);
      if (bound.port < 0) continue;
      const double through = longest * speeds[static_cast<std::size_t>(bound.port)];
      QCOMPARE(bound.bytes, static_cast<std::int64_t>(std::ceil(through - 1e-9)));
      shared_bound += bound.num_ports > 1;
    }
    QVERIFY(shared_bound > 300);
  }

  // A hundred thousand ports in two groups are two nodes of the flow.
  void equalPortsAreOne() {
    constexpr int kPorts = 100'000;
    std::vector<int> all(kPorts);
    std::vector<int> half(kPorts / 2);
    for (int p = 0; p < kPorts; ++p) all[static_cast<std::size_t>(p)] = p;
    for (int p = 0; p < kPorts / 2; ++p) half[static_cast<std::size_t>(p)] = p;
    PortTimes times(std::vector<double>(kPorts, 10.0));
    times.Add(all, kPorts * 3);
    times.Add(half, kPorts * 4);
    const PortTimes::Bound bound = times.Least();
    QCOMPARE(bound.bytes, 8);
    QCOMPARE(bound.seconds, 0.8);
    QCOMPARE(bound.port, 0);
    QCOMPARE(bound.num_ports, kPorts / 2);
  }

  void sumsSaturate() {
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    QCOMPARE(SaturatingAdd(kMost, 1), kMost);
    QCOMPARE(SaturatingMultiply(kMost / 2, 3), kMost);
    QCOMPARE(SaturatingMultiply(6, 7), 42);
    PortTimes times({1.0, 1.0});
    times.Add({0, 1}, kMost);
    times.Add({0, 1}, kMost);
    times.Add(0, kMost);
    QCOMPARE(times.Least().bytes, kMost);
  }
};

TESSERA_TEST_APPLESS(MaxFlowTest)
#include "max_flow_test.moc"
