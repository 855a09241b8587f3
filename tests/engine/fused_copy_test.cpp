// SPDX-License-Identifier: Apache-2.0
#include <QTest>
#include <algorithm>
#include <cstring>
#include <tuple>
#include <vector>

#include "engine/copy/fused.h"
#include "ptc/digest.h"
#include "tests/engine/cells.h"
#include "tests/ptc/digest_definition.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera;
using engine::CellView;
using ptc::Box;
using ptc::DType;
using Bytes = std::vector<std::byte>;

namespace {

constexpr DType kTypes[] = {DType::kU8, DType::kBF16, DType::kF32, DType::kI64};

ptc::Shape EndOf(std::mt19937_64& rng, const Box& box) {
  ptc::Shape shape;
  for (int d = 0; d < box.rank(); ++d) {
    shape.push_back(box[d].end + static_cast<std::int64_t>(rng() % 3));
  }
  return shape;
}

/// The definition of the digest, element by element.
std::uint64_t NaiveDigest(DType dtype, const ptc::Shape& shape, const Box& piece,
                          const Bytes& memory, const Box& cell) {
  const auto element = static_cast<std::size_t>(ptc::SizeBytes(dtype));
  const Box whole = *Box::Whole(shape);
  std::uint64_t digest = 0;
  test::ForEachElement(cell, [&](const std::vector<std::int64_t>& at) {
    const auto from = static_cast<std::size_t>(test::IndexIn(piece, at)) * element;
    const auto offset = static_cast<std::size_t>(test::IndexIn(whole, at)) * element;
    for (std::size_t i = 0; i < element; ++i) {
      digest += test::DigestOfByte(offset + i, memory[from + i]);
    }
  });
  return digest;
}

}  // namespace

class FusedCopyTest : public QObject {
  Q_OBJECT
 private slots:
  void copyReturnsTheDigestsOfSourceAndDestinations() {
    std::mt19937_64 rng(test::Seed());
    for (int i = 0; i < 500; ++i) {
      const Box cell = test::AnyBox(rng, static_cast<int>(rng() % 5), 6);
      const Box source = test::AnyAround(rng, cell, 3);
      const Box targets[] = {test::AnyAround(rng, cell, 3), test::AnyAround(rng, cell, 3)};
      ptc::Shape shape = EndOf(rng, source);
      for (int d = 0; d < cell.rank(); ++d) {
        auto& size = shape[static_cast<std::size_t>(d)];
        for (const Box& target : targets) size = std::max(size, target[d].end);
      }
      const DType dtype = kTypes[rng() % 4];
      const std::int64_t element = ptc::SizeBytes(dtype);
      Bytes from = test::AnyBytes(rng, source.num_elements() * element);
      const CellView read(source, cell, element, from.data());
      std::vector<Bytes> to, expected;
      std::vector<CellView> views;
      for (const Box& target : targets) {
        to.push_back(test::AnyBytes(rng, target.num_elements() * element));
        expected.push_back(to.back());
        CopyCell(CellView(target, cell, element, expected.back().data()), read);
      }
      for (std::size_t t = 0; t < to.size(); ++t) {
        views.emplace_back(targets[t], cell, element, to[t].data());
      }
      const engine::CopyDigests digests =
          CopyCellAndDigest(views, read, engine::IndicesOf(dtype, shape, cell));
      QVERIFY(to == expected);
      const std::uint64_t digest = NaiveDigest(dtype, shape, source, from, cell);
      QCOMPARE(digests.source, digest);
      QCOMPARE(digests.copies, (std::vector<std::uint64_t>{digest, digest}));
      QCOMPARE(ptc::DigestBox(dtype, shape, source, from.data(), cell), digest);
    }
  }

  void framesAddUpToTheDigestOfTheCell() {
    std::mt19937_64 rng(test::Seed() + 1);
    for (int i = 0; i < 500; ++i) {
      const Box piece = test::AnyBox(rng, static_cast<int>(rng() % 5), 7);
      const Box cell = test::AnyInside(rng, piece);
      const ptc::Shape shape = EndOf(rng, piece);
      const DType dtype = kTypes[rng() % 4];
      const std::int64_t element = ptc::SizeBytes(dtype);
      Bytes memory = test::AnyBytes(rng, piece.num_elements() * element);
      Bytes expected = memory;
      const Bytes packed = test::AnyBytes(rng, cell.num_elements() * element);
      CellView(piece, cell, element, expected.data()).Write(0, packed);

      const CellView view(piece, cell, element, memory.data());
      const CellView indices = engine::IndicesOf(dtype, shape, cell);
      Bytes gathered(packed.size());
      std::uint64_t written = 0;
      std::uint64_t read = 0;
      std::uint64_t in_place = 0;
      for (std::size_t done = 0; done < packed.size();) {  // cut at any byte
        const std::size_t count = 1 + rng() % (packed.size() - done);
        const auto offset = static_cast<std::int64_t>(done);
        const std::span<const std::byte> part = std::span(packed).subspan(done, count);
        written += engine::WriteAndDigest(view, indices, offset, part);
        read +=
            engine::ReadAndDigest(view, indices, offset, std::span(gathered).subspan(done, count));
        in_place += engine::DigestPacked(indices, offset, part);
        done += count;
      }
      QVERIFY(memory == expected);
      QVERIFY(gathered == packed);
      const std::uint64_t digest = NaiveDigest(dtype, shape, piece, memory, cell);
      QCOMPARE(written, digest);
      QCOMPARE(read, digest);
      QCOMPARE(in_place, digest);
    }
  }

  // A cell of several blocks in long and in short runs. A byte that changes between the digest of
  // its block and the copy is copied, and tells the digests apart. Before and after, it does not.
  void blocksAreDigestedAndCopiedInTurn_data() {
    QTest::addColumn<std::int64_t>("columns");
    QTest::newRow("long runs") << std::int64_t{150001};
    QTest::newRow("short runs") << std::int64_t{301};
  }
  void blocksAreDigestedAndCopiedInTurn() {
    QFETCH(std::int64_t, columns);
    std::mt19937_64 rng(test::Seed() + 2);
    const std::int64_t rows = 450'000 / columns + 1;
    const ptc::Shape shape{rows, columns};
    const Box whole = *Box::Whole(shape);
    const Box cell = *Box::Make(std::vector<ptc::Interval>{{1, rows}, {5, columns}});
    Bytes from = test::AnyBytes(rng, whole.num_elements() * 4);
    Bytes to(static_cast<std::size_t>(cell.num_elements() * 4));
    const CellView read(whole, cell, 4, from.data()), write(cell, cell, 4, to.data());
    const CellView indices = engine::IndicesOf(DType::kF32, shape, cell);
    int blocks = 0;
    CopyCellAndDigest({&write, 1}, read, indices, [&] { ++blocks; });
    QVERIFY(blocks >= 3);
    std::byte* const last = read.Run(read.num_runs() - 1) + read.run_bytes() - 1;
    for (const auto& [block, at, is_found] :
         {std::tuple(1, read.Run(0), true), std::tuple(blocks, last, true),
          std::tuple(1, last, false), std::tuple(blocks, read.Run(0), false)}) {
      int block_now = 0;
      const engine::CopyDigests digests =
          CopyCellAndDigest({&write, 1}, read, indices, [&, wanted = block, byte = at] {
            if (++block_now == wanted) *byte ^= std::byte{1};
          });
      QCOMPARE(block_now, blocks);
      QCOMPARE(digests.source != digests.copies[0], is_found);
      QCOMPARE(digests.copies[0], ptc::DigestBox(DType::kF32, shape, cell, to.data(), cell));
      Bytes packed(to.size());
      read.Read(0, packed);
      const bool is_late = block == blocks && at != last;  // the block had been copied before
      QCOMPARE(packed == to, !is_late);
    }
  }

  // Values of the published algorithm (xxHash's own test vectors for seed 0).
  void checksumIsXxh3() {
    QCOMPARE(engine::Checksum({}), 0x2d06800538d394c2ULL);
    Bytes frame(4096, std::byte{7});
    const std::uint64_t before = engine::Checksum(frame);
    frame[4000] ^= std::byte{1};
    QVERIFY(engine::Checksum(frame) != before);
  }
};
TESSERA_TEST_APPLESS(FusedCopyTest)
#include "fused_copy_test.moc"
