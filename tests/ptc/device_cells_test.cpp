// SPDX-License-Identifier: Apache-2.0
// The cells of single devices, compared with the cells of all devices.
#include "ptc/plan/device_cells.h"

#include <QTest>
#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "ptc/plan/placed_cells.h"
#include "tests/bench/llama.h"
#include "tests/ptc/random_job.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera::ptc;
using tessera::test::AnyJob;
using tessera::test::Job;

namespace {

/// A cell with its owners.
struct Owned {
  int tensor;
  Box box;
  std::vector<DeviceId> owners;
};

std::vector<Owned> AllCells(const Job& job, CellOwners side, const std::vector<DeviceId>& lost) {
  std::vector<Owned> out;
  const PlacedCells cells(job.from, job.to);
  for (int t = 0; t < static_cast<int>(job.from.collection().tensors().size()); ++t) {
    cells.ForEach(t, [&](const Box& box, const auto& holders, const auto& needers) {
      Owned& cell =
          out.emplace_back(Owned{t, box, side == CellOwners::kHolders ? holders : needers});
      if (side == CellOwners::kNeeders) return;
      std::erase_if(cell.owners,
                    [&](DeviceId device) { return std::ranges::count(lost, device) > 0; });
    });
  }
  return out;
}

}  // namespace

class DeviceCellsTest : public QObject {
  Q_OBJECT

 private slots:
  // Each device lists exactly its cells, in their order, and a group has exactly the owners of each
  // of its cells.
  void theyAreThoseOfAllDevices() {
    std::mt19937_64 rng(tessera::test::Seed());
    for (int i = 0; i < 400; ++i) {
      const Job job = AnyJob(rng);
      for (const CellOwners side : {CellOwners::kHolders, CellOwners::kNeeders}) {
        const Layout& layout = side == CellOwners::kHolders ? job.from : job.to;
        std::vector<DeviceId> lost;
        for (const DeviceId device : job.from.mesh().devices()) {
          if (rng() % 4 == 0) lost.push_back(device);
        }
        const std::vector<Owned> all = AllCells(job, side, lost);
        const DeviceCells cells(job.from, job.to, side, lost);
        for (const DeviceId device : layout.mesh().devices()) {
          if (side == CellOwners::kHolders && std::ranges::count(lost, device) > 0) continue;
          const std::vector<DeviceCells::Entry> mine = cells.Of(device);
          std::size_t next = 0;
          for (const Owned& cell : all) {
            if (std::ranges::count(cell.owners, device) == 0) continue;
            QVERIFY(next < mine.size());
            const DeviceCells::Entry& entry = mine[next++];
            QCOMPARE(entry.tensor, cell.tensor);
            QVERIFY(*entry.box == cell.box);
            QVERIFY(cells.OwnersOf(entry.group) == cell.owners);
            QCOMPARE(cells.NumOwners(entry.group), cell.owners.size());
            QVERIFY(cells.Representative(entry.group) == cell.owners.front());
          }
          QCOMPARE(next, mine.size());
        }
        QVERIFY(cells.Of({77, 0}).empty());
      }
    }
  }

  // One representative counts each cell once.
  void eachCellIsRepresentedOnce() {
    std::mt19937_64 rng(tessera::test::Seed() + 1);
    for (int i = 0; i < 200; ++i) {
      const Job job = AnyJob(rng);
      const DeviceCells cells(job.from, job.to, CellOwners::kNeeders);
      std::multiset<std::pair<int, Box>> counted, wanted;
      for (const DeviceId device : job.to.mesh().devices()) {
        for (const DeviceCells::Entry& entry : cells.Of(device)) {
          if (cells.Representative(entry.group) == device) {
            counted.emplace(entry.tensor, *entry.box);
          }
        }
      }
      for (const Owned& cell : AllCells(job, CellOwners::kNeeders, {})) {
        wanted.emplace(cell.tensor, cell.box);
      }
      QVERIFY(counted == wanted);
    }
  }

  // Llama-3-405B from 1,024 x 8 to 2,048 x 8 devices with ZeRO-1: a device has few groups, and
  // lists its cells in milliseconds.
  void aDeviceOfALargeClusterHasFewGroups() {
    using std::chrono::steady_clock;
    const auto tensors = tessera::test::MakeLlama(tessera::test::kLlama405B, true);
    const auto from = Layout::Make(*ParseDeviceMesh("dp=64,tp=8,pp=16 on 1024x8"), tensors);
    const auto to = Layout::Make(*ParseDeviceMesh("dp=128,tp=8,pp=16 on 2048x8"), tensors);
    QVERIFY(from && to);
    const auto began = steady_clock::now();
    const DeviceCells cells(*from, *to, CellOwners::kNeeders);
    const auto made = steady_clock::now();
    const std::vector<DeviceCells::Entry> mine = cells.Of({1500, 3});
    const auto listed = steady_clock::now();
    std::set<int> groups;
    for (const DeviceCells::Entry& entry : mine) groups.insert(entry.group);
    const auto ms = [](auto time) {
      return std::chrono::duration<double, std::milli>(time).count();
    };
    qInfo("%d groups, made in %.1f ms; one device: %zu cells of %zu groups, listed in %.3f ms",
          cells.num_groups(), ms(made - began), mine.size(), groups.size(), ms(listed - made));
    QVERIFY(!mine.empty());
    QVERIFY(groups.size() <= 64);
    // As many cells as a stage has tensors, times the few cells of each.
    QVERIFY(mine.size() <= 8 * tensors->tensors().size() / 16);
  }
};

TESSERA_TEST_APPLESS(DeviceCellsTest)
#include "device_cells_test.moc"
