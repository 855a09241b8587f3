// SPDX-License-Identifier: Apache-2.0
// The groups of which a change drops replicas, compared with the cells of all devices.
#include "ptc/plan/dropped_replicas.h"

#include <QTest>
#include <algorithm>
#include <set>
#include <vector>

#include "ptc/plan/placed_cells.h"
#include "tests/ptc/random_job.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera::ptc;
using tessera::test::AnyJob;
using tessera::test::Job;

namespace {

Layout LayoutOn(const char* mesh, const std::vector<TensorSpec>& tensors) {
  return *Layout::Make(*ParseDeviceMesh(mesh), *Collection::Make(tensors, 1));
}

}  // namespace

class DroppedReplicasTest : public QObject {
  Q_OBJECT

 private slots:
  void theyAreThoseOfTheCells() {
    std::mt19937_64 rng(tessera::test::Seed());
    int numDropped = 0;
    for (int i = 0; i < 400; ++i) {
      const Job job = AnyJob(rng);
      std::vector<DeviceId> lost;
      for (const DeviceId device : job.from.mesh().devices()) {
        if (rng() % 4 == 0) lost.push_back(device);
      }
      const DeviceCells held(job.from, job.to, CellOwners::kHolders, lost);
      const DeviceCells needed(job.from, job.to, CellOwners::kNeeders);
      // Cells of which a holder is no needer, by the numbers of their groups.
      std::set<std::tuple<int, Box>> dropped;
      const PlacedCells cells(job.from, job.to);
      for (int t = 0; t < static_cast<int>(job.from.collection().tensors().size()); ++t) {
        cells.ForEach(t, [&](const Box& box, std::vector<DeviceId> holders, const auto& needers) {
          std::erase_if(holders, [&](DeviceId d) { return std::ranges::count(lost, d) > 0; });
          const bool all_need = std::ranges::all_of(
              holders, [&](DeviceId d) { return std::ranges::count(needers, d) > 0; });
          if (holders.size() > 1 && !all_need) dropped.emplace(t, box);
        });
      }
      std::set<int> groups;
      for (const DeviceId device : job.from.mesh().devices()) {
        if (std::ranges::count(lost, device) > 0) continue;
        for (const auto& [tensor, box, group] : held.Of(device)) {
          if (dropped.contains({tensor, *box})) groups.insert(group);
        }
      }
      numDropped += static_cast<int>(groups.size());
      for (const DeviceId device : job.from.mesh().devices()) {
        if (std::ranges::count(lost, device) > 0) continue;
        std::set<int> mine;
        for (const DeviceCells::Entry& entry : held.Of(device)) {
          if (groups.contains(entry.group)) mine.insert(entry.group);
        }
        const std::vector<int> found = DroppedReplicas(held, needed, device);
        QVERIFY(std::vector<int>(mine.begin(), mine.end()) == found);
      }
      QCOMPARE(DroppedReplicaBytes(job.from, job.to, lost) > 0, !groups.empty());
    }
    QVERIFY(numDropped > 100);
  }

  void theirBytesAreThoseOfOneDevice() {
    const std::vector<TensorSpec> tensors = {{.name = "w", .dtype = DType::kF32, .shape = {8, 4}},
                                             {.name = "step", .dtype = DType::kI64, .shape = {1}}};
    const Layout two = LayoutOn("dp=2 on n0g0,n0g1", tensors);
    const std::int64_t all = 8 * 4 * 4 + 8;
    QCOMPARE(DroppedReplicaBytes(two, LayoutOn("dp=1 on n0g0", tensors)), all);
    QCOMPARE(DroppedReplicaBytes(two, LayoutOn("dp=2 on n0g0,n0g2", tensors)), all);
    // All replicas stay, or there is only one.
    QCOMPARE(DroppedReplicaBytes(two, LayoutOn("dp=3 on n0g0,n0g1,n0g2", tensors)), 0);
    QCOMPARE(DroppedReplicaBytes(two, two), 0);
    QCOMPARE(DroppedReplicaBytes(two, LayoutOn("dp=1 on n0g2", tensors), {{0, 1}}), 0);
    QCOMPARE(DroppedReplicaBytes(LayoutOn("dp=1 on n0g0", tensors), two), 0);
  }
};

TESSERA_TEST_APPLESS(DroppedReplicasTest)
#include "dropped_replicas_test.moc"
