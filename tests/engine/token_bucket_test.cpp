// SPDX-License-Identifier: Apache-2.0
#include "engine/transfer/token_bucket.h"

#include <QTest>
#include <algorithm>
#include <limits>
#include <thread>
#include <vector>

#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera;
using engine::TokenBucket;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

namespace {
const TokenBucket::Time kStart{seconds{1000}};
}

class TokenBucketTest : public QObject {
  Q_OBJECT
 private slots:
  void withoutALimitNobodyWaits() {
    TokenBucket bucket(0, 0);
    QCOMPARE(bucket.Take(std::int64_t{1} << 60, kStart).count(), 0);
    QCOMPARE(bucket.Take(std::int64_t{1} << 60, kStart).count(), 0);
  }
  void burstPassesThenTheRateRules() {
    TokenBucket bucket(1000, 500);
    QVERIFY(bucket.Take(500, kStart) == nanoseconds{0});
    QVERIFY(bucket.Take(100, kStart) == milliseconds{100});
    QVERIFY(bucket.Take(100, kStart) == milliseconds{200});  // queued behind the one before
    QVERIFY(bucket.Take(0, kStart) == milliseconds{200});
    QVERIFY(bucket.Take(100, kStart + milliseconds{200}) == milliseconds{100});
  }
  // A request of any size has a wait that fits nanoseconds.
  void hugeRequestsAndBurstsHaveALongestWait() {
    constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
    TokenBucket bucket(1, 0);
    QVERIFY(bucket.Take(kMost, kStart) == TokenBucket::kLongestWait);
    QVERIFY(bucket.Take(kMost, kStart) == TokenBucket::kLongestWait);
    QVERIFY(bucket.Take(kMost, kStart + seconds{5}) == TokenBucket::kLongestWait);
    TokenBucket bursting(1, kMost);
    QVERIFY(bursting.Take(1'000'000, kStart) == nanoseconds{0});
    QVERIFY(bursting.Take(kMost, kStart) > std::chrono::hours{24});
  }
  void restRefillsUpToTheBurst() {
    TokenBucket bucket(1000, 500);
    QVERIFY(bucket.Take(500, kStart) == nanoseconds{0});
    QVERIFY(bucket.Take(250, kStart + milliseconds{250}) == nanoseconds{0});
    // A long rest allows no more than the burst.
    QVERIFY(bucket.Take(500, kStart + seconds{3600}) == nanoseconds{0});
    QVERIFY(bucket.Take(1, kStart + seconds{3600}) == milliseconds{1});
  }
  void biggerThanTheBurstIsPaidInFull() {
    TokenBucket bucket(1000, 500);
    QVERIFY(bucket.Take(1500, kStart) == seconds{1});
    QVERIFY(bucket.Take(500, kStart) == milliseconds{1500});
  }
  void fractionsOfNanosecondsAreNotLost() {
    TokenBucket bucket(3'000'000'000, 0);  // a third of a nanosecond a byte
    nanoseconds last{0};
    for (int i = 0; i < 3'000'000; ++i) last = bucket.Take(1, kStart);
    QVERIFY(std::abs(last.count() - 1'000'000) <= 1);
  }
  // For any requests: in any window at most burst + rate * time passes.
  void neverExceedsTheEnvelope() {
    std::mt19937_64 rng(test::Seed());
    for (int round = 0; round < 100; ++round) {
      const auto rate = static_cast<std::int64_t>(1000 + rng() % 1'000'000);
      const auto burst = static_cast<std::int64_t>(rng() % 10'000);
      TokenBucket bucket(rate, burst);
      auto now = kStart;
      std::vector<std::pair<double, std::int64_t>> passed;  // when, bytes
      for (int i = 0; i < 60; ++i) {
        now += std::chrono::microseconds(rng() % 50'000);
        const auto bytes = static_cast<std::int64_t>(rng() % 5'000);
        const auto wait = bucket.Take(bytes, now);
        QVERIFY(wait >= nanoseconds{0});
        passed.emplace_back(std::chrono::duration<double>(now + wait - kStart).count(), bytes);
      }
      for (std::size_t first = 0; first < passed.size(); ++first) {
        std::int64_t sum = 0;
        for (std::size_t last = first; last < passed.size(); ++last) {
          sum += passed[last].second;
          const double window = passed[last].first - passed[first].first;
          // Bytes pass when the wait is over, so the first ones count before the window.
          const double allowed = static_cast<double>(burst + passed[first].second) +
                                 static_cast<double>(rate) * window;
          QVERIFY(static_cast<double>(sum) <= allowed + 1);
        }
      }
    }
  }
  void aNewRateHoldsForWhatWaits() {
    TokenBucket bucket(1000, 0);
    QVERIFY(bucket.Take(2000, kStart) == seconds{2});
    bucket.SetRate(4000, kStart);
    QVERIFY(bucket.Take(1000, kStart) == milliseconds{750});
    bucket.SetRate(500, kStart + milliseconds{250});  // 2000 bytes wait
    QCOMPARE(bucket.bytes_per_second(), std::int64_t{500});
    QVERIFY(bucket.Take(0, kStart + milliseconds{250}) == seconds{4});
  }
  void whatWasSavedKeepsItsBytes() {
    TokenBucket bucket(1000, 500);
    QVERIFY(bucket.Take(300, kStart) == nanoseconds{0});
    bucket.SetRate(100, kStart);  // 200 bytes are left of the burst
    QVERIFY(bucket.Take(200, kStart) == nanoseconds{0});
    QVERIFY(bucket.Take(100, kStart) == seconds{1});
  }
  void aLimitCanBeLiftedAndSet() {
    TokenBucket bucket(1, 100);
    QVERIFY(bucket.Take(1'000'000, kStart) > seconds{900'000});
    bucket.SetRate(0, kStart);
    QVERIFY(bucket.Take(std::int64_t{1} << 60, kStart) == nanoseconds{0});
    bucket.SetRate(100, kStart);
    QVERIFY(bucket.Take(100, kStart) == nanoseconds{0});
    QVERIFY(bucket.Take(100, kStart) == seconds{1});
  }
  void lanesShareOnePort() {
    TokenBucket bucket(1'000'000, 0);
    std::vector<nanoseconds> longest(4);
    {
      std::vector<std::jthread> lanes;
      for (nanoseconds& mine : longest) {
        lanes.emplace_back([&bucket, &mine] {
          for (int i = 0; i < 1000; ++i) mine = std::max(mine, bucket.Take(250, kStart));
        });
      }
    }
    // 4 lanes took a million bytes in all, so the last one waits a second.
    QVERIFY(*std::max_element(longest.begin(), longest.end()) == seconds{1});
  }
};
TESSERA_TEST_APPLESS(TokenBucketTest)
#include "token_bucket_test.moc"
