// SPDX-License-Identifier: Apache-2.0
#include "engine/data/dropout.h"

#include <QTest>
#include <cmath>
#include <random>
#include <vector>

#include "engine/data/cursor.h"
#include "engine/data/philox.h"
#include "engine/data/random_stream.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera;
using engine::DropoutMask;

namespace {

std::vector<float> Mask(std::int64_t seed, std::uint64_t site, std::int64_t sample,
                        std::int64_t first, double probability, std::size_t size) {
  std::vector<float> mask(size, -1);
  DropoutMask(seed, site, sample, first, probability, mask);
  return mask;
}

std::size_t Dropped(const std::vector<float>& mask) {
  return static_cast<std::size_t>(std::count(mask.begin(), mask.end(), 0.0F));
}

/// Number of elements that both drop.
double BothDrop(const std::vector<float>& a, const std::vector<float>& b) {
  double both = 0;
  for (std::size_t i = 0; i < a.size(); ++i) both += a[i] == 0 && b[i] == 0 ? 1 : 0;
  return both;
}

}  // namespace

class DropoutTest : public QObject {
  Q_OBJECT
 private slots:
  // A batch as the ranks of a mesh draw it: replicas by their shares, in micro-batches of which the
  // last may be short, heads cut over tp.
  void aBatchDropsTheSameOnEveryMesh() {
    constexpr std::int64_t kBatch = 16, kStep = 41, kHeads = 4, kHeadSize = 50;
    using Masks = std::vector<std::vector<float>>;
    const auto masks_of = [&](std::int64_t dp, std::int64_t tp, std::int64_t micro_batch) {
      Masks masks(kBatch, std::vector<float>(kHeads * kHeadSize, -1));
      const std::int64_t part = kHeads / tp * kHeadSize;
      for (std::int64_t d = 0; d < dp; ++d) {
        const engine::BatchShare share = engine::ShareOfBatch(kBatch, d, dp);
        for (std::int64_t begin = share.begin; begin < share.end; begin += micro_batch) {
          const std::int64_t end = std::min(share.end, begin + micro_batch);
          for (std::int64_t place = begin; place < end; ++place) {
            for (std::int64_t t = 0; t < tp; ++t) {
              const std::span<float> mask = masks[static_cast<std::size_t>(place)];
              DropoutMask(
                  3, 1, kStep * kBatch + place, t * part, 0.2,
                  mask.subspan(static_cast<std::size_t>(t * part), static_cast<std::size_t>(part)));
            }
          }
        }
      }
      return masks;
    };
    const Masks whole = masks_of(1, 1, 16);
    for (const std::int64_t dp : {1, 2, 3, 5, 7, 16}) {
      for (const std::int64_t tp : {1, 2, 4}) {
        for (const std::int64_t micro_batch : {1, 3, 8}) {
          QVERIFY(masks_of(dp, tp, micro_batch) == whole);
        }
      }
    }
    QVERIFY(whole[0] != whole[1]);
  }

  void anyCutGivesTheSameValues() {
    std::mt19937_64 rng(test::Seed());
    for (int round = 0; round < 300; ++round) {
      const auto seed = static_cast<std::int64_t>(rng());
      const std::uint64_t site = rng();
      const auto sample = static_cast<std::int64_t>(rng() >> 1);
      // Starts beyond 32 bits of blocks among them.
      const auto first = static_cast<std::int64_t>(rng() >> (2 + rng() % 60));
      const std::size_t size = 1 + rng() % 1000;
      const std::vector<float> whole = Mask(seed, site, sample, first, 0.3, size);
      for (std::size_t begin = 0; begin < size;) {
        const std::size_t count = std::min(size - begin, 1 + rng() % 200);
        const std::vector<float> part =
            Mask(seed, site, sample, first + static_cast<std::int64_t>(begin), 0.3, count);
        QVERIFY(std::equal(part.begin(), part.end(),
                           whole.begin() + static_cast<std::ptrdiff_t>(begin)));
        begin += count;
      }
    }
  }

  // Every element by itself, from the scalar form of the generator.
  void elementsAreThoseOfPhilox() {
    constexpr std::int64_t kFirst = (std::int64_t{5} << 33) + 7;
    const auto key =
        engine::Halves(ptc::Mix(engine::StreamKey(11, engine::RandomPurpose::kDropout) + 42));
    const std::vector<float> mask = Mask(11, 42, 3, kFirst, 0.25, 500);
    for (std::size_t i = 0; i < mask.size(); ++i) {
      const auto element = static_cast<std::uint64_t>(kFirst) + i;
      const std::uint64_t group = element / 64, within = element % 64;
      const auto counter = engine::Halves(group * 8 + within % 16 / 2);
      const auto words = engine::Philox4x32({counter[0], counter[1], 3, 0}, key);
      const std::uint32_t number = words[within / 16] >> (within % 2 * 16) & 0xffff;
      QCOMPARE(mask[i], number < 16384 ? 0.0F : 1 / 0.75F);
    }
  }

  void theRateIsTheProbability_data() {
    QTest::addColumn<double>("probability");
    for (const double p : {0.001, 0.1, 0.25, 0.5, 0.9}) QTest::addRow("%g", p) << p;
  }
  void theRateIsTheProbability() {
    QFETCH(double, probability);
    constexpr std::size_t kSize = 1 << 20;
    const std::vector<float> mask = Mask(1, 2, 3, 0, probability, kSize);
    const double n = kSize, dropped = static_cast<double>(Dropped(mask));
    const double deviation = std::sqrt(n * probability * (1 - probability));
    QVERIFY2(std::abs(dropped - n * probability) < 4 * deviation + n / 131072,
             qPrintable(QString::number(dropped / n)));
    for (const float factor : mask) {
      QVERIFY(factor == 0 || factor == static_cast<float>(1 / (1 - probability)));
    }
  }

  void nothingIsDroppedAtProbabilityZero() {
    for (const float factor : Mask(1, 2, 3, 0, 0, 1000)) QCOMPARE(factor, 1.0F);
  }

  // Masks of unlike seeds, sites and samples, and neighbours inside one, drop together as often as
  // chance has it.
  void sitesSamplesAndSeedsAreIndependent() {
    constexpr std::size_t kSize = 1 << 18;
    constexpr double kRate = 0.25, kExpected = kSize * kRate * kRate;
    const double limit = 5 * std::sqrt(kExpected * (1 - kRate * kRate));
    const std::vector<float> mask = Mask(1, 2, 3, 0, kRate, kSize);
    const auto independent = [&](const std::vector<float>& other) {
      return std::abs(BothDrop(mask, other) - kExpected) < limit;
    };
    QVERIFY(!independent(Mask(1, 2, 3, 0, kRate, kSize)));  // itself: four times as often
    QVERIFY(independent(Mask(2, 2, 3, 0, kRate, kSize)));
    QVERIFY(independent(Mask(1, 3, 3, 0, kRate, kSize)));
    QVERIFY(independent(Mask(1, 3, 2, 0, kRate, kSize)));
    QVERIFY(independent(Mask(1, 2, 4, 0, kRate, kSize)));
    QVERIFY(independent(Mask(1, 2, 3 + (std::int64_t{1} << 32), 0, kRate, kSize)));
    for (const std::int64_t shift : {1, 2, 3, 4, 8, 16, 32, 64, 128}) {
      QVERIFY2(independent(Mask(1, 2, 3, shift, kRate, kSize)), qPrintable(QString::number(shift)));
    }
  }

  // The masks of a seed must not change, so that a resumed run drops the same elements.
  void valuesArePinned() {
    QByteArray text;
    for (const float factor : Mask(1, 2, 3, 0, 0.5, 64)) text += factor == 0 ? '.' : '#';
    QCOMPARE(text, QByteArray("#...#..##...####.##.....####..#.##.#..##..###......#..##...####."));
  }
};
TESSERA_TEST_APPLESS(DropoutTest)
#include "dropout_test.moc"
