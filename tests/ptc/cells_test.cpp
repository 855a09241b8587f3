// SPDX-License-Identifier: Apache-2.0
#include "ptc/cells.h"

#include <QTest>
#include <algorithm>

#include "tests/ptc/oracle.h"
#include "tests/ptc/random_job.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera::ptc;
using tessera::test::AnyJob;
using tessera::test::ElementsOf;
using tessera::test::HeldElements;
using tessera::test::Job;

namespace {
Box B(const std::vector<Interval>& dims) { return *Box::Make(dims); }

/// The pieces of a tensor by device, computed rank by rank.
TensorPieces PiecesOf(const Layout& from, const Layout& to, const std::vector<DeviceId>& devices,
                      int tensor) {
  TensorPieces pieces;
  for (const DeviceId device : devices) {
    const auto boxes = [&](const Layout& layout) {
      const auto rank = layout.mesh().RankOf(device);
      return rank ? layout.Boxes(*rank, tensor) : std::vector<Box>{};
    };
    pieces.held.push_back(boxes(from));
    pieces.needed.push_back(boxes(to));
  }
  return pieces;
}
}  // namespace

class CellsTest : public QObject {
  Q_OBJECT
 private slots:
  void deviceSetIsAscending() {
    DeviceSet set;
    QVERIFY(set.empty());
    for (std::size_t device : {129U, 0U, 64U, 63U}) set.Insert(device);
    QCOMPARE(set.ToVector(), (std::vector<std::size_t>{0, 63, 64, 129}));
    QCOMPARE(set.size(), std::size_t{4});
    QVERIFY(set.Contains(129) && !set.Contains(128));
  }

  void cutsOfBothSidesMakeTheCells() {
    const TensorPieces pieces{{{B({{0, 6}})}, {B({{6, 12}})}, {}},
                              {{B({{0, 4}})}, {B({{4, 8}})}, {B({{8, 12}})}}};
    std::string text;
    for (const Cell& cell : MakeCells(pieces)) {
      text += ToString(cell.box) + " held by";
      for (std::size_t device : cell.holders.ToVector()) text += " " + std::to_string(device);
      text += " needed by";
      for (std::size_t device : cell.needers.ToVector()) text += " " + std::to_string(device);
      text += "\n";
    }
    QCOMPARE(text,
             "[0:4] held by 0 needed by 0\n"
             "[4:6] held by 0 needed by 1\n"
             "[6:8] held by 1 needed by 1\n"
             "[8:12] held by 1 needed by 2\n");
  }

  // A ragged piece cuts only the rows in which it begins and ends.
  void raggedPiecesCutOnlyTheRowsTheyReach() {
    TensorSpec spec;
    spec.name = "w";
    spec.shape = {63, 65};
    spec.rule.flat = {Axis::kDp};
    const auto collection = *Collection::Make({spec}, 0);
    const auto on = [&](const char* mesh) {
      return *Layout::Make(*ParseDeviceMesh(mesh), collection);
    };
    const Layout from = on("dp=4 on 1x4");
    const Layout to = on("dp=2 on 1x2");
    const auto cells = MakeCells(PiecesOf(from, to, DevicesOf(from, to), 0));
    // 4 bodies and 3 rows cut in two.
    QCOMPARE(cells.size(), std::size_t{4 + 3 * 2});
  }

  void nothingHeldOrNeededHasNoCells() { QVERIFY(MakeCells({{{}, {}}, {{}, {}}}).empty()); }

  // Cells are disjoint and ascending. Each is inside one old piece of every holder and one new
  // piece of every needer. Together they have every element, with exactly its owners.
  void cellsAgreeWithElementOwnership() {
    std::mt19937_64 rng(tessera::test::Seed());
    for (int i = 0; i < 1000; ++i) {
      const Job job = AnyJob(rng);
      const auto devices = DevicesOf(job.from, job.to);
      const TensorSpec& spec = job.from.collection().tensors()[0];
      const TensorPieces pieces = PiecesOf(job.from, job.to, devices, 0);
      const std::vector<Cell> cells = MakeCells(pieces);
      QVERIFY(std::is_sorted(cells.begin(), cells.end(),
                             [](const Cell& a, const Cell& b) { return a.box < b.box; }));
      const auto bitmaps = [&](const Layout& layout) {
        std::vector<std::vector<bool>> by_device;
        for (DeviceId device : devices) {
          const auto rank = layout.mesh().RankOf(device);
          by_device.push_back(
              rank ? HeldElements(layout, *rank, 0)
                   : std::vector<bool>(static_cast<std::size_t>(*NumElements(spec.shape))));
        }
        return by_device;
      };
      const auto held = bitmaps(job.from);
      const auto needed = bitmaps(job.to);
      std::vector<int> seen(static_cast<std::size_t>(*NumElements(spec.shape)));
      for (const Cell& cell : cells) {
        for (std::size_t element : ElementsOf(spec.shape, cell.box)) {
          ++seen[element];
          for (std::size_t d = 0; d < devices.size(); ++d) {
            QCOMPARE(cell.holders.Contains(d), bool{held[d][element]});
            QCOMPARE(cell.needers.Contains(d), bool{needed[d][element]});
          }
        }
        for (std::size_t d = 0; d < devices.size(); ++d) {
          const auto covers = [&](const Box& piece) { return Contains(piece, cell.box); };
          QCOMPARE(std::count_if(pieces.held[d].begin(), pieces.held[d].end(), covers),
                   cell.holders.Contains(d) ? 1 : 0);
          QCOMPARE(std::count_if(pieces.needed[d].begin(), pieces.needed[d].end(), covers),
                   cell.needers.Contains(d) ? 1 : 0);
        }
      }
      QVERIFY(std::all_of(seen.begin(), seen.end(), [](int count) { return count == 1; }));
    }
  }
};

TESSERA_TEST_APPLESS(CellsTest)
#include "cells_test.moc"
