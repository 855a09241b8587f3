// SPDX-License-Identifier: Apache-2.0
#include "ptc/convert.h"

#include <QTest>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <vector>

#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera::ptc;

namespace {

/// The values of the codes of a format. The reference knows nothing else, so nothing about
/// rounding.
struct Shape {
  int exponent;  // bits
  int fraction;
  bool has_infinity;
};
Shape ShapeOf(DType dtype) {
  switch (dtype) {
    case DType::kF8E4M3:
      return {4, 3, false};
    case DType::kF8E5M2:
      return {5, 2, true};
    case DType::kF16:
      return {5, 10, true};
    default:
      return {8, 7, true};  // bf16
  }
}
constexpr DType kSmall[] = {DType::kF8E4M3, DType::kF8E5M2, DType::kF16, DType::kBF16};

/// The value of a code without its sign, by the definition of the format. NaN for the NaN codes.
double Decode(DType dtype, unsigned code) {
  const Shape shape = ShapeOf(dtype);
  const unsigned top = (1U << shape.exponent) - 1;
  const unsigned exponent = code >> shape.fraction;
  const unsigned fraction = code & ((1U << shape.fraction) - 1);
  const int bias = (1 << (shape.exponent - 1)) - 1;
  if (exponent == top && shape.has_infinity) {
    return fraction == 0 ? std::numeric_limits<double>::infinity() : std::nan("");
  }
  if (!shape.has_infinity && code == (1U << (shape.exponent + shape.fraction)) - 1) {
    return std::nan("");
  }
  if (exponent == 0) return std::ldexp(fraction, 1 - bias - shape.fraction);
  return std::ldexp((1U << shape.fraction) + fraction,
                    static_cast<int>(exponent) - bias - shape.fraction);
}

/// The code without sign of the nearest value, found by searching all values.
class Nearest {
 public:
  explicit Nearest(DType dtype) : shape_(ShapeOf(dtype)) {
    unsigned code = 0;
    for (; std::isfinite(Decode(dtype, code)); ++code) values_.push_back(Decode(dtype, code));
    past_ = code;  // infinity, or the NaN of f8e4m3
    // The value that the code after the last one would have.
    values_.push_back(2 * values_.back() - values_[values_.size() - 2]);
  }
  unsigned Encode(double magnitude) const {
    const auto above = std::lower_bound(values_.begin(), values_.end(), magnitude);
    if (above == values_.end()) return past_;
    const auto high = static_cast<unsigned>(above - values_.begin());
    if (*above == magnitude) return high;
    const double to_low = magnitude - values_[high - 1];
    const double to_high = *above - magnitude;
    if (to_low == to_high) return high % 2 == 0 ? high : high - 1;
    return to_low < to_high ? high - 1 : high;
  }
  bool IsNan(unsigned code) const { return shape_.has_infinity ? code > past_ : code == past_; }
  unsigned sign_bit() const { return 1U << (shape_.exponent + shape_.fraction); }

 private:
  Shape shape_;
  std::vector<double> values_;
  unsigned past_;
};

/// Tries all codes of 8 bits, and codes of 16 bits with gaps.
unsigned StepOf(DType dtype) { return SizeBytes(dtype) == 1 ? 1 : 7; }

const Nearest& NearestOf(DType dtype) {
  static std::map<DType, Nearest> tables;
  return tables.try_emplace(dtype, dtype).first->second;
}

template <typename T>
std::vector<T> Converted(DType from, const void* source, DType to, std::size_t count) {
  std::vector<T> out(count);
  Convert(from, static_cast<const std::byte*>(source), to, reinterpret_cast<std::byte*>(out.data()),
          static_cast<std::int64_t>(count));
  return out;
}

unsigned CodeAt(DType dtype, const std::vector<std::byte>& bytes, std::size_t i) {
  if (SizeBytes(dtype) == 1) return static_cast<unsigned>(bytes[i]);
  std::uint16_t code = 0;
  std::memcpy(&code, bytes.data() + 2 * i, 2);
  return code;
}

/// Whether Convert and the reference give the same code of type `to` for every value.
template <typename T>
void Compare(DType from, const std::vector<T>& values, DType to) {
  const Nearest& nearest = NearestOf(to);
  std::vector<std::byte> out(values.size() * static_cast<std::size_t>(SizeBytes(to)));
  Convert(from, reinterpret_cast<const std::byte*>(values.data()), to, out.data(),
          static_cast<std::int64_t>(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto value = static_cast<double>(values[i]);
    const unsigned code = CodeAt(to, out, i);
    const unsigned magnitude = code & (nearest.sign_bit() - 1);
    const bool is_negative = (code & nearest.sign_bit()) != 0;
    const bool agrees =
        std::isnan(value) ? nearest.IsNan(magnitude) : magnitude == nearest.Encode(std::abs(value));
    if (!agrees || is_negative != std::signbit(value)) {
      QFAIL(qPrintable(QStringLiteral("%1 of %2 became %3")
                           .arg(value, 0, 'g', 17)
                           .arg(QString::fromUtf8(ToString(to).data()))
                           .arg(code, 0, 16)));
    }
  }
}

}  // namespace

class ConvertTest : public QObject {
  Q_OBJECT
 private slots:
  void everyCodeIsRead_data() {
    QTest::addColumn<int>("dtype");
    for (DType dtype : kSmall) {
      QTest::newRow(std::string(ToString(dtype)).c_str()) << static_cast<int>(dtype);
    }
  }
  // All 2^16 codes of f16 and bf16, all 2^8 of the f8, as f32 and as f64, and back unchanged.
  void everyCodeIsRead() {
    QFETCH(int, dtype);
    const auto type = static_cast<DType>(dtype);
    const Nearest& nearest = NearestOf(type);
    const std::size_t count = std::size_t{2} * nearest.sign_bit();
    const auto size = static_cast<std::size_t>(SizeBytes(type));
    std::vector<std::byte> codes(count * size);
    for (std::size_t code = 0; code < count; ++code) {
      std::memcpy(codes.data() + code * size, &code, size);
    }
    const auto floats = Converted<float>(type, codes.data(), DType::kF32, count);
    const auto doubles = Converted<double>(type, codes.data(), DType::kF64, count);
    for (std::size_t code = 0; code < count; ++code) {
      const bool is_negative = (code & nearest.sign_bit()) != 0;
      const double value = Decode(type, static_cast<unsigned>(code) & (nearest.sign_bit() - 1));
      QCOMPARE(std::isnan(floats[code]), std::isnan(value));
      QCOMPARE(std::signbit(floats[code]), is_negative);
      if (std::isnan(value)) {
        QVERIFY((std::bit_cast<std::uint32_t>(floats[code]) & 0x400000U) != 0);  // quiet
        continue;
      }
      QCOMPARE(std::abs(static_cast<double>(floats[code])), value);
      QCOMPARE(doubles[code], static_cast<double>(floats[code]));
    }
    const auto back = Converted<std::byte>(DType::kF32, floats.data(), type, 0);
    QVERIFY(back.empty());
    std::vector<std::byte> again(codes.size());
    Convert(DType::kF32, reinterpret_cast<const std::byte*>(floats.data()), type, again.data(),
            static_cast<std::int64_t>(count));
    for (std::size_t code = 0; code < count; ++code) {
      if (!std::isnan(floats[code])) QCOMPARE(CodeAt(type, again, code), unsigned(code));
    }
  }

  void smallTypesRoundAmongEachOther() {
    for (DType from : kSmall) {
      const std::size_t count = std::size_t{2} * NearestOf(from).sign_bit();
      const auto size = static_cast<std::size_t>(SizeBytes(from));
      std::vector<std::byte> codes(count * size);
      for (std::size_t code = 0; code < count; ++code) {
        std::memcpy(codes.data() + code * size, &code, size);
      }
      const auto floats = Converted<float>(from, codes.data(), DType::kF32, count);
      for (DType to : kSmall) {
        if (from == to) continue;
        Compare(DType::kF32, floats, to);
        if (QTest::currentTestFailed()) return;
        std::vector<std::byte> direct(count * static_cast<std::size_t>(SizeBytes(to)));
        std::vector<std::byte> by_f32(direct.size());
        Convert(from, codes.data(), to, direct.data(), static_cast<std::int64_t>(count));
        Convert(DType::kF32, reinterpret_cast<const std::byte*>(floats.data()), to, by_f32.data(),
                static_cast<std::int64_t>(count));
        QVERIFY(direct == by_f32);
      }
    }
  }

  // Random bits, and the values around each tie between neighbours, where rounding errors are
  // likely.
  void randomF32() {
    std::mt19937_64 rng(tessera::test::Seed());
    std::vector<float> values;
    for (int i = 0; i < 200'000; ++i) {
      values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(rng())));
    }
    for (DType to : kSmall) {
      for (unsigned code = 0; code + 1 < NearestOf(to).sign_bit(); code += StepOf(to)) {
        const double low = Decode(to, code);
        const double high = Decode(to, code + 1);
        if (!std::isfinite(low) || !std::isfinite(high)) continue;
        const auto tie = static_cast<float>((low + high) / 2);
        for (float value : {tie, std::nextafter(tie, 0.0F), std::nextafter(tie, 1e38F)}) {
          values.push_back(value);
          values.push_back(-value);
        }
      }
      Compare(DType::kF32, values, to);
      if (QTest::currentTestFailed()) return;
    }
  }

  // A value just above a tie that an f32 cannot distinguish from the tie. Rounding twice would be
  // wrong.
  void f64IsRoundedOnce() {
    std::mt19937_64 rng(tessera::test::Seed() + 1);
    std::vector<double> values;
    for (int i = 0; i < 50'000; ++i) {
      const double value = std::bit_cast<double>(rng());
      if (std::isfinite(value)) values.push_back(value);
      values.push_back(
          std::ldexp(static_cast<double>(rng()) - 9e18, static_cast<int>(rng() % 60) - 100));
    }
    for (DType to : kSmall) {
      for (unsigned code = 0; code + 1 < NearestOf(to).sign_bit(); code += StepOf(to)) {
        const double low = Decode(to, code);
        const double high = Decode(to, code + 1);
        if (!std::isfinite(low) || !std::isfinite(high)) continue;
        const double tie = (low + high) / 2;
        for (double value : {tie, std::nextafter(tie, 0.0), std::nextafter(tie, 1e300)}) {
          values.push_back(value);
          values.push_back(-value);
        }
      }
      Compare(DType::kF64, values, to);
      if (QTest::currentTestFailed()) return;
    }
    const auto floats = Converted<float>(DType::kF64, values.data(), DType::kF32, values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      QCOMPARE(std::bit_cast<std::uint32_t>(floats[i]),
               std::bit_cast<std::uint32_t>(static_cast<float>(values[i])));
    }
  }

  void theEdges_data() {
    QTest::addColumn<int>("to");
    QTest::addColumn<float>("value");
    QTest::addColumn<uint>("code");
    const auto row = [](const char* name, DType to, float value, uint code) {
      QTest::newRow(name) << static_cast<int>(to) << value << code;
    };
    constexpr float kInf = std::numeric_limits<float>::infinity();
    const float nan = std::nanf("");
    row("f16 largest", DType::kF16, 65504, 0x7bff);
    row("f16 below the tie past it", DType::kF16, 65519.99F, 0x7bff);
    row("f16 the tie past it", DType::kF16, 65520, 0x7c00);
    row("f16 infinity", DType::kF16, -kInf, 0xfc00);
    row("f16 nan", DType::kF16, nan, 0x7e00);
    row("f16 least", DType::kF16, 0x1p-24F, 0x0001);
    row("f16 half of the least", DType::kF16, 0x1p-25F, 0x0000);
    row("f16 minus zero", DType::kF16, -0.0F, 0x8000);
    row("bf16 tie to even, down", DType::kBF16, 0x1.01p0F, 0x3f80);
    row("bf16 tie to even, up", DType::kBF16, 0x1.03p0F, 0x3f82);
    row("bf16 past the largest", DType::kBF16, 0x1.ffp127F, 0x7f80);
    row("bf16 nan", DType::kBF16, -nan, 0xffc0);
    row("f8e4m3 largest", DType::kF8E4M3, 448, 0x7e);
    row("f8e4m3 the tie past it", DType::kF8E4M3, 464, 0x7e);
    row("f8e4m3 past the tie is nan", DType::kF8E4M3, 464.1F, 0x7f);
    row("f8e4m3 has no infinity", DType::kF8E4M3, -kInf, 0xff);
    row("f8e4m3 least", DType::kF8E4M3, 0x1p-9F, 0x01);
    row("f8e5m2 largest", DType::kF8E5M2, 57344, 0x7b);
    row("f8e5m2 the tie past it", DType::kF8E5M2, 61440, 0x7c);
    row("f8e5m2 nan", DType::kF8E5M2, nan, 0x7f);
  }
  void theEdges() {
    QFETCH(int, to);
    QFETCH(float, value);
    QFETCH(uint, code);
    std::vector<std::byte> out(static_cast<std::size_t>(SizeBytes(static_cast<DType>(to))));
    Convert(DType::kF32, reinterpret_cast<const std::byte*>(&value), static_cast<DType>(to),
            out.data(), 1);
    QCOMPARE(CodeAt(static_cast<DType>(to), out, 0), code);
  }

  // More than a block, and memory at odd addresses.
  void lengthsAndAlignment() {
    std::mt19937_64 rng(tessera::test::Seed() + 2);
    for (std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{1023}, std::size_t{1024},
                              std::size_t{1025}, std::size_t{5000}}) {
      std::vector<float> values(count);
      for (float& value : values) value = static_cast<float>(rng() % 1000) / 7;
      std::vector<std::byte> shifted(count * 4 + 1);
      if (count > 0) std::memcpy(shifted.data() + 1, values.data(), count * 4);
      std::vector<std::byte> out(count * 2 + 2, std::byte{0x5a});
      Convert(DType::kF32, shifted.data() + 1, DType::kBF16, out.data() + 1,
              static_cast<std::int64_t>(count));
      QCOMPARE(out.front(), std::byte{0x5a});
      QCOMPARE(out.back(), std::byte{0x5a});
      for (std::size_t i = 0; i < count; ++i) {
        std::uint16_t code = 0;
        std::memcpy(&code, out.data() + 1 + 2 * i, 2);
        QCOMPARE(unsigned{code}, NearestOf(DType::kBF16).Encode(static_cast<double>(values[i])));
      }
    }
  }

  void equalTypesAreCopiedBitByBit() {
    const std::vector<std::uint32_t> bits = {0x7f800001U, 0xffffffffU, 1U};  // a signalling NaN too
    const auto out = Converted<std::uint32_t>(DType::kF32, bits.data(), DType::kF32, bits.size());
    QCOMPARE(out, bits);
    const std::vector<std::int64_t> numbers = {-1, 1};
    QCOMPARE(Converted<std::int64_t>(DType::kI64, numbers.data(), DType::kI64, 2), numbers);
  }

  void floats() {
    int count = 0;
    for (int i = 0; i < kNumDTypes; ++i) count += IsFloat(static_cast<DType>(i)) ? 1 : 0;
    QCOMPARE(count, 6);
    QVERIFY(!IsFloat(DType::kI32));
  }
};

TESSERA_TEST_APPLESS(ConvertTest)
#include "convert_test.moc"
