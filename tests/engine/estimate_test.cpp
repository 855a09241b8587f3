// SPDX-License-Identifier: Apache-2.0
#include "engine/search/estimate.h"

#include <QTest>
#include <cmath>

#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using engine::EstimatePause;
using engine::PauseCosts;
using ptc::Axis;

namespace {

constexpr std::int64_t kElements = 1 << 20;  // of the one tensor, 4 bytes each
constexpr double kBytes = 4.0 * kElements;

ptc::Layout LayoutOn(const char* mesh) {
  ptc::TensorSpec spec;
  spec.name = "w";
  spec.shape = {kElements};
  spec.rule.dims = {{{Axis::kTp}}};
  return *ptc::Layout::Make(*ptc::ParseDeviceMesh(mesh), *ptc::Collection::Make({spec}, 1));
}

double Estimate(const char* from, const char* to, const ptc::Topology& topology,
                const PauseCosts& costs) {
  const ptc::Layout a = LayoutOn(from), b = LayoutOn(to);
  return EstimatePause(*ptc::MakeOutline(a, b, topology), costs);
}

bool Near(double a, double b) { return std::abs(a - b) < 1e-12 * std::max(1.0, b); }

}  // namespace

class EstimateTest : public QObject {
  Q_OBJECT
 private slots:
  void whatStaysCostsNothing() {
    const PauseCosts costs{0.5, 1e9, 1e8};
    QCOMPARE(Estimate("tp=1 on n0g0", "tp=1 on n0g0", {}, costs), 0.5);
  }
  void copiesWithinAHostAreDigestedAtTheSource() {
    ptc::Topology topology;
    topology.host_bytes_per_second = 1e9;
    const PauseCosts costs{0, 1e30, 1e8};
    QVERIFY(Near(Estimate("dp=1 on n0g0", "dp=2 on n0g0,n0g1", topology, costs),
                 kBytes / 1e9 + kBytes / 1e8));
  }
  void theNetworkCountsByTheBusiestNodePort() {
    ptc::Topology topology;
    topology.network_bytes_per_second = 1e6;
    topology.host_bytes_per_second = 1e30;
    const PauseCosts costs{0, 1e30, 1e30};
    // Two new replicas on the other node: both come through its one port.
    QVERIFY(Near(Estimate("dp=1 on n0g0", "dp=3 on n0g0,n1g0,n1g1", topology, costs),
                 2 * kBytes / 1e6));
  }
  void whatIsPassedOnWaitsForTheNetwork() {
    ptc::Topology topology;
    topology.network_bytes_per_second = 1e6;
    topology.host_bytes_per_second = 1e7;
    const ptc::Layout a = LayoutOn("dp=1 on n0g0"), b = LayoutOn("dp=3 on n0g0,n1g0,n1g1");
    const ptc::Outline plan =
        *ptc::MakeOutline(a, b, topology, {.relaying = ptc::Relaying::kIfFaster});
    // Each of the two receives one half and gets the other half from its neighbour.
    const PauseCosts costs{0, 1e30, 1e30};
    QVERIFY(Near(EstimatePause(plan, costs), kBytes / 1e6 + kBytes / 2 / 1e7));
  }
  void nodesOfOneHostShareItsMemory() {
    ptc::Topology topology;
    topology.host_of_node = {{0, 0}, {1, 0}};
    topology.network_bytes_per_second = 1;
    topology.host_bytes_per_second = 1e6;
    const PauseCosts costs{0, 1e30, 1e30};
    QVERIFY(Near(Estimate("dp=1 on n0g0", "dp=2 on n0g0,n1g0", topology, costs), kBytes / 1e6));
  }
  // The parts of a plan move one after another, and the job stops once.
  void partsShareTheFixedCosts() {
    const ptc::Layout a = LayoutOn("dp=1 on n0g0"), b = LayoutOn("dp=2 on n0g0,n1g0");
    const ptc::Outline plan = *ptc::MakeOutline(a, b, {});
    const double fixed = PauseCosts().fixed_seconds;
    const double move = EstimatePause(plan) - fixed;
    QVERIFY(move > 0);
    QVERIFY(Near(EstimatePause(std::vector{plan, plan, plan}), fixed + 3 * move));
    QVERIFY(Near(EstimatePause(std::vector<ptc::Outline>{}), fixed));
  }
  // Each device reads what it holds of them, all at the same time.
  void replicasThatAreDroppedAreRead() {
    const ptc::Layout two = LayoutOn("dp=2,tp=2 on 1x4");
    const double rate = PauseCosts().digest_bytes_per_second;
    QVERIFY(Near(engine::SecondsOfReplicas(two, LayoutOn("dp=1,tp=2 on n0g0,n0g1"), {}),
                 kBytes / 2 / rate));
    QCOMPARE(engine::SecondsOfReplicas(two, LayoutOn("dp=3,tp=2 on 1x6"), {}), 0.0);
  }
  void roundsAddToThePause() {
    QCOMPARE(engine::SecondsOfRounds(0), 0.0);
    QVERIFY(engine::SecondsOfRounds(1) > 0);
    QVERIFY(Near(engine::SecondsOfRounds(40), 40 * engine::SecondsOfRounds(1)));
  }
};
TESSERA_TEST_APPLESS(EstimateTest)
#include "estimate_test.moc"
