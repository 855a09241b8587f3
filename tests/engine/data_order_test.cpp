// SPDX-License-Identifier: Apache-2.0
#include <QTest>
#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "engine/data/cursor.h"
#include "engine/data/permutation.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera;
using engine::Cursor;
using engine::Permutation;

class DataOrderTest : public QObject {
  Q_OBJECT
 private slots:
  void everySmallSizeIsABijection() {
    for (std::int64_t size = 1; size <= 1200; ++size) {
      const auto permutation = Permutation::Make(size, 42);
      QVERIFY(permutation.has_value());
      std::vector<bool> seen(static_cast<std::size_t>(size));
      for (std::int64_t i = 0; i < size; ++i) {
        const std::int64_t image = (*permutation)(i);
        QVERIFY(0 <= image && image < size);
        QVERIFY(!seen[static_cast<std::size_t>(image)]);
        seen[static_cast<std::size_t>(image)] = true;
      }
    }
  }

  void largeSizesAreInjectiveOnASample() {
    std::mt19937_64 rng(test::Seed());
    for (const std::int64_t size : {std::int64_t{1} << 33, (std::int64_t{1} << 39) + 12345,
                                    Permutation::kMaxSize - 1, Permutation::kMaxSize}) {
      const auto permutation = Permutation::Make(size, rng());
      QVERIFY(permutation.has_value());
      std::set<std::int64_t> arguments, images;
      for (int i = 0; i < 20000; ++i) {
        const auto index = static_cast<std::int64_t>(rng() % static_cast<std::uint64_t>(size));
        if (!arguments.insert(index).second) continue;
        const std::int64_t image = (*permutation)(index);
        QVERIFY(0 <= image && image < size);
        QVERIFY(images.insert(image).second);
      }
    }
  }

  // First position of an element over many keys is uniform: chi-square with 15 degrees of freedom
  // exceeds 50 once in 80,000 runs.
  void shuffles() {
    std::vector<int> counts(16);
    for (std::uint64_t key = 0; key < 16000; ++key) {
      ++counts[static_cast<std::size_t>((*Permutation::Make(16, key * 7919 + 1))(3))];
    }
    double chi2 = 0;
    for (const int count : counts) chi2 += (count - 1000.0) * (count - 1000.0) / 1000.0;
    QVERIFY2(chi2 < 50, qPrintable(QString::number(chi2)));
  }

  void sizesOutsideTheLimitsAreRefused() {
    for (const std::int64_t size : {std::int64_t{0}, std::int64_t{-1}, Permutation::kMaxSize + 1}) {
      const auto permutation = Permutation::Make(size, 1);
      QVERIFY(!permutation);
      QCOMPARE(permutation.error().code, ErrorCode::kInvalidArgument);
    }
  }

  // However the batches are shared out, a pass holds each sample exactly once, in one order.
  void eachSampleOnceAPassForAnyDegree() {
    constexpr std::int64_t kSamples = 1003, kBatch = 16;
    std::vector<std::int64_t> reference;
    for (const std::int64_t dp : {1, 2, 3, 4, 7, 8, 16}) {
      std::vector<std::int64_t> order;
      Cursor cursor{.seed = 5};
      while (cursor.pass < 3) {
        for (std::int64_t rank = 0; rank < dp; ++rank) {
          const auto share =
              engine::SamplesAt(cursor, engine::ShareOfBatch(kBatch, rank, dp).begin,
                                engine::ShareOfBatch(kBatch, rank, dp).end, kSamples);
          QVERIFY(share.has_value());
          order.insert(order.end(), share->begin(), share->end());
        }
        cursor = engine::Advance(cursor, kBatch, kSamples);
      }
      if (reference.empty()) reference = order;
      QVERIFY(order == reference);
    }
    for (std::int64_t pass = 0; pass < 3; ++pass) {
      std::vector<std::int64_t> samples(reference.begin() + pass * kSamples,
                                        reference.begin() + (pass + 1) * kSamples);
      std::sort(samples.begin(), samples.end());
      std::vector<std::int64_t> all(kSamples);
      std::iota(all.begin(), all.end(), 0);
      QVERIFY(samples == all);
    }
    QVERIFY(!std::equal(reference.begin(), reference.begin() + kSamples,
                        reference.begin() + kSamples));  // passes differ in order
  }

  void batchLargerThanTheDataSet() {
    const auto samples = engine::SamplesAt({.seed = 1}, 0, 7, 2);
    QVERIFY(samples.has_value());
    QCOMPARE(samples->size(), std::size_t{7});
    for (std::size_t i = 0; i + 1 < 7; i += 2) QVERIFY((*samples)[i] != (*samples)[i + 1]);
    QVERIFY((engine::Advance({.seed = 1}, 7, 2) == Cursor{.seed = 1, .pass = 3, .next = 1}));
  }

  void seedsGiveDifferentOrders() {
    QVERIFY(*engine::SamplesAt({.seed = 1}, 0, 50, 1000) !=
            *engine::SamplesAt({.seed = 2}, 0, 50, 1000));
  }

  void damagedCursorIsRefused() {
    QVERIFY(!engine::SamplesAt({.seed = 1, .pass = 0, .next = -3}, 0, 4, 10));
    QVERIFY(!engine::SamplesAt({.seed = 1, .pass = -1, .next = 0}, 0, 4, 10));
    QVERIFY(!engine::SamplesAt({.seed = 1}, 0, 4, 0));
  }
};
TESSERA_TEST_APPLESS(DataOrderTest)
#include "data_order_test.moc"
