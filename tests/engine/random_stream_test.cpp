// SPDX-License-Identifier: Apache-2.0
#include "engine/data/random_stream.h"

#include <QTest>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "engine/data/philox.h"
#include "tests/support/test_main.h"

using namespace tessera;
using engine::Philox4x32;
using engine::RandomPurpose;
using engine::RandomStream;
using Words = std::array<std::uint32_t, 4>;

// Known answers of the Random123 distribution (kat_vectors, philox4x32 10).
static_assert(Philox4x32({0, 0, 0, 0}, {0, 0}) ==
              Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
static_assert(Philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
                         {0xffffffff, 0xffffffff}) ==
              Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
static_assert(Philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                         {0xa4093822, 0x299f31d0}) ==
              Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});

class RandomStreamTest : public QObject {
  Q_OBJECT
 private slots:
  // The radius of a Box-Muller pair has an exact distribution of its own.
  void radiiAreDistributedExactly() {
    const RandomStream stream(3, RandomPurpose::kInitialise, "w");
    std::vector<double> radii;
    for (std::uint64_t block = 0; block < 50000; ++block) {
      const auto z = stream.NormalBlock(block);
      for (std::size_t pair = 0; pair < 4; pair += 2) {
        const double radius =
            std::hypot(static_cast<double>(z[pair]), static_cast<double>(z[pair + 1]));
        // exp(-r^2 / 2) of a Box-Muller pair is uniform.
        radii.push_back(std::exp(-radius * radius / 2));
      }
    }
    std::sort(radii.begin(), radii.end());
    const double n = static_cast<double>(radii.size());
    double distance = 0;
    for (std::size_t i = 0; i < radii.size(); ++i) {
      distance = std::max(distance, std::abs(radii[i] - (static_cast<double>(i) + 0.5) / n));
    }
    QVERIFY2(distance < 2.0 / std::sqrt(n), qPrintable(QString::number(distance)));
  }

  void valuesAreNormal() {
    const RandomStream stream(1, RandomPurpose::kInitialise, "h.0.attn.qkv.weight");
    constexpr int kCount = 200000;
    std::vector<double> values;
    double sum = 0, sum2 = 0, neighbours = 0;
    for (std::uint64_t block = 0; block < kCount / 4; ++block) {
      for (const float z : stream.NormalBlock(block)) {
        if (!values.empty()) neighbours += values.back() * static_cast<double>(z);
        values.push_back(static_cast<double>(z));
        sum += values.back();
        sum2 += values.back() * values.back();
      }
    }
    QVERIFY(std::abs(sum / kCount) < 0.01);
    QVERIFY(std::abs(sum2 / kCount - 1) < 0.02);
    QVERIFY(std::abs(neighbours / kCount) < 0.01);
    std::sort(values.begin(), values.end());
    double distance = 0;  // Kolmogorov and Smirnov
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double expected = 0.5 * std::erfc(-values[i] / std::numbers::sqrt2);
      distance = std::max(distance, std::abs(expected - (static_cast<double>(i) + 0.5) / kCount));
    }
    QVERIFY2(distance < 2.0 / std::sqrt(kCount), qPrintable(QString::number(distance)));
  }

  void elementsDoNotDependOnTheOrderOfAsking() {
    const RandomStream stream(9, RandomPurpose::kInitialise, "t");
    for (const std::int64_t i : {0, 1, 2, 3, 4, 1001, 77}) {
      QCOMPARE(
          stream.Normal(i),
          stream.NormalBlock(static_cast<std::uint64_t>(i / 4))[static_cast<std::size_t>(i % 4)]);
    }
  }

  void seedAndNameSelectTheStream() {
    const auto first = [](std::int64_t seed, const char* name) {
      return RandomStream(seed, RandomPurpose::kInitialise, name).NormalBlock(0);
    };
    QVERIFY(first(1, "a") == first(1, "a"));
    QVERIFY(first(1, "a") != first(2, "a"));
    QVERIFY(first(1, "a") != first(1, "b"));
  }

  void uniformNumbersBelongToElements() {
    std::vector<float> whole(20000);
    engine::UniformNumbers(4, "noise", 7, 3, whole);
    for (std::size_t begin = 0; begin < 5000;) {
      std::vector<float> part(std::min<std::size_t>(5000 - begin, 1 + begin % 13));
      engine::UniformNumbers(4, "noise", 7, 3 + static_cast<std::int64_t>(begin), part);
      QVERIFY(
          std::equal(part.begin(), part.end(), whole.begin() + static_cast<std::ptrdiff_t>(begin)));
      begin += part.size();
    }
    const auto other = [&](std::int64_t seed, const char* name, std::int64_t sample) {
      std::vector<float> values(whole.size());
      engine::UniformNumbers(seed, name, sample, 3, values);
      double together = 0;  // of numbers that have nothing to do with each other: 0
      for (std::size_t i = 0; i < values.size(); ++i) {
        together += (static_cast<double>(whole[i]) - 0.5) * (static_cast<double>(values[i]) - 0.5);
      }
      return std::abs(together * 12 / static_cast<double>(values.size()));
    };
    QVERIFY(other(4, "noise", 7) > 0.9);
    QVERIFY(other(5, "noise", 7) < 0.04);  // 1 / sqrt(20000) is 0.007
    QVERIFY(other(4, "other", 7) < 0.04);
    QVERIFY(other(4, "noise", 8) < 0.04);
    std::sort(whole.begin(), whole.end());
    QVERIFY(whole.front() >= 0 && whole.back() < 1);
    double distance = 0;  // Kolmogorov and Smirnov
    for (std::size_t i = 0; i < whole.size(); ++i) {
      const double expected = (static_cast<double>(i) + 0.5) / static_cast<double>(whole.size());
      distance = std::max(distance, std::abs(static_cast<double>(whole[i]) - expected));
    }
    QVERIFY2(distance < 2 / std::sqrt(20000.0), qPrintable(QString::number(distance)));
  }

  // What a seed means must not change: initial weights of every job depend on it.
  void valuesArePinned() {
    const auto z = RandomStream(1, RandomPurpose::kInitialise, "tok_emb.weight").NormalBlock(0);
    QCOMPARE(z[0], -0.428214401F);
    QCOMPARE(z[1], -0.0280175582F);
    QCOMPARE(z[2], -1.19427383F);
    QCOMPARE(z[3], 0.618430018F);
  }
};
TESSERA_TEST_APPLESS(RandomStreamTest)
#include "random_stream_test.moc"
