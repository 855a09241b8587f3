// SPDX-License-Identifier: Apache-2.0
#include "engine/data/data_mix.h"

#include <QTest>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>

#include "engine/data/permutation.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera;
using engine::Cursor;
using engine::DataMix;
using engine::SampleId;

namespace {

/// Samples without content.
class Counted final : public engine::Dataset {
 public:
  Counted(std::int64_t samples, std::int64_t sequence) : samples_(samples), sequence_(sequence) {}
  engine::DataFormat format() const override { return engine::DataFormat::kText; }
  std::int64_t sequence() const override { return sequence_; }
  std::int64_t num_samples() const override { return samples_; }
  std::uint64_t fingerprint() const override { return static_cast<std::uint64_t>(samples_); }
  Status ReadTokens(std::int64_t sample, std::span<std::int32_t> out) const override {
    std::fill(out.begin(), out.end(), static_cast<std::int32_t>(sample));
    return OkStatus();
  }
  Result<std::vector<std::byte>> ReadRecord(std::int64_t) const override {
    return Internal("none");
  }
  std::int64_t RecordBytes(std::int64_t) const override { return 0; }
  std::string Describe(std::int64_t sample) const override { return std::to_string(sample); }

 private:
  const std::int64_t samples_, sequence_;
};

DataMix::Part Part(std::int64_t samples, double weight = 0, std::int64_t sequence = 8) {
  return {std::make_shared<const Counted>(samples, sequence), weight};
}

DataMix Mix(const std::vector<std::pair<std::int64_t, double>>& parts) {
  std::vector<DataMix::Part> all;
  for (const auto& [samples, weight] : parts) all.push_back(Part(samples, weight));
  return *DataMix::Make(std::move(all));
}

}  // namespace

class DataMixTest : public QObject {
  Q_OBJECT
 private slots:
  void onePartHasTheOrderOfSamplesAt() {
    std::mt19937_64 rng(test::Seed());
    for (int i = 0; i < 200; ++i) {
      const auto size = static_cast<std::int64_t>(rng() % 3000 + 1);
      const Cursor cursor{static_cast<std::int64_t>(rng()), static_cast<std::int64_t>(rng() >> 1),
                          static_cast<std::int64_t>(rng() % 5000)};
      const auto begin = static_cast<std::int64_t>(rng() % 100);
      const auto end = begin + static_cast<std::int64_t>(rng() % 4000);
      const auto expected = engine::SamplesAt(cursor, begin, end, size);
      const auto ids = Mix({{size, i % 2 == 0 ? 0 : 0.3}}).SamplesAt(cursor, begin, end);
      QVERIFY(expected && ids);
      QCOMPARE(ids->size(), expected->size());
      for (std::size_t k = 0; k < ids->size(); ++k) {
        QVERIFY(((*ids)[k] == SampleId{0, (*expected)[k]}));
      }
    }
  }

  // The order of a seed is part of what the seed means: written down once, kept for ever.
  void orderIsTheOneOfTheFirstRelease() {
    std::vector<std::int64_t> samples = *engine::SamplesAt({.seed = 7, .pass = 2}, 0, 10, 1000);
    QCOMPARE(samples,
             std::vector<std::int64_t>({691, 372, 346, 600, 966, 397, 398, 498, 534, 584}));
  }

  // Without weights a pass of the mix holds every sample of every part once.
  void withoutWeightsAPassHoldsEachSampleOnce() {
    std::mt19937_64 rng(test::Seed());
    for (int i = 0; i < 60; ++i) {
      std::vector<std::pair<std::int64_t, double>> parts(rng() % 9 + 1);
      for (auto& [samples, weight] : parts) samples = static_cast<std::int64_t>(rng() % 300 + 1);
      const DataMix mix = Mix(parts);
      const auto pass = static_cast<std::int64_t>(rng() % 1000000);
      const auto ids = mix.SamplesAt({.seed = 3, .pass = pass}, 0, mix.num_samples());
      QVERIFY(ids.has_value());
      std::set<std::pair<int, std::int64_t>> seen;
      for (const SampleId& id : *ids) {
        QVERIFY(0 <= id.sample && id.sample < parts[static_cast<std::size_t>(id.part)].first);
        QVERIFY(seen.insert({id.part, id.sample}).second);
      }
      QCOMPARE(static_cast<std::int64_t>(seen.size()), mix.num_samples());
    }
  }

  // With weights: each part visits all of its samples once before any sample is repeated, and no
  // beginning of the order strays from the weights by the depth of the tree or more.
  void weightsAreKeptAndPartsPassOnTheirOwn() {
    std::mt19937_64 rng(test::Seed() + 1);
    for (int i = 0; i < 60; ++i) {
      std::vector<std::pair<std::int64_t, double>> parts(rng() % 12 + 2);
      double sum = 0;
      for (auto& [samples, weight] : parts) {
        samples = static_cast<std::int64_t>(rng() % 40 + 1);
        weight = std::pow(10.0, static_cast<double>(rng() % 30) / 10.0 - 1.0);
        sum += weight;
      }
      const DataMix mix = Mix(parts);
      const double depth = std::ceil(std::log2(static_cast<double>(parts.size())));
      const auto ids = mix.SamplesAt({.seed = 4}, 0, 5000);
      QVERIFY(ids.has_value());
      std::vector<std::int64_t> counts(parts.size());
      std::vector<std::set<std::int64_t>> passes(parts.size());
      for (std::size_t at = 0; at < ids->size(); ++at) {
        const auto part = static_cast<std::size_t>((*ids)[at].part);
        ++counts[part];
        QVERIFY2(passes[part].insert((*ids)[at].sample).second, "again within a pass of the part");
        if (std::ssize(passes[part]) == parts[part].first) passes[part].clear();
        for (std::size_t k = 0; k < parts.size(); ++k) {
          const double due = static_cast<double>(at + 1) * parts[k].second / sum;
          QVERIFY2(std::abs(static_cast<double>(counts[k]) - due) < depth + 0.001,
                   qPrintable(QStringLiteral("%1 samples, %2 due").arg(counts[k]).arg(due)));
        }
      }
    }
  }

  // Any stretch is the same as that stretch of a longer one, whatever cursor names its beginning.
  void positionsDoNotDependOnHowTheyAreAskedFor() {
    std::mt19937_64 rng(test::Seed() + 2);
    for (int i = 0; i < 60; ++i) {
      std::vector<std::pair<std::int64_t, double>> parts(rng() % 6 + 2);
      for (auto& [samples, weight] : parts) {
        samples = static_cast<std::int64_t>(rng() % 50 + 1);
        weight = i % 2 == 0 ? 0 : static_cast<double>(rng() % 100 + 1);
      }
      const DataMix mix = Mix(parts);
      const auto whole = mix.SamplesAt({.seed = 9}, 0, 2000);
      std::vector<SampleId> joined;
      Cursor cursor{.seed = 9};
      while (joined.size() < 2000) {
        const auto batch = static_cast<std::int64_t>(rng() % 40 + 1);
        const auto ranks = static_cast<std::int64_t>(rng() % 7 + 1);
        for (std::int64_t r = 0; r < ranks; ++r) {
          const auto share = mix.SamplesAt(cursor, r * batch / ranks, (r + 1) * batch / ranks);
          joined.insert(joined.end(), share->begin(), share->end());
        }
        cursor = engine::Advance(cursor, batch, mix.num_samples());
      }
      joined.resize(2000);
      QVERIFY(joined == *whole);
    }
  }

  // Sizes up to the limit: samples of a stretch across the end of a part's pass are distinct where
  // they must be, and inside.
  void sizesUpToTheLimit() {
    std::mt19937_64 rng(test::Seed() + 3);
    for (int i = 0; i < 200; ++i) {
      std::vector<std::pair<std::int64_t, double>> parts(rng() % 5 + 1);
      for (auto& [samples, weight] : parts) {
        const auto largest = (std::int64_t{1} << (rng() % 38 + 1));
        samples = static_cast<std::int64_t>(rng() % static_cast<std::uint64_t>(largest)) + 1;
      }
      const DataMix mix = Mix(parts);
      const auto room = std::min<std::int64_t>(mix.num_samples(), 1500);
      const Cursor cursor{5, static_cast<std::int64_t>(rng() % 1000), mix.num_samples() - room};
      const auto ids = mix.SamplesAt(cursor, 0, room);
      QVERIFY(ids.has_value());
      std::set<std::pair<int, std::int64_t>> seen;
      for (const SampleId& id : *ids) {
        QVERIFY(0 <= id.sample && id.sample < parts[static_cast<std::size_t>(id.part)].first);
        QVERIFY(seen.insert({id.part, id.sample}).second);
      }
    }
  }

  // The same with weights, from the beginning: no sample of a part twice before all of it came.
  void weightedSizesUpToTheLimit() {
    std::mt19937_64 rng(test::Seed() + 4);
    for (int i = 0; i < 200; ++i) {
      std::vector<std::pair<std::int64_t, double>> parts(rng() % 5 + 1);
      for (auto& [samples, weight] : parts) {
        const auto largest = std::uint64_t{1} << (rng() % 38 + 1);
        samples = static_cast<std::int64_t>(rng() % largest) + 1;
        weight = static_cast<double>(rng() % 1000 + 1);
      }
      const auto ids = Mix(parts).SamplesAt({.seed = i}, 0, 1500);
      QVERIFY(ids.has_value());
      std::vector<std::set<std::int64_t>> passes(parts.size());
      for (const SampleId& id : *ids) {
        const auto part = static_cast<std::size_t>(id.part);
        QVERIFY(0 <= id.sample && id.sample < parts[part].first);
        QVERIFY(passes[part].insert(id.sample).second);
        if (std::ssize(passes[part]) == parts[part].first) passes[part].clear();
      }
    }
  }

  void partsOfEqualSizeAreShuffledApart() {
    const auto ids = Mix({{500, 0}, {500, 0}}).SamplesAt({.seed = 1}, 0, 1000);
    std::map<int, std::vector<std::int64_t>> orders;
    for (const SampleId& id : *ids) orders[id.part].push_back(id.sample);
    QVERIFY(orders[0] != orders[1]);
  }

  void sharesAreTheRoundedWeights() {
    const DataMix mix = Mix({{10, 3}, {10, 1}});
    QCOMPARE(mix.share(0), 0.75);
    QCOMPARE(mix.share(1), 0.25);
    const DataMix tiny = Mix({{10, 1}, {10, 1e-300}});
    QVERIFY(tiny.share(1) > 0);
    QCOMPARE(Mix({{30, 0}, {10, 0}}).share(0), 0.75);
    const double huge = std::numeric_limits<double>::max();
    QCOMPARE(Mix({{30, huge}, {10, huge}}).share(0), 0.5);
  }

  void fingerprintFollowsPartsAndWeights() {
    QCOMPARE(Mix({{77, 0}}).fingerprint(), std::uint64_t{77});
    const auto mixed = Mix({{77, 0.5}, {88, 0.5}}).fingerprint();
    QCOMPARE(Mix({{77, 1}, {88, 1}}).fingerprint(), mixed);
    QVERIFY(Mix({{77, 1}, {88, 2}}).fingerprint() != mixed);
    QVERIFY(Mix({{88, 1}, {77, 1}}).fingerprint() != mixed);
  }

  void badPartsAreRefused_data() {
    QTest::addColumn<QVector<double>>("weights");
    QTest::addColumn<QString>("message");
    QTest::newRow("none") << QVector<double>{}
                          << "a data mix has 0 parts, the limits are 1 and 65536";
    QTest::newRow("negative") << QVector<double>{1, -2}
                              << "weight -2 of data part 1 is not a positive number";
    QTest::newRow("no number") << QVector<double>{std::nan(""), 1}
                               << "weight nan of data part 0 is not a positive number";
    QTest::newRow("one missing")
        << QVector<double>{1, 0}
        << "data part 1 has no weight and part 0 has one: give one to all or to none";
  }
  void badPartsAreRefused() {
    QFETCH(QVector<double>, weights);
    QFETCH(QString, message);
    std::vector<DataMix::Part> parts;
    for (const double weight : weights) parts.push_back(Part(10, weight));
    const auto mix = DataMix::Make(std::move(parts));
    QVERIFY(!mix);
    QCOMPARE(mix.error().code, ErrorCode::kInvalidArgument);
    QCOMPARE(QString::fromStdString(mix.error().message), message);
  }

  void unevenPartsAndTooManySamplesAreRefused() {
    QVERIFY(!DataMix::Make({Part(10, 0, 8), Part(10, 0, 9)}));
    QVERIFY(!DataMix::Make({Part(engine::Permutation::kMaxSize), Part(1)}));
    QVERIFY(DataMix::Make({Part(engine::Permutation::kMaxSize - 1), Part(1)}).has_value());
  }

  void damagedCursorsAreRefused() {
    const DataMix mix = Mix({{10, 0}, {20, 0}});
    const std::int64_t max = std::numeric_limits<std::int64_t>::max();
    QVERIFY(!mix.SamplesAt({1, -1, 0}, 0, 4));
    QVERIFY(!mix.SamplesAt({1, 0, -1}, 0, 4));
    QVERIFY(!mix.SamplesAt({1, max, 0}, 0, 4));
    QVERIFY(!mix.SamplesAt({1, 0, max}, 0, 4));
    QVERIFY(!mix.SamplesAt({1, 0, 0}, 4, 3));
    QVERIFY(!mix.SamplesAt({1, 0, 0}, 0, max));
    QVERIFY(mix.SamplesAt({1, 1'000'000'000, 0}, 0, 4).has_value());
  }
};
TESSERA_TEST_APPLESS(DataMixTest)
#include "data_mix_test.moc"
