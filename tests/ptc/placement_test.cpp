// SPDX-License-Identifier: Apache-2.0
#include <QTest>
#include <algorithm>
#include <numeric>
#include <set>

#include "ptc/plan/assignment.h"
#include "ptc/plan/plan.h"
#include "ptc/plan/transport.h"
#include "tests/ptc/oracle.h"
#include "tests/ptc/random_job.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera::ptc;
using tessera::test::AnyJob;
using tessera::test::HeldElements;

namespace {

using Costs = std::vector<std::vector<AssignmentCost>>;

AssignmentCost Total(const Costs& costs, const std::vector<std::size_t>& columns) {
  AssignmentCost sum;
  for (std::size_t row = 0; row < costs.size(); ++row) sum = sum + costs[row][columns[row]];
  return sum;
}

/// Calls visit(columns) for every way to give each row its own column.
template <typename Visit>
void ForEachAssignment(std::size_t rows, std::size_t columns, Visit visit) {
  std::vector<std::size_t> order(columns);
  std::iota(order.begin(), order.end(), std::size_t{0});
  do {
    visit(
        std::vector<std::size_t>(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(rows)));
  } while (std::next_permutation(order.begin(), order.end()));
}

/// Bytes that `to` would find in place, element by element.
std::int64_t InPlace(const Layout& from, const Layout& to) {
  std::int64_t bytes = 0;
  const auto& tensors = from.collection().tensors();
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    for (int rank = 0; rank < to.mesh().num_ranks(); ++rank) {
      const auto old = from.mesh().RankOf(to.mesh().devices()[static_cast<std::size_t>(rank)]);
      if (!old) continue;
      const auto needed = HeldElements(to, rank, static_cast<int>(t));
      const auto held = HeldElements(from, *old, static_cast<int>(t));
      for (std::size_t i = 0; i < held.size(); ++i) {
        if (held[i] && needed[i]) bytes += SizeBytes(tensors[t].dtype);
      }
    }
  }
  return bytes;
}

Layout Matrix(const std::string& mesh) {
  TensorSpec spec;
  spec.name = "w";
  spec.shape = {64};
  spec.rule.dims = {{{Axis::kTp}}};
  return *Layout::Make(*ParseDeviceMesh(mesh), *Collection::Make({spec}, 0));
}

std::string Placed(const Layout& from, const std::string& shape, const std::string& devices,
                   const Topology& topology = {}) {
  const auto mesh = Place(from, *ParseMeshShape(shape), *ParseDevices(devices), topology);
  return mesh ? ToString(mesh->devices()) : mesh.error().ToString();
}

}  // namespace

class PlacementTest : public QObject {
  Q_OBJECT
 private slots:
  void assignmentIsOptimal() {
    std::mt19937_64 rng(tessera::test::Seed());
    for (int i = 0; i < 500; ++i) {
      const std::size_t columns = 1 + rng() % 6;
      const std::size_t rows = 1 + rng() % columns;
      const auto any = [&] { return static_cast<std::int64_t>(rng() % 4) - 2; };
      Costs costs(rows);
      for (auto& row : costs) {
        for (std::size_t c = 0; c < columns; ++c) row.push_back({any(), any(), any()});
      }
      AssignmentCost best = Total(costs, SolveAssignment(costs));
      ForEachAssignment(rows, columns, [&](const std::vector<std::size_t>& other) {
        QVERIFY(!(Total(costs, other) < best));
      });
      auto taken = SolveAssignment(costs);
      std::sort(taken.begin(), taken.end());
      QVERIFY(std::adjacent_find(taken.begin(), taken.end()) == taken.end());
    }
  }

  // Equal rows and columns in numbers cost the same as one by one.
  void transportIsTheAssignmentOfEquals() {
    std::mt19937_64 rng(tessera::test::Seed() + 3);
    for (int i = 0; i < 500; ++i) {
      const std::size_t rows = 1 + rng() % 4;
      const std::size_t columns = 1 + rng() % 4;
      std::vector<std::int64_t> supply(rows);
      std::vector<std::int64_t> capacity(columns);
      std::int64_t placed = 0;
      for (std::int64_t& amount : supply) placed += amount = static_cast<std::int64_t>(rng() % 4);
      for (std::int64_t& amount : capacity) amount = static_cast<std::int64_t>(rng() % 4);
      const std::int64_t room = std::accumulate(capacity.begin(), capacity.end(), std::int64_t{0});
      capacity[0] += std::max<std::int64_t>(0, placed - room);
      Costs costs(rows);
      for (auto& row : costs) {
        const auto any = [&] { return static_cast<std::int64_t>(rng() % 5) - 2; };
        for (std::size_t c = 0; c < columns; ++c) row.push_back({any(), any(), any()});
      }
      const auto flow = SolveTransport(costs, supply, capacity);
      AssignmentCost sum;
      Costs single;
      for (std::size_t r = 0; r < rows; ++r) {
        std::int64_t amount = 0;
        for (std::size_t c = 0; c < columns; ++c) {
          QVERIFY(flow[r][c] >= 0);
          amount += flow[r][c];
          for (std::int64_t k = 0; k < flow[r][c]; ++k) sum = sum + costs[r][c];
        }
        QCOMPARE(amount, supply[r]);
        std::vector<AssignmentCost> row;
        for (std::size_t c = 0; c < columns; ++c) {
          row.insert(row.end(), static_cast<std::size_t>(capacity[c]), costs[r][c]);
        }
        single.insert(single.end(), static_cast<std::size_t>(supply[r]), row);
      }
      for (std::size_t c = 0; c < columns; ++c) {
        std::int64_t amount = 0;
        for (std::size_t r = 0; r < rows; ++r) amount += flow[r][c];
        QVERIFY(amount <= capacity[c]);
      }
      if (!single.empty()) QVERIFY(sum == Total(single, SolveAssignment(single)));
    }
  }

  // Hosts of unequal size, one with too few devices for a block, and one host with all devices.
  void largePlacementsUseEachDeviceOnce() {
    std::mt19937_64 rng(tessera::test::Seed() + 4);
    const Layout from = Matrix("tp=8,dp=20 on 20x8");
    for (int i = 0; i < 20; ++i) {
      std::vector<DeviceId> devices = from.mesh().devices();
      std::shuffle(devices.begin(), devices.end(), rng);
      devices.resize(136 + rng() % 24);
      devices.push_back({30, 0});
      Topology topology;
      if (i % 2 == 1) {
        for (std::int32_t node = 0; node < 20; ++node) topology.host_of_node[node] = node % 3;
      }
      const auto placed = FindPlacement(from, *ParseMeshShape("tp=8,dp=17"), from.collection_ptr(),
                                        devices, topology);
      QVERIFY(placed);
      std::set<DeviceId> used(placed->mesh.devices().begin(), placed->mesh.devices().end());
      QCOMPARE(used.size(), std::size_t{136});
      for (DeviceId device : used) {
        QVERIFY(std::find(devices.begin(), devices.end(), device) != devices.end());
      }
      const Layout to = *Layout::Make(placed->mesh, from.collection_ptr());
      QCOMPARE(placed->in_place_bytes, InPlace(from, to));
      QVERIFY(placed->in_place_bytes <= placed->bound_bytes);
    }
  }

  // No order of the devices leaves more bytes in place, counted element by element.
  void placementKeepsTheMostBytes() {
    std::mt19937_64 rng(tessera::test::Seed() + 1);
    int better = 0;
    for (int i = 0; i < 4000 && better < 40; ++i) {
      const auto job = AnyJob(rng);
      auto devices = job.from.mesh().devices();
      const MeshShape& shape = job.to.mesh().shape();
      const auto ranks = static_cast<std::size_t>(shape.num_ranks());
      if (ranks > 6 || devices.size() > 6) continue;
      while (devices.size() < ranks) {
        devices.push_back({9, static_cast<std::int32_t>(devices.size())});
      }
      const CollectionPtr& collection = job.to.collection_ptr();
      const auto in_place = [&](const DeviceMesh& mesh) {
        return InPlace(job.from, *Layout::Make(mesh, collection));
      };
      const auto placed = Place(job.from, shape, collection, devices, {});
      QVERIFY(placed);
      const std::int64_t kept = in_place(*placed);
      std::sort(devices.begin(), devices.end());
      std::int64_t most = 0;
      ForEachAssignment(ranks, devices.size(), [&](const std::vector<std::size_t>& columns) {
        std::vector<DeviceId> chosen;
        for (std::size_t c : columns) chosen.push_back(devices[c]);
        most = std::max(most, in_place(*DeviceMesh::Make(shape, chosen)));
      });
      QCOMPARE(kept, most);
      devices.resize(ranks);
      better += kept > in_place(*DeviceMesh::Make(shape, devices)) ? 1 : 0;
    }
    QVERIFY(better > 0);
  }

  void tiesAndTiers_data() {
    QTest::addColumn<QString>("from");
    QTest::addColumn<QString>("shape");
    QTest::addColumn<QString>("devices");
    QTest::addColumn<QString>("placed");
    QTest::newRow("nothing in place: ascending in rank order") << "tp=2 on n5g0,n5g1"
                                                               << "tp=4"
                                                               << "n1g1,n0g1,n1g0,n0g0"
                                                               << "n0g0,n0g1,n1g0,n1g1";
    QTest::newRow("the same mesh stays as it is") << "tp=2 on n0g1,n0g0"
                                                  << "tp=2"
                                                  << "n0g0,n0g1"
                                                  << "n0g1,n0g0";
    QTest::newRow("only as many devices as ranks, the lowest of equals") << "dp=4 on 1x4"
                                                                         << "dp=2"
                                                                         << "n0g3,n0g2,n0g1,n0g0"
                                                                         << "n0g0,n0g1";
    QTest::newRow("the ones that hold it win over lower ones") << "tp=2 on n1g0,n1g1"
                                                               << "tp=2"
                                                               << "2x2"
                                                               << "n1g0,n1g1";
    QTest::newRow("of devices without it, one beside the holder") << "tp=2 on n0g0,n1g0"
                                                                  << "tp=2"
                                                                  << "n0g3,n1g3"
                                                                  << "n0g3,n1g3";
    QTest::newRow("and also against the ascending order") << "tp=2 on n1g0,n0g0"
                                                          << "tp=2"
                                                          << "n0g3,n1g3"
                                                          << "n1g3,n0g3";
    QTest::newRow("too few devices") << "tp=2 on n0g0,n0g1"
                                     << "tp=4"
                                     << "n0g0,n0g1"
                                     << "mesh dp=1,tp=4,pp=1 has 4 ranks but 2 devices are given";
    QTest::newRow("an uneven cut") << "tp=2 on n0g0,n0g1"
                                   << "tp=3"
                                   << "1x3"
                                   << "tensor 'w': dim 0 = 64 is not divisible by axis tp = 3";
  }
  void tiesAndTiers() {
    QFETCH(QString, from);
    QFETCH(QString, shape);
    QFETCH(QString, devices);
    QFETCH(QString, placed);
    QCOMPARE(Placed(Matrix(from.toStdString()), shape.toStdString(), devices.toStdString()),
             placed.toStdString());
  }

  void orderOfTheDevicesGivenDoesNotMatter() {
    std::mt19937_64 rng(tessera::test::Seed() + 2);
    for (int i = 0; i < 200; ++i) {
      const auto job = AnyJob(rng);
      auto devices = job.to.mesh().devices();
      const auto place = [&] {
        return *Place(job.from, job.to.mesh().shape(), job.to.collection_ptr(), devices, {});
      };
      const DeviceMesh placed = place();
      std::shuffle(devices.begin(), devices.end(), rng);
      QCOMPARE(ToString(place()), ToString(placed));
    }
  }
};

TESSERA_TEST_APPLESS(PlacementTest)
#include "placement_test.moc"
