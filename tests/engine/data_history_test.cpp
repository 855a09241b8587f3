// SPDX-License-Identifier: Apache-2.0

/// \file
/// Each sample exactly once a pass, whatever becomes of a job: random lives of jobs against an
/// oracle that writes down every sample.

#include <QTest>
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "engine/data/cursor.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera;
using engine::BatchShare;
using engine::Cursor;

namespace {

/// What a job's tensors hold of its data position, as a checkpoint keeps it.
using Saved = std::array<std::int64_t, 3>;

/// The samples of a run by their place in it. Knows nothing of permutations and shares.
class Oracle {
 public:
  explicit Oracle(std::int64_t num_samples) : num_samples_(num_samples) {}

  /// A batch was trained on after `position` samples. Empty, or what is wrong.
  QString Take(std::size_t position, const std::vector<std::int64_t>& batch) {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const std::size_t at = position + i;
      if (at > order_.size()) return QStringLiteral("samples were left out");
      if (at == order_.size()) order_.push_back(batch[i]);
      if (order_[at] != batch[i]) {
        return QStringLiteral("place %1 was sample %2 and is now %3")
            .arg(at)
            .arg(order_[at])
            .arg(batch[i]);
      }
    }
    return {};
  }

  /// Whether every whole pass holds each sample once, and the part of one that is left none twice.
  bool EachOnceAPass() const {
    std::vector<int> seen;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      if (i % static_cast<std::size_t>(num_samples_) == 0) {
        seen.assign(static_cast<std::size_t>(num_samples_), 0);
      }
      if (order_[i] < 0 || order_[i] >= num_samples_) return false;
      if (++seen[static_cast<std::size_t>(order_[i])] > 1) return false;
    }
    return true;
  }

  const std::vector<std::int64_t>& order() const { return order_; }

 private:
  const std::int64_t num_samples_;
  std::vector<std::int64_t> order_;
};

/// What the ranks of one mesh read for the batch after `cursor`, put together by place. Empty where
/// a place has no rank or two.
std::vector<std::int64_t> BatchOf(const Cursor& cursor, std::int64_t batch, std::int64_t ranks,
                                  std::int64_t num_samples) {
  std::vector<std::int64_t> samples(static_cast<std::size_t>(batch), -1);
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    const BatchShare share = engine::ShareOfBatch(batch, rank, ranks);
    const auto mine = engine::SamplesAt(cursor, share.begin, share.end, num_samples);
    if (!mine || std::ssize(*mine) != share.size()) return {};
    for (std::int64_t i = 0; i < share.size(); ++i) {
      const auto place = static_cast<std::size_t>(share.begin + i);
      if (place >= samples.size() || samples[place] != -1) return {};
      samples[place] = (*mine)[static_cast<std::size_t>(i)];
    }
  }
  if (std::find(samples.begin(), samples.end(), -1) != samples.end()) return {};
  return samples;
}

}  // namespace

class DataHistoryTest : public QObject {
  Q_OBJECT
 private slots:
  void sharesTileTheBatch() {
    using Sizes = std::vector<std::int64_t>;
    const auto sizes = [](std::int64_t batch, std::int64_t ranks) {
      Sizes out;
      for (std::int64_t r = 0; r < ranks; ++r) {
        out.push_back(engine::ShareOfBatch(batch, r, ranks).size());
      }
      return out;
    };
    QVERIFY((sizes(128, 3) == Sizes{43, 43, 42}));
    QVERIFY((sizes(16, 3) == Sizes{6, 5, 5}));
    QVERIFY((sizes(16, 4) == Sizes{4, 4, 4, 4}));
    QVERIFY((sizes(2, 3) == Sizes{1, 1, 0}));
    for (std::int64_t batch = 1; batch <= 70; ++batch) {
      for (std::int64_t ranks = 1; ranks <= batch; ++ranks) {
        std::int64_t next = 0;
        for (std::int64_t rank = 0; rank < ranks; ++rank) {
          const BatchShare share = engine::ShareOfBatch(batch, rank, ranks);
          QCOMPARE(share.begin, next);
          QVERIFY(share.size() == batch / ranks || share.size() == (batch + ranks - 1) / ranks);
          next = share.end;
        }
        QCOMPARE(next, batch);
        QCOMPARE(engine::ShareOfBatch(batch, 0, ranks).size(), (batch + ranks - 1) / ranks);
      }
    }
  }

  void everySampleOnceAPassInEveryHistory() {
    constexpr int kHistories = 2000;
    std::mt19937_64 rng(test::Seed());
    const auto pick = [&](std::int64_t lowest, std::int64_t highest) {
      return lowest +
             static_cast<std::int64_t>(rng() % static_cast<std::uint64_t>(highest - lowest + 1));
    };
    std::map<const char*, int> happened;
    for (int history = 0; history < kHistories; ++history) {
      const std::int64_t num_samples = pick(1, 90), batch = pick(1, 40);
      const std::int64_t passes = pick(1, 4);
      if (num_samples < batch) ++happened["a batch of several passes"];
      Cursor cursor{.seed = static_cast<std::int64_t>(rng() >> 1)};
      const Cursor begin = cursor;
      Oracle oracle(num_samples);
      std::size_t position = 0;
      std::vector<std::pair<Saved, std::size_t>> checkpoints = {{cursor.ToArray(), position}};
      std::int64_t ranks = 1, crashes_left = 4;
      while (cursor.pass < passes) {
        switch (pick(0, 5)) {
          case 0: {
            const std::int64_t before = ranks;
            ranks = pick(1, std::min<std::int64_t>(batch, 16));
            if (ranks != before) ++happened["another degree"];
            if (batch % ranks != 0) ++happened["shares of unequal size"];
            break;
          }
          case 1:
            checkpoints.push_back({cursor.ToArray(), position});
            break;
          case 2: {  // all is lost but a checkpoint, and what was trained after it comes again
            if (crashes_left-- <= 0) break;
            const auto& [saved, at] =
                checkpoints[static_cast<std::size_t>(pick(0, std::ssize(checkpoints) - 1))];
            if (at < position) ++happened["a crash that takes steps back"];
            cursor = Cursor::FromArray(saved);
            position = at;
            break;
          }
          default: {
            const auto samples = BatchOf(cursor, batch, ranks, num_samples);
            QCOMPARE(std::ssize(samples), batch);
            const QString wrong = oracle.Take(position, samples);
            QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
            const Cursor after = engine::Advance(cursor, batch, num_samples);
            if (after.pass > cursor.pass && after.next > 0) ++happened["a pass ends in a batch"];
            cursor = after;
            position += samples.size();
          }
        }
        QCOMPARE(cursor.pass * num_samples + cursor.next, static_cast<std::int64_t>(position));
      }
      QVERIFY(oracle.EachOnceAPass());
      // One rank that is never disturbed sees the same samples at the same places.
      const auto undisturbed = engine::SamplesAt(begin, 0, std::ssize(oracle.order()), num_samples);
      QVERIFY(undisturbed.has_value());
      QVERIFY(*undisturbed == oracle.order());
    }
    for (const char* what : {"another degree", "shares of unequal size", "a pass ends in a batch",
                             "a batch of several passes", "a crash that takes steps back"}) {
      QVERIFY2(happened[what] > kHistories / 10, what);
    }
  }
};
TESSERA_TEST_APPLESS(DataHistoryTest)
#include "data_history_test.moc"
