// SPDX-License-Identifier: Apache-2.0
// Replicas on different nodes and racks, and the state that exists in one place only.
#include "ptc/plan/spread.h"

#include <QTest>
#include <algorithm>
#include <map>
#include <set>

#include "ptc/plan/exposure.h"
#include "ptc/plan/placement.h"
#include "tests/ptc/oracle.h"
#include "tests/ptc/random_job.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera::ptc;
using tessera::test::AnyLayout;
using tessera::test::HeldElements;

namespace {

std::vector<std::int32_t> NodesOf(const DeviceMesh& mesh) {
  std::vector<std::int32_t> nodes;
  for (const DeviceId device : mesh.devices()) nodes.push_back(device.node);
  return nodes;
}

std::map<std::int32_t, std::int64_t> OnlyOnOneNode(const Layout& layout) {
  return HeldOnlyIn(MakeKinds(layout, layout), NodesOf(layout.mesh()));
}

/// Element by element.
std::map<std::int32_t, std::int64_t> OnlyOnOneNodeByElements(const Layout& layout) {
  std::map<std::int32_t, std::int64_t> bytes;
  const auto& tensors = layout.collection().tensors();
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    std::map<std::size_t, std::set<std::int32_t>> nodes;
    for (int rank = 0; rank < layout.mesh().num_ranks(); ++rank) {
      const auto held = HeldElements(layout, rank, static_cast<int>(t));
      for (std::size_t e = 0; e < held.size(); ++e) {
        if (held[e]) nodes[e].insert(layout.mesh().devices()[static_cast<std::size_t>(rank)].node);
      }
    }
    for (const auto& [element, on] : nodes) {
      if (on.size() == 1) bytes[*on.begin()] += SizeBytes(tensors[t].dtype);
    }
  }
  return bytes;
}

/// Eight layers of one matrix each, cut over tp, on a mesh with devices.
Layout Layers(const std::string& mesh) {
  std::vector<TensorSpec> specs;
  for (int layer = 0; layer < 8; ++layer) {
    TensorSpec spec;
    spec.name = "h." + std::to_string(layer) + ".w";
    spec.shape = {64, 64};
    spec.place = StagePlace::kLayer;
    spec.layer = layer;
    spec.rule.dims = {{{Axis::kTp}}, {}};
    specs.push_back(spec);
  }
  return *Layout::Make(*ParseDeviceMesh(mesh), *Collection::Make(specs, 8));
}

}  // namespace

class SpreadTest : public QObject {
  Q_OBJECT
 private slots:
  void whatOnlyOneNodeHoldsIsCounted() {
    std::mt19937_64 rng(tessera::test::Seed());
    int alone = 0;
    for (int i = 0; i < 600; ++i) {
      const Layout layout = AnyLayout(rng);
      const auto expected = OnlyOnOneNodeByElements(layout);
      QVERIFY(OnlyOnOneNode(layout) == expected);
      alone += !expected.empty();
    }
    QVERIFY(alone > 100);
  }

  // Whatever is placed within the halves, no domain holds all replicas of a rank.
  void halvesKeepReplicasApart() {
    std::mt19937_64 rng(tessera::test::Seed());
    int divided = 0;
    for (int i = 0; i < 2000; ++i) {
      MeshShape shape;
      shape[Axis::kPp] = 1 + static_cast<std::int64_t>(rng() % 3);
      shape[Axis::kDp] = 1 + static_cast<std::int64_t>(rng() % 4);
      shape[Axis::kTp] = 1 + static_cast<std::int64_t>(rng() % 3);
      std::vector<std::int32_t> domains;
      for (std::int32_t domain = 0; domain < 4; ++domain) {
        domains.insert(domains.end(), rng() % 6, domain);
      }
      const auto ranks = static_cast<std::size_t>(shape.num_ranks());
      if (domains.size() < ranks) continue;
      std::vector<int> wanted;
      for (std::size_t r = 0; r < ranks; ++r) {
        wanted.push_back(static_cast<int>(rng() % domains.size()));
      }
      for (Halves halves : DivideReplicas(shape, domains, wanted)) {
        std::vector<std::int32_t> domain_of(ranks, -1);
        for (Half& half : halves) {
          QVERIFY(!half.ranks.empty() && half.devices.size() >= half.ranks.size());
          std::shuffle(half.devices.begin(), half.devices.end(), rng);
          for (std::size_t r = 0; r < half.ranks.size(); ++r) {
            domain_of[static_cast<std::size_t>(half.ranks[r])] =
                domains[static_cast<std::size_t>(half.devices[r])];
          }
        }
        QVERIFY(std::ranges::find(domain_of, -1) == domain_of.end());
        QVERIFY(KeepsReplicasApart(shape, domain_of));
        ++divided;
      }
    }
    QVERIFY(divided > 200);
  }

  // Of dp = 2, tp = 2 on one node all GPUs hold the same share of each new stage, so it costs no
  // byte to put the two replicas of each stage on different nodes.
  void replicasAreKeptApartAtNoCost() {
    const Layout from = Layers("dp=2,tp=2 on n0g0,n0g1,n0g2,n0g3");
    const auto devices = *ParseDevices("2x4");
    const auto shape = *ParseMeshShape("dp=2,pp=4");
    const auto placements = FindPlacements(from, shape, from.collection_ptr(), devices, {});
    VERIFY_OK(placements);
    QCOMPARE(placements->size(), std::size_t{2});
    QVERIFY(!KeepsReplicasApart(shape, NodesOf(placements->front().mesh)));
    QVERIFY(KeepsReplicasApart(shape, NodesOf(placements->back().mesh)));
    QCOMPARE(placements->back().in_place_bytes, placements->front().in_place_bytes);
    const auto layout = *Layout::Make(placements->back().mesh, from.collection_ptr());
    QVERIFY(OnlyOnOneNode(layout).empty());
    // A job that starts: the replicas of a stage are next to each other in the order of ranks.
    const auto meshes = NewPlacements(shape, devices, {});
    VERIFY_OK(meshes);
    QCOMPARE(meshes->size(), std::size_t{2});
    QVERIFY(!KeepsReplicasApart(shape, NodesOf(meshes->front())));
    QVERIFY(KeepsReplicasApart(shape, NodesOf(meshes->back())));
  }

  void racksComeBeforeNodes() {
    Topology topology;
    topology.rack_of_host = {{0, 0}, {1, 0}, {2, 1}, {3, 1}};
    const auto shape = *ParseMeshShape("dp=2,pp=2");
    const auto racks_of = [&](const DeviceMesh& mesh) {
      std::vector<std::int32_t> racks = NodesOf(mesh);
      for (std::int32_t& node : racks) node = topology.RackOf(node);
      return racks;
    };
    // One device on each of four nodes: both replicas of a stage are in one rack at first.
    const auto meshes = NewPlacements(shape, *ParseDevices("n0g0,n1g0,n2g0,n3g0"), topology);
    VERIFY_OK(meshes);
    QCOMPARE(meshes->size(), std::size_t{2});
    QVERIFY(KeepsReplicasApart(shape, NodesOf(meshes->front())));
    QVERIFY(!KeepsReplicasApart(shape, racks_of(meshes->front())));
    QVERIFY(KeepsReplicasApart(shape, racks_of(meshes->back())));
  }

  void whereItIsImpossibleNothingIsOffered() {
    const auto one_node = NewPlacements(*ParseMeshShape("dp=2"), *ParseDevices("1x4"), {});
    QCOMPARE(one_node->size(), std::size_t{1});
    const auto one_replica = NewPlacements(*ParseMeshShape("pp=4"), *ParseDevices("2x4"), {});
    QCOMPARE(one_replica->size(), std::size_t{1});
    // Three of four ranks must be on n0.
    const auto uneven =
        NewPlacements(*ParseMeshShape("dp=2,pp=2"), *ParseDevices("n0g0,n0g1,n0g2,n1g0"), {});
    QCOMPARE(uneven->size(), std::size_t{1});
  }
};
TESSERA_TEST_APPLESS(SpreadTest)
#include "spread_test.moc"
