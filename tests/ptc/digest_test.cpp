// SPDX-License-Identifier: Apache-2.0
#include "ptc/digest.h"

#include <xxhash.h>

#include <QTest>
#include <algorithm>
#include <numeric>

#include "tests/ptc/oracle.h"
#include "tests/ptc/random_job.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera::ptc;
using tessera::test::ElementsOf;

namespace {

std::vector<std::byte> AnyBytes(std::mt19937_64& rng, std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(rng());
  return bytes;
}

/// The definition, one element at a time.
std::uint64_t Definition(DType dtype, const std::vector<std::byte>& whole) {
  const auto size = static_cast<std::size_t>(SizeBytes(dtype));
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < whole.size() / size; ++i) {
    std::uint64_t bits = 0;
    for (std::size_t b = 0; b < size; ++b) {
      bits |= std::to_integer<std::uint64_t>(whole[i * size + b]) << (8 * b);
    }
    sum += Mix(Mix(i) ^ bits);
  }
  return sum;
}

/// Row-major memory of a box of the whole tensor.
std::vector<std::byte> Extract(const Shape& shape, std::int64_t element_bytes,
                               const std::vector<std::byte>& whole, const Box& box) {
  const auto size = static_cast<std::ptrdiff_t>(element_bytes);
  std::vector<std::byte> piece;
  for (std::size_t element : ElementsOf(shape, box)) {
    const auto first = whole.begin() + static_cast<std::ptrdiff_t>(element) * size;
    piece.insert(piece.end(), first, first + size);
  }
  return piece;
}

}  // namespace

class DigestTest : public QObject {
  Q_OBJECT
 private slots:
  // splitmix64 started at 0 and at its increment gives these outputs.
  void mixIsTheSplitmix64Finalizer() {
    QCOMPARE(Mix(0), std::uint64_t{0});
    QCOMPARE(Mix(0x9e3779b97f4a7c15ULL), 0xe220a8397b1dcdafULL);
    QCOMPARE(Mix(0x3c6ef372fe94f82aULL), 0x6e789e6aa1b965f4ULL);
  }

  void runsAgreeWithTheDefinition_data() {
    QTest::addColumn<int>("dtype");
    for (DType dtype : {DType::kU8, DType::kBF16, DType::kF32, DType::kF64}) {
      QTest::newRow(std::string(ToString(dtype)).c_str()) << static_cast<int>(dtype);
    }
  }
  void runsAgreeWithTheDefinition() {
    QFETCH(int, dtype);
    const auto type = static_cast<DType>(dtype);
    const std::int64_t size = SizeBytes(type);
    std::mt19937_64 rng(tessera::test::Seed());
    for (std::int64_t count = 0; count < 100; ++count) {
      const auto whole = AnyBytes(rng, static_cast<std::size_t>(count * size));
      QCOMPARE(DigestRunPortable(type, 0, whole.data(), count), Definition(type, whole));
      QCOMPARE(DigestRun(type, 0, whole.data(), count), Definition(type, whole));
      // Any start index and any alignment of memory.
      const std::uint64_t start = rng();
      auto shifted = AnyBytes(rng, static_cast<std::size_t>(count * size) + 7);
      const std::byte* data = shifted.data() + rng() % 8;
      QCOMPARE(DigestRun(type, start, data, count), DigestRunPortable(type, start, data, count));
    }
  }

  void sumOverAnyTilingIsTheDigest() {
    std::mt19937_64 rng(tessera::test::Seed() + 1);
    for (int i = 0; i < 500; ++i) {
      const auto job = tessera::test::AnyJob(rng);
      const TensorSpec& spec = job.from.collection().tensors()[0];
      const std::int64_t size = SizeBytes(spec.dtype);
      const auto whole = AnyBytes(rng, static_cast<std::size_t>(*NumElements(spec.shape) * size));
      const std::uint64_t expected = Definition(spec.dtype, whole);
      for (const Layout* layout : {&job.from, &job.to}) {
        std::uint64_t sum = 0;
        std::vector<Box> counted;
        for (int rank = 0; rank < layout->mesh().num_ranks(); ++rank) {
          for (const Box& piece : layout->Boxes(rank, 0)) {
            // Each element counts for one holder. Replicas may overlap without being equal.
            std::vector<Box> fresh{piece};
            for (const Box& old : counted) fresh = Subtract(fresh, old);
            const auto memory = Extract(spec.shape, size, whole, piece);
            for (const Box& cell : fresh) {
              sum += DigestBox(spec.dtype, spec.shape, piece, memory.data(), cell);
            }
            counted.insert(counted.end(), fresh.begin(), fresh.end());
          }
        }
        QCOMPARE(sum, expected);
      }
    }
  }

  void cellsInsideAPieceAddUp() {
    std::mt19937_64 rng(tessera::test::Seed() + 2);
    for (int i = 0; i < 1000; ++i) {
      const Shape shape(rng() % 4, 6);
      const int rank = static_cast<int>(shape.size());
      const Box piece = tessera::test::AnyBox(rng, rank, 6);
      const auto cell = Intersect(piece, tessera::test::AnyBox(rng, rank, 6));
      if (!cell) continue;
      const auto whole = AnyBytes(rng, static_cast<std::size_t>(*NumElements(shape)) * 4);
      const auto memory = Extract(shape, 4, whole, piece);
      const auto digest = [&](const Box& box) {
        return DigestBox(DType::kF32, shape, piece, memory.data(), box);
      };
      std::uint64_t sum = digest(*cell);
      for (const Box& rest : Subtract(piece, *cell)) sum += digest(rest);
      QCOMPARE(sum, digest(piece));
      // And one cell against the definition.
      std::uint64_t expected = 0;
      for (std::size_t element : ElementsOf(shape, *cell)) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, whole.data() + element * 4, 4);
        expected += Mix(Mix(element) ^ bits);
      }
      QCOMPARE(digest(*cell), expected);
    }
  }

  void oneBitChangesTheDigest() {
    std::mt19937_64 rng(tessera::test::Seed() + 3);
    auto whole = AnyBytes(rng, 4096);
    const std::uint64_t before = DigestRun(DType::kF32, 0, whole.data(), 1024);
    for (std::size_t i = 0; i < whole.size(); i += 37) {
      whole[i] ^= std::byte{1};
      QVERIFY(DigestRun(DType::kF32, 0, whole.data(), 1024) != before);
      whole[i] ^= std::byte{1};
    }
    // Equal values at other positions are other content.
    std::swap_ranges(whole.begin(), whole.begin() + 4, whole.begin() + 4);
    QVERIFY(DigestRun(DType::kF32, 0, whole.data(), 1024) != before);
  }

  void collectionDigestHashesSortedLines() {
    TensorSpec scalar;
    scalar.name = "a";
    scalar.dtype = DType::kI64;
    TensorSpec matrix;
    matrix.name = "a b";  // its line sorts before that of "a"
    matrix.shape = {3, 256};
    const auto collection = *Collection::Make({matrix, scalar}, 0);
    const std::string lines =
        "a b f32 [3,256] 0000000000000002\n"
        "a i64 [] 00000000000000ff\n";
    QCOMPARE(CollectionDigest(*collection, {0xff, 2}), XXH3_64bits(lines.data(), lines.size()));
  }
};

TESSERA_TEST_APPLESS(DigestTest)
#include "digest_test.moc"
