// SPDX-License-Identifier: Apache-2.0
// The plan of a layout whose state comes from outside, compared with ownership element by element.
#include "ptc/plan/refill.h"

#include <QTest>
#include <map>
#include <vector>

#include "ptc/cells.h"
#include "tests/ptc/oracle.h"
#include "tests/ptc/random_job.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera::ptc;
using tessera::test::ElementsOf;
using tessera::test::HeldElements;

class RefillTest : public QObject {
  Q_OBJECT
 private slots:
  void everyDeviceReadsWhatItHoldsOnce() {
    std::mt19937_64 rng(tessera::test::Seed());
    for (int i = 0; i < 300; ++i) {
      const Layout layout = tessera::test::AnyLayout(rng);
      const Outline outline = RefillOutline(layout);
      const DeviceMoves plan = RefillMoves(layout, outline.devices);
      const auto& tensors = layout.collection().tensors();
      std::map<std::pair<DeviceId, int>, std::vector<int>> times;
      std::int64_t bytes = 0;
      for (const StorageRead& read : plan.reads) {
        const TensorSpec& spec = tensors[static_cast<std::size_t>(read.tensor)];
        QVERIFY(Contains(read.piece, read.cell));
        auto& seen = times[{read.device, read.tensor}];
        seen.resize(static_cast<std::size_t>(*NumElements(spec.shape)));
        for (const std::size_t element : ElementsOf(spec.shape, read.cell)) ++seen[element];
        bytes += read.cell.num_elements() * SizeBytes(spec.dtype);
      }
      QCOMPARE(outline.bytes.storage, bytes);
      QCOMPARE(outline.bytes.moved(), bytes);
      for (int rank = 0; rank < layout.mesh().num_ranks(); ++rank) {
        const DeviceId device = layout.mesh().devices()[static_cast<std::size_t>(rank)];
        for (int t = 0; t < std::ssize(tensors); ++t) {
          const std::vector<bool> held = HeldElements(layout, rank, t);
          auto seen = times[{device, t}];
          seen.resize(held.size());
          for (std::size_t e = 0; e < held.size(); ++e) QCOMPARE(seen[e], held[e] ? 1 : 0);
        }
        const auto at = std::ranges::find(outline.devices, device) - outline.devices.begin();
        QCOMPARE(outline.peak_memory[static_cast<std::size_t>(at)], 2 * layout.BytesOf(rank));
      }
    }
  }

  // Each device lists its own reads and drops, in the order of those of all.
  void aDeviceFindsItsOwnPart() {
    std::mt19937_64 rng(tessera::test::Seed());
    for (int i = 0; i < 100; ++i) {
      const Layout layout = tessera::test::AnyLayout(rng);
      const std::vector<DeviceId> devices = DevicesOf(layout, layout);
      const DeviceMoves all = RefillMoves(layout, devices);
      for (const DeviceId device : devices) {
        const DeviceMoves own = RefillMoves(layout, std::vector{device});
        auto reads = all.reads;
        std::erase_if(reads, [&](const StorageRead& read) { return read.device != device; });
        QVERIFY(own.reads == reads);
        auto moves = all.moves;
        std::erase_if(moves, [&](const Move& m) { return std::get<Drop>(m).device != device; });
        QVERIFY(own.moves == moves);
      }
    }
  }

  /// A source with the pieces of one replica can serve all, because no cell spans two pieces.
  void aCellLiesInOnePieceOfEachHolder() {
    std::mt19937_64 rng(tessera::test::Seed());
    for (int i = 0; i < 100; ++i) {
      const Layout layout = tessera::test::AnyLayout(rng);
      for (const StorageRead& read : RefillMoves(layout, DevicesOf(layout, layout)).reads) {
        for (int rank = 0; rank < layout.mesh().num_ranks(); ++rank) {
          for (const Box& piece : layout.Boxes(rank, read.tensor)) {
            QVERIFY(!Intersect(piece, read.cell) || Contains(piece, read.cell));
          }
        }
      }
    }
  }

  void theHashTellsItFromAPlanThatKeepsAll() {
    std::mt19937_64 rng(tessera::test::Seed());
    const Layout layout = tessera::test::AnyLayout(rng);
    const Outline plan = RefillOutline(layout);
    QCOMPARE(plan.hash, RefillOutline(layout).hash);
    QCOMPARE(plan.from_hash, layout.hash());
    QCOMPARE(plan.to_hash, layout.hash());
    QVERIFY(plan.hash != MakePlan(layout, layout, Topology())->hash);
  }
};

TESSERA_TEST_APPLESS(RefillTest)
#include "refill_test.moc"
