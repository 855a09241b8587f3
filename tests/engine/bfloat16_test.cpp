// SPDX-License-Identifier: Apache-2.0
#include "engine/update/bfloat16.h"

#include <QTest>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera;

namespace {

std::uint16_t Round(float value) {
  std::uint16_t out = 0;
  engine::RoundToBf16({&value, 1}, {&out, 1});
  return out;
}

float Widen(std::uint16_t bits) {
  float out = 0;
  engine::WidenFromBf16({&bits, 1}, {&out, 1});
  return out;
}

/// The value of a bfloat16 from its fields.
double Value(std::uint16_t bits) {
  const int exponent = bits >> 7 & 0xff, mantissa = bits & 0x7f;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 0) return sign * std::ldexp(mantissa, -126 - 7);
  return sign * std::ldexp(128 + mantissa, exponent - 127 - 7);
}

}  // namespace

class Bfloat16Test : public QObject {
  Q_OBJECT
 private slots:
  void everyValueWidensToItselfAndComesBack() {
    for (std::uint32_t i = 0; i <= 0xffff; ++i) {
      const auto bits = static_cast<std::uint16_t>(i);
      const float wide = Widen(bits);
      if ((bits & 0x7fff) > 0x7f80) {
        QVERIFY(std::isnan(wide));
        QVERIFY(std::isnan(Widen(Round(wide))));
        QCOMPARE(Round(wide), static_cast<std::uint16_t>((bits & 0x8000) | 0x7fc0));
        continue;
      }
      if ((bits & 0x7fff) < 0x7f80) QCOMPARE(static_cast<double>(wide), Value(bits));
      QCOMPARE(std::signbit(wide), bits >= 0x8000);
      QCOMPARE(Round(wide), bits);
    }
  }

  // Between each two neighbours, of either sign and in every exponent: the middle goes to the even
  // one, what is next to the middle to the nearer one.
  void everyTieGoesToTheEvenNeighbour() {
    for (std::uint32_t low = 0; low < 0x7f80; ++low) {
      for (const std::uint32_t sign : {0U, 0x8000U}) {
        const std::uint32_t below = low | sign, above = (low + 1) | sign;
        const std::uint32_t middle = below << 16 | 0x8000;
        const auto round = [](std::uint32_t bits) {
          return std::uint32_t{Round(std::bit_cast<float>(bits))};
        };
        QCOMPARE(round(middle), low % 2 == 0 ? below : above);
        QCOMPARE(round(middle - 1), below);
        QCOMPARE(round(middle + 1), above);
        QCOMPARE(round((below << 16) + 1), below);
        QCOMPARE(round((above << 16) - 1), above);
      }
    }
  }

  void whatIsTooLargeBecomesInfinite() {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    QCOMPARE(Round(kInfinity), std::uint16_t{0x7f80});
    QCOMPARE(Round(-kInfinity), std::uint16_t{0xff80});
    QCOMPARE(Round(std::numeric_limits<float>::max()), std::uint16_t{0x7f80});
    QCOMPARE(Round(std::bit_cast<float>(0x7f7f7fffU)), std::uint16_t{0x7f7f});
    QCOMPARE(Round(std::bit_cast<float>(0x7f7f8000U)),
             std::uint16_t{0x7f80});  // a tie: 7f7f is odd
  }

  // Payloads whose upper half alone would read as infinity, and those that a carry would overflow.
  void notANumberStaysOne() {
    for (const std::uint32_t bits :
         {0x7f800001U, 0x7f80ffffU, 0x7fffffffU, 0xff800001U, 0xffffffffU, 0x7fc00000U}) {
      const std::uint16_t rounded = Round(std::bit_cast<float>(bits));
      QVERIFY((rounded & 0x7fff) > 0x7f80);
      QCOMPARE(rounded >> 15, static_cast<int>(bits >> 31));
    }
  }

  void manyAtOnceAreAsOneByOne() {
    std::mt19937_64 rng(test::Seed());
    for (std::size_t size = 0; size < 100; ++size) {
      std::vector<float> values(size), wide(size);
      for (float& value : values) value = std::bit_cast<float>(static_cast<std::uint32_t>(rng()));
      std::vector<std::uint16_t> rounded(size);
      engine::RoundToBf16(values, rounded);
      engine::WidenFromBf16(rounded, wide);
      for (std::size_t i = 0; i < size; ++i) {
        QCOMPARE(rounded[i], Round(values[i]));
        QCOMPARE(std::bit_cast<std::uint32_t>(wide[i]), std::uint32_t{rounded[i]} << 16);
      }
    }
  }
};
TESSERA_TEST_APPLESS(Bfloat16Test)
#include "bfloat16_test.moc"
