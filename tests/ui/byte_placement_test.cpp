// SPDX-License-Identifier: Apache-2.0
// Holders of the bytes of an entry, compared byte by byte with ownership from the definitions.
#include "ui/models/byte_placement.h"

#include <QTest>
#include <algorithm>
#include <map>

#include "tests/engine/vfs/fake_source.h"
#include "tests/ptc/oracle.h"
#include "tests/ptc/random_job.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera;
using namespace tessera::ui;
using engine::vfs::FilePlan;
using engine::vfs::StateFile;
using Run = BytePlacement::Run;

namespace {

/// Elements of the uncut tensor in the order of an entry's bytes.
std::vector<std::size_t> ElementsInOrder(const ptc::Shape& shape,
                                         const std::vector<ptc::Box>& boxes) {
  if (boxes.size() == 1) return test::ElementsOf(shape, boxes.front());
  int dim = 0;  // the boxes follow each other along it
  while (boxes[0][dim] == boxes[1][dim]) ++dim;
  std::int64_t inner = 1;  // elements of one index of `dim`
  for (int d = dim + 1; d < boxes[0].rank(); ++d) inner *= boxes[0][d].size();
  std::vector<std::vector<std::size_t>> of_box;
  for (const ptc::Box& box : boxes) of_box.push_back(test::ElementsOf(shape, box));
  std::vector<std::size_t> elements;
  for (std::int64_t row = 0; row * boxes[0][dim].size() * inner < std::ssize(of_box[0]); ++row) {
    for (std::size_t b = 0; b < boxes.size(); ++b) {
      const std::int64_t size = boxes[b][dim].size() * inner;
      const auto first = of_box[b].begin() + row * size;
      elements.insert(elements.end(), first, first + size);
    }
  }
  return elements;
}

/// The ranks that hold each byte of an entry.
std::vector<std::vector<int>> HoldersOfBytes(const ptc::Layout& layout,
                                             const FilePlan::Entry& entry) {
  std::vector<std::vector<int>> holders(static_cast<std::size_t>(entry.end - entry.begin));
  if (entry.held.boxes().empty()) return holders;
  const ptc::Shape& shape =
      layout.collection().tensors()[static_cast<std::size_t>(entry.tensor)].shape;
  const std::vector<std::size_t> elements = ElementsInOrder(shape, entry.held.boxes());
  const auto width = static_cast<std::size_t>(entry.element_bytes);
  for (int rank = 0; rank < layout.mesh().num_ranks(); ++rank) {
    const std::vector<bool> held = test::HeldElements(layout, rank, entry.tensor);
    for (std::size_t byte = 0; byte < holders.size(); ++byte) {
      if (held[elements[byte / width]]) holders[byte].push_back(rank);
    }
  }
  return holders;
}

/// One f32 tensor of `shape`, its dims cut evenly by these axes.
ptc::Layout LayoutOf(const char* mesh, ptc::Shape shape, std::vector<std::vector<ptc::Axis>> cuts) {
  ptc::TensorSpec spec;
  spec.name = "w";
  spec.shape = std::move(shape);
  for (auto& axes : cuts) spec.rule.dims.push_back({.axes = std::move(axes)});
  return *ptc::Layout::Make(*ptc::ParseDeviceMesh(mesh), *ptc::Collection::Make({spec}, 0));
}

FilePlan::Entry FirstEntry(const ptc::Layout& layout, std::optional<int> rank = {}) {
  const auto plan = FilePlan::Make(test::AnyJobInfo("job", layout), rank, StateFile::kModel);
  return plan->entries().front();
}

}  // namespace

class BytePlacementTest : public QObject {
  Q_OBJECT

 private slots:
  void everyByteHasTheRanksOfTheDefinition() {
    std::mt19937_64 rng(test::Seed());
    int cut_inside = 0;
    for (int i = 0; i < 1200; ++i) {
      const ptc::Layout layout = test::AnyLayout(rng);
      const auto ranks = static_cast<std::uint64_t>(layout.mesh().num_ranks());
      const auto rank =
          rng() % 3 == 0 ? std::optional(static_cast<int>(rng() % ranks)) : std::nullopt;
      const StateFile part = rng() % 2 == 0 ? StateFile::kModel : StateFile::kOptimizer;
      const auto plan = FilePlan::Make(test::AnyJobInfo("job", layout), rank, part);
      if (!plan) continue;  // a name that comes twice
      for (const FilePlan::Entry& entry : plan->entries()) {
        const BytePlacement placement = BytePlacement::of(layout, entry);
        const auto holders = HoldersOfBytes(layout, entry);
        QCOMPARE(placement.size(), std::ssize(holders));
        std::vector<Run> runs;  // longest ones
        for (std::size_t byte = 0; byte < holders.size(); ++byte) {
          const Run run = placement.runAt(static_cast<std::int64_t>(byte));
          QCOMPARE(placement.groups()[run.group], holders[byte]);
          if (byte == 0 || holders[byte] != holders[byte - 1]) runs.push_back(run);
          QCOMPARE(run, runs.back());
        }
        for (std::size_t r = 0; r < runs.size(); ++r) {
          QCOMPARE(runs[r].begin, r == 0 ? 0 : runs[r - 1].end);
        }
        QCOMPARE(placement.numRuns(), std::ssize(runs));
        QCOMPARE(placement.runs(runs.size() + 1), runs);
        const std::size_t most = rng() % (runs.size() + 1);
        QCOMPARE(placement.runs(most), std::vector<Run>(runs.begin(), runs.begin() + long(most)));
        if (std::ssize(runs) > std::ssize(placement.groups())) ++cut_inside;
        checkShares(rng, placement, holders);
        if (QTest::currentTestFailed()) return;
      }
    }
    QVERIFY2(cut_inside > 10, "no tensors were drawn whose groups come again");
  }

  void aCutOfTheColumnsComesAgainInEveryRow() {
    const ptc::Layout layout =
        LayoutOf("dp=1,tp=2,pp=1 on n0g0,n0g1", {1'000'000, 8}, {{}, {ptc::Axis::kTp}});
    const BytePlacement placement = BytePlacement::of(layout, FirstEntry(layout));
    QCOMPARE(placement.numRuns(), std::int64_t{2'000'000});
    QCOMPARE(placement.runAt(32'000'000 - 1), (Run{31'999'984, 32'000'000, 1}));
    QCOMPARE(placement.runs(3), (std::vector<Run>{{0, 16, 0}, {16, 32, 1}, {32, 48, 0}}));
    QCOMPARE(placement.shares(8, 32'000'000),
             (std::vector<BytePlacement::Share>{{0, 15'999'992}, {1, 16'000'000}}));
  }

  void replicasAreOneGroup() {
    const ptc::Layout layout =
        LayoutOf("dp=2,tp=2,pp=1 on n0g0,n0g1,n1g0,n1g1", {4, 8}, {{ptc::Axis::kTp}, {}});
    const BytePlacement placement = BytePlacement::of(layout, FirstEntry(layout));
    QCOMPARE(placement.groups(), (std::vector<std::vector<int>>{{0, 2}, {1, 3}}));
    QCOMPARE(placement.runs(9), (std::vector<Run>{{0, 64, 0}, {64, 128, 1}}));
  }

  void aRanksFileIsHeldByItsReplicasToo() {
    const ptc::Layout layout =
        LayoutOf("dp=2,tp=2,pp=1 on n0g0,n0g1,n1g0,n1g1", {4, 8}, {{}, {ptc::Axis::kTp}});
    const BytePlacement placement = BytePlacement::of(layout, FirstEntry(layout, 3));
    QCOMPARE(placement.groups(), (std::vector<std::vector<int>>{{1, 3}}));
    QCOMPARE(placement.runs(9), (std::vector<Run>{{0, 64, 0}}));
  }

  void ofNoElementsNobodyHoldsAny() {
    const ptc::Layout layout = LayoutOf("dp=1,tp=1,pp=1 on n0g0", {0, 8}, {{}, {}});
    const BytePlacement placement = BytePlacement::of(layout, FirstEntry(layout));
    QCOMPARE(placement.size(), std::int64_t{0});
    QCOMPARE(placement.numRuns(), std::int64_t{0});
    QVERIFY(placement.groups().empty());
    QVERIFY(placement.runs(5).empty());
    QVERIFY(placement.shares(0, 0).empty());
  }

 private:
  static void checkShares(std::mt19937_64& rng, const BytePlacement& placement,
                          const std::vector<std::vector<int>>& holders) {
    for (int i = 0; i < 4; ++i) {
      const std::uint64_t a = rng() % (holders.size() + 1), b = rng() % (holders.size() + 1);
      const auto begin = static_cast<std::int64_t>(std::min(a, b));
      const auto end = static_cast<std::int64_t>(std::max(a, b));
      std::map<std::vector<int>, std::int64_t> expected, got;
      for (std::int64_t byte = begin; byte < end; ++byte)
        ++expected[holders[static_cast<std::size_t>(byte)]];
      for (const auto& [group, bytes] : placement.shares(begin, end)) {
        QVERIFY(bytes > 0);
        got[placement.groups()[group]] += bytes;
      }
      QCOMPARE(got, expected);
    }
  }
};

TESSERA_TEST_APPLESS(BytePlacementTest)
#include "byte_placement_test.moc"
