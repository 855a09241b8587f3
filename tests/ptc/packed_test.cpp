// SPDX-License-Identifier: Apache-2.0
// Elements below one byte as bytes, compared with a list of the bits of each element.
#include "ptc/packed.h"

#include <QTest>
#include <random>
#include <set>

#include "ptc/layout.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"
#include "tests/support/verify.h"

using namespace tessera;
using namespace tessera::ptc;

namespace {

/// Row-major indices of the elements of a box.
std::vector<std::int64_t> Indices(const Shape& shape, const Box& box) {
  std::vector<std::int64_t> all = {0};
  for (int d = 0; d < box.rank(); ++d) {
    std::vector<std::int64_t> next;
    for (const std::int64_t base : all) {
      for (std::int64_t i = box[d].begin; i < box[d].end; ++i) {
        next.push_back(base * shape[static_cast<std::size_t>(d)] + i);
      }
    }
    all = std::move(next);
  }
  return all;
}

/// Whether a cut at `at` of a dim is between bytes everywhere in the tensor.
bool IsBetweenBytes(const Shape& shape, int dim, std::int64_t at, std::int64_t bits) {
  if (at == 0 || at == shape[static_cast<std::size_t>(dim)]) return true;
  std::int64_t inner = 1;
  std::int64_t outer = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (static_cast<int>(d) > dim) inner *= shape[d];
    if (static_cast<int>(d) < dim) outer *= shape[d];
  }
  for (std::int64_t i = 0; i < outer; ++i) {
    if ((i * shape[static_cast<std::size_t>(dim)] + at) * inner * bits % 8 != 0) return false;
  }
  return true;
}

}  // namespace

class PackedTest : public QObject {
  Q_OBJECT
 private slots:
  void wholeBytesAreTheirElements() {
    const Box box = *Box::Make(std::array{Interval{1, 2}, Interval{0, 3}});
    for (const DType dtype : {DType::kBool, DType::kBF16, DType::kC64, DType::kF8E8M0}) {
      QCOMPARE(*UnitShape(dtype, {2, 3}), Shape({2, 3}));
      QCOMPARE(*UnitBox(dtype, {2, 3}, box), box);
      QCOMPARE(*ByteCount(dtype, {2, 3}), 6 * SizeBytes(dtype));
    }
  }

  void bytesAreThoseOfTheBits() {
    std::mt19937_64 rng(test::Seed());
    int taken = 0;
    int refused = 0;
    for (int i = 0; i < 20'000; ++i) {
      const DType dtype = std::array{DType::kF4, DType::kF6E2M3, DType::kF6E3M2}[rng() % 3];
      const std::int64_t bits = dtype == DType::kF4 ? 4 : 6;
      Shape shape(rng() % 4);
      for (std::int64_t& size : shape) size = 1 + static_cast<std::int64_t>(rng() % 8);
      const std::int64_t elements = *NumElements(shape);
      const auto units = UnitShape(dtype, shape);
      QCOMPARE(units.has_value(), elements * bits % 8 == 0);
      QCOMPARE(ByteCount(dtype, shape).has_value(), units.has_value());
      if (!units) continue;
      QCOMPARE(*NumElements(*units), elements * bits / 8);
      std::vector<Interval> dims;
      for (const std::int64_t size : shape) {
        const auto begin = static_cast<std::int64_t>(rng() % static_cast<std::uint64_t>(size));
        const auto rest = static_cast<std::uint64_t>(size - begin);
        dims.push_back({begin, begin + 1 + static_cast<std::int64_t>(rng() % rest)});
        if (rng() % 2 == 0) dims.back() = {0, size};
      }
      const Box box = *Box::Make(dims);
      const auto unit_box = UnitBox(dtype, shape, box);
      bool between = true;
      for (int d = 0; d < box.rank(); ++d) {
        between = between && IsBetweenBytes(shape, d, box[d].begin, bits) &&
                  IsBetweenBytes(shape, d, box[d].end, bits);
      }
      QCOMPARE(unit_box.has_value(), between);
      if (!unit_box) {
        QVERIFY(unit_box.error().message.find("lies inside a byte of f") != std::string::npos);
        ++refused;
        continue;
      }
      ++taken;
      // Row-major order of elements is row-major order of bytes.
      std::vector<std::int64_t> of_bits;
      for (const std::int64_t index : Indices(shape, box)) {
        for (std::int64_t bit = index * bits; bit < (index + 1) * bits; ++bit) {
          if (of_bits.empty() || of_bits.back() != bit / 8) of_bits.push_back(bit / 8);
        }
      }
      QCOMPARE(Indices(*units, *unit_box), of_bits);
    }
    QVERIFY(taken > 1000 && refused > 1000);
  }

  void cutsInsideAByteAreNamed() {
    const auto at = [](DType dtype, const Shape& shape, const std::vector<Interval>& dims) {
      return UnitBox(dtype, shape, *Box::Make(dims));
    };
    VERIFY_ERROR(at(DType::kF4, {4, 6}, {{0, 4}, {3, 6}}), ErrorCode::kInvalidArgument,
                 "the cut at 3 of dim 1 lies inside a byte of f4 [4,6]");
    VERIFY_ERROR(at(DType::kF6E2M3, {2, 8}, {{0, 2}, {0, 6}}), ErrorCode::kInvalidArgument,
                 "the cut at 6 of dim 1 lies inside a byte of f6e2m3 [2,8]");
    VERIFY_ERROR(at(DType::kF4, {4, 3}, {{0, 3}, {0, 3}}), ErrorCode::kInvalidArgument,
                 "the cut at 3 of dim 0 lies inside a byte of f4 [4,3]");
    VERIFY_ERROR(ByteCount(DType::kF4, {3}), ErrorCode::kInvalidArgument,
                 "f4 [3] has 12 bits, not a whole number of bytes");
    VERIFY_ERROR(ByteCount(DType::kF6E3M2, {std::int64_t{1} << 62}), ErrorCode::kInvalidArgument,
                 "more than 2^63-1 bytes");
  }

  void nothingHasNoBytes() {
    QCOMPARE(*ByteCount(DType::kF4, {3, 0, 5}), 0);
    QCOMPARE(*NumElements(*UnitShape(DType::kF6E2M3, {0, std::int64_t{1} << 60, 3})), 0);
  }

  // Layouts refuse such elements, but a collection may have and digest them.
  void layoutsRefuseThem() {
    const auto tensors = Collection::Make({{"w", DType::kF4, {4, 6}}}, 0);
    VERIFY_OK(tensors);
    QCOMPARE((*tensors)->total_bytes(), 12);
    VERIFY_ERROR(Layout::Make(*ParseDeviceMesh("tp=1 on 1x1"), *tensors), ErrorCode::kUnimplemented,
                 "tensor 'w' is f4: elements below one byte are not moved between devices");
    VERIFY_ERROR(Collection::Make({{"w", DType::kF4, {3}}}, 0), ErrorCode::kInvalidArgument,
                 "tensor 'w': f4 [3] has 12 bits");
  }
};

TESSERA_TEST_APPLESS(PackedTest)
#include "packed_test.moc"
