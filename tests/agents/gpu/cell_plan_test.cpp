// SPDX-License-Identifier: Apache-2.0
// What the threads of the kernel do, in a loop over the threads: the same bytes and digests as the
// copies on the host.
#include "agents/gpu/cell_plan.h"

#include <QTest>
#include <algorithm>
#include <cstring>
#include <vector>

#include "engine/copy/fused.h"
#include "ptc/digest.h"
#include "tests/engine/cells.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera;
using engine::CellView;
using ptc::Box;
using ptc::DType;
using Bytes = std::vector<std::byte>;

namespace {

constexpr DType kTypes[] = {DType::kU8, DType::kBF16, DType::kF32, DType::kI64};

std::uint64_t RunAll(const agents::gpu::CellWork& work, std::int64_t threads) {
  std::uint64_t digest = 0;
  for (std::int64_t thread = 0; thread < threads; ++thread) {
    digest += agents::gpu::RunCellThread(work, thread, threads);
  }
  return digest;
}

/// A cell inside two pieces and an uncut tensor.
struct Sample {
  explicit Sample(std::mt19937_64& rng)
      : cell(test::AnyBox(rng, static_cast<int>(rng() % 6), 6)),
        source(test::AnyAround(rng, cell, rng() % 2 == 0 ? 0 : 3)),
        target(test::AnyAround(rng, cell, rng() % 2 == 0 ? 0 : 3)),
        dtype(kTypes[rng() % std::size(kTypes)]) {
    for (int d = 0; d < cell.rank(); ++d) {
      shape.push_back(std::max(source[d].end, target[d].end) +
                      static_cast<std::int64_t>(rng() % 2));
    }
    from = test::AnyBytes(rng, source.num_elements() * element());
    to = test::AnyBytes(rng, target.num_elements() * element());
  }
  std::int64_t element() const { return ptc::SizeBytes(dtype); }
  CellView From() { return {source, cell, element(), from.data()}; }
  CellView To(Bytes& memory) const { return {target, cell, element(), memory.data()}; }
  CellView Indices() const { return engine::IndicesOf(dtype, shape, cell); }

  Box cell, source, target;
  DType dtype;
  ptc::Shape shape;
  Bytes from, to;
};

/// Bytes of a cell, from a random one on.
std::pair<std::int64_t, std::int64_t> AnyRange(std::mt19937_64& rng, std::int64_t size) {
  const auto begin = static_cast<std::int64_t>(rng() % static_cast<std::uint64_t>(size));
  return {begin,
          begin + 1 + static_cast<std::int64_t>(rng() % static_cast<std::uint64_t>(size - begin))};
}

}  // namespace

class CellPlanTest : public QObject {
  Q_OBJECT
 private slots:
  void copiesAndDigestsAsTheHost() {
    std::mt19937_64 rng(test::Seed());
    for (int i = 0; i < 2000; ++i) {
      Sample sample(rng);
      Bytes expected = sample.to;
      engine::CopyCell(sample.To(expected), sample.From());
      const CellView indices = sample.Indices();
      const auto work = agents::gpu::CopyWork(sample.From(), sample.To(sample.to), &indices, 0,
                                              sample.From().size_bytes(), 8);
      const std::int64_t threads = work.group * (1 + static_cast<std::int64_t>(rng() % 5));
      QCOMPARE(RunAll(work, threads), engine::DigestCell(sample.From(), indices));
      QVERIFY(sample.to == expected);
      const auto digest =
          agents::gpu::DigestWork(sample.To(sample.to), indices, 0, sample.From().size_bytes(), 8);
      QCOMPARE(
          RunAll(digest, digest.group),
          ptc::DigestBox(sample.dtype, sample.shape, sample.target, sample.to.data(), sample.cell));
    }
  }

  void packsAndUnpacksAnyRange() {
    std::mt19937_64 rng(test::Seed() + 1);
    for (int i = 0; i < 2000; ++i) {
      Sample sample(rng);
      const auto [begin, end] = AnyRange(rng, sample.From().size_bytes());
      Bytes packed(static_cast<std::size_t>(end - begin)), expected(packed.size());
      const CellView indices = sample.Indices();
      const std::uint64_t digest = engine::ReadAndDigest(sample.From(), indices, begin, expected);
      const auto address = reinterpret_cast<std::uint64_t>(packed.data());
      const auto pack = agents::gpu::PackWork(sample.From(), {address, begin}, &indices, end, 8);
      QCOMPARE(RunAll(pack, pack.group * 3), digest);
      QVERIFY(packed == expected);

      Bytes whole = sample.to;
      sample.To(whole).Write(begin, packed);
      const auto unpack = agents::gpu::UnpackWork({address, begin}, sample.To(sample.to), end);
      QCOMPARE(RunAll(unpack, unpack.group * 2), 0U);
      QVERIFY(sample.to == whole);
    }
  }

  // Rows of a matrix are taken in units of 16 bytes, a whole one in segments.
  void usesWideUnits() {
    alignas(16) static std::byte memory[64 * 256 * 4];
    const Box piece = *Box::Whole({64, 256});
    const Box half = *Box::Make(std::vector<ptc::Interval>{{0, 64}, {128, 256}});
    const CellView rows(piece, half, 4, memory);
    const CellView indices = engine::IndicesOf(DType::kF32, {64, 256}, half);
    const auto work = agents::gpu::DigestWork(rows, indices, 0, rows.size_bytes(), 8);
    QCOMPARE(work.unit, 16);
    QCOMPARE(work.run_bytes, 512);
    QCOMPARE(work.group, 32);
    const CellView whole(piece, piece, 4, memory);
    const CellView all = engine::IndicesOf(DType::kF32, {64, 256}, piece);
    const auto segments = agents::gpu::DigestWork(whole, all, 0, whole.size_bytes(), 8);
    QCOMPARE(segments.outer_dims, 0);
    QCOMPARE(agents::gpu::NumSegments(segments), 64 * 256 * 4 / 8192);
  }
};

TESSERA_TEST_APPLESS(CellPlanTest)
#include "cell_plan_test.moc"
