// SPDX-License-Identifier: Apache-2.0

/// \file
/// What an experiment's result says: which samples were read how often, smoothed curves, verdicts,
/// and the same after a way through JSON.

#include <QTest>
#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "engine/experiment/consistency.h"
#include "engine/experiment/findings.h"
#include "tests/support/random.h"

using namespace tessera;
using engine::AtChange;
using engine::ConsistencyResult;
using engine::ConsistencyRun;
using engine::LossPoint;
using engine::ReadStretch;

namespace {

/// A run with one loss before the change and one after it, with a little noise.
ConsistencyRun MadeRun(AtChange way, std::int64_t change, std::int64_t steps, std::int64_t batch,
                       std::int64_t batch_after, double before, double after) {
  ConsistencyRun run;
  run.way = way;
  run.changed_after = change;
  run.batch_before = batch;
  run.batch_after = batch_after;
  std::int64_t samples = 0;
  for (std::int64_t step = 1; step <= steps; ++step) {
    samples += step <= change ? batch : batch_after;
    const double noise = step % 2 == 0 ? 0.01 : -0.01;
    run.points.push_back({step, samples, (step <= change ? before : after) + noise});
  }
  return run;
}

/// 40 steps of 4 samples, changed after step 20.
ConsistencyResult MadeResult() {
  ConsistencyResult result;
  result.setup = {.model = "gpt-nano",
                  .data = "text \"found\"",
                  .steps = 40,
                  .change_at = 20,
                  .global_batch = 4,
                  .sequence = 32,
                  .num_samples = 160,
                  .held_out = 8,
                  .seed = 3,
                  .learning_rate = 0.005};
  ConsistencyRun right = MadeRun(AtChange::kKeep, 20, 40, 4, 4, 3.0, 2.5);
  right.read = {{0, 80}, {80, 160}};
  right.held_out_loss = 2.5;
  ConsistencyRun lost = MadeRun(AtChange::kLosePosition, 20, 40, 4, 4, 3.0, 2.3);
  lost.read = {{0, 80}, {0, 80}};
  lost.held_out_loss = 2.6;
  ConsistencyRun kept = MadeRun(AtChange::kKeepDeviceBatch, 20, 30, 4, 8, 3.0, 2.501);
  kept.read = {{0, 80}, {80, 160}};
  result.runs = {right, lost, kept};
  result.seconds = 12.5;
  result.time = 1e9;
  return result;
}

}  // namespace

class ExperimentTest : public QObject {
  Q_OBJECT
 private slots:
  // An array that counts the reads of every sample of the first pass.
  void coverageCountsEverySample() {
    std::mt19937_64 rng(test::Seed());
    for (int round = 0; round < 2000; ++round) {
      const auto samples = static_cast<std::int64_t>(1 + rng() % 40);
      std::vector<ReadStretch> stretches(rng() % 5);
      std::vector<int> reads(static_cast<std::size_t>(samples), 0);
      for (ReadStretch& stretch : stretches) {
        stretch.begin = static_cast<std::int64_t>(rng() % 60);
        stretch.end = stretch.begin + static_cast<std::int64_t>(rng() % 30);
        for (std::int64_t i = stretch.begin; i < std::min(stretch.end, samples); ++i)
          ++reads[static_cast<std::size_t>(i)];
      }
      const auto coverage = engine::CoverageOf(stretches, samples);
      QVERIFY(coverage.has_value());
      QCOMPARE(coverage->never_read, std::count(reads.begin(), reads.end(), 0));
      QCOMPARE(coverage->read_once, std::count(reads.begin(), reads.end(), 1));
      QCOMPARE(coverage->read_again, samples - coverage->never_read - coverage->read_once);
    }
  }
  void coverageRefusesWhatIsNone() {
    QVERIFY(!engine::CoverageOf({}, 0));
    for (const ReadStretch& wrong : {ReadStretch{-1, 3}, ReadStretch{5, 4}})
      QVERIFY(!engine::CoverageOf(std::vector{wrong}, 10));
  }

  // Each point against the mean over all points that its window holds, found anew.
  void smoothingIsTheMeanOfTheWindow() {
    std::mt19937_64 rng(test::Seed());
    for (int round = 0; round < 300; ++round) {
      std::vector<LossPoint> points(1 + rng() % 50);
      std::int64_t samples = 0;
      for (std::size_t i = 0; i < points.size(); ++i) {
        samples += static_cast<std::int64_t>(1 + rng() % 6);
        points[i] = {static_cast<std::int64_t>(i) + 1, samples,
                     static_cast<double>(rng() % 1000) / 100};
      }
      const auto window = static_cast<std::int64_t>(1 + rng() % 20);
      const auto change = static_cast<std::int64_t>(rng() % 200);
      const auto smooth = engine::Smooth(points, window, change);
      QCOMPARE(smooth.size(), points.size());
      for (std::size_t i = 0; i < points.size(); ++i) {
        double sum = 0;
        int count = 0;
        for (std::size_t j = 0; j <= i; ++j) {
          const bool near = points[i].samples - points[j].samples < window;
          const bool same_side = (points[j].samples > change) == (points[i].samples > change);
          if (!near || !same_side) continue;
          sum += points[j].loss;
          ++count;
        }
        QVERIFY(std::abs(smooth[i].loss - sum / count) < 1e-9);
        QCOMPARE(smooth[i].samples, points[i].samples);
      }
    }
  }

  void runsAreSummedUp() {
    const ConsistencyResult result = MadeResult();
    const auto right = engine::Summarize(result.runs[0], result);
    QVERIFY(std::abs(right.loss_before - 3.0) < 0.011);
    QVERIFY(std::abs(right.loss_end - 2.5) < 0.011);
    QVERIFY(!right.largest_difference);
    QCOMPARE(right.coverage, (engine::Coverage{160, 0, 0}));
    const auto lost = engine::Summarize(result.runs[1], result);
    QCOMPARE(lost.coverage, (engine::Coverage{0, 80, 80}));
    QVERIFY(std::abs(*lost.mean_difference + 0.2) < 0.01);
    QVERIFY(*lost.largest_difference < -0.15);
  }

  void verdictsNeedMoreThanNoise() {
    const ConsistencyResult result = MadeResult();
    QCOMPARE(engine::Compare(result.runs[1], result.runs[0]), engine::Verdict::kBelow);
    QCOMPARE(engine::Compare(result.runs[2], result.runs[0]), engine::Verdict::kNotVisible);
    const auto above = MadeRun(AtChange::kKeepDeviceBatch, 20, 30, 4, 8, 3.0, 2.7);
    QCOMPARE(engine::Compare(above, result.runs[0]), engine::Verdict::kAbove);
    ConsistencyRun empty;
    QCOMPARE(engine::Compare(empty, result.runs[0]), engine::Verdict::kNotVisible);
  }

  void sentencesClaimOnlyWhatWasSeen() {
    ConsistencyResult result = MadeResult();
    auto texts = engine::Findings(result);
    QCOMPARE(texts.size(), std::size_t{3});
    const auto says = [&](std::size_t i, const char* part) {
      const bool there = texts[i].find(part) != std::string::npos;
      if (!there) qWarning("%s", texts[i].c_str());
      return there;
    };
    QVERIFY(says(0, "each of the 160 samples of the pass was read exactly once"));
    QVERIFY(says(1, "80 samples were read twice and 80 never"));
    QVERIFY(says(1, "below the right run's: these samples it has seen before"));
    QVERIFY(says(1, "The better curve is the worse model"));
    QVERIFY(says(2, "8 after it"));
    QVERIFY(says(2, "not visible at these sizes"));

    // The other way round nothing of that is said.
    result.runs[1].held_out_loss = 2.4;
    result.runs[0].read = {{0, 80}, {70, 150}};
    texts = engine::Findings(result);
    QVERIFY(!says(1, "worse model"));
    QVERIFY(says(0, "10 samples were read more than once, 10 never"));
  }

  void aRunThatWasNeverMovedIsTheSame() {
    ConsistencyResult result = MadeResult();
    ConsistencyRun reference = result.runs[0];
    reference.is_reference = true;
    reference.changed_after.reset();
    reference.points[4].loss *= 1 + 1e-7;
    QVERIFY(std::abs(engine::LargestStepDifference(reference, result.runs[0]) - 1e-7) < 1e-9);
    result.runs.push_back(reference);
    QVERIFY(engine::Findings(result)[3].find("at most 1e-07") != std::string::npos);
    QCOMPARE(engine::NameOf(reference), std::string_view("never reconfigured"));
    QVERIFY(result.Find(AtChange::kKeep) == &result.runs[0]);
    QVERIFY(result.reference() == &result.runs[3]);
  }

  void resultsComeBackFromJson() {
    ConsistencyResult result = MadeResult();
    result.runs.push_back(result.runs[0]);
    result.runs[3].is_reference = true;
    result.runs[3].changed_after.reset();
    result.runs[3].held_out_loss.reset();
    const auto parsed = engine::ParseConsistencyResult(engine::ToJson(result));
    QVERIFY2(parsed.has_value(), parsed ? "" : parsed.error().message.c_str());
    QVERIFY(*parsed == result);
  }
  void wrongJsonIsRefused_data() {
    QTest::addColumn<QByteArray>("from");
    QTest::addColumn<QByteArray>("to");
    QTest::newRow("cut") << QByteArray("\"runs\":") << QByteArray();
    QTest::newRow("no samples") << QByteArray("\"samples\":160") << QByteArray("\"samples\":0");
    QTest::newRow("unknown run") << QByteArray("lose_position") << QByteArray("loose_position");
    QTest::newRow("loss as text") << QByteArray("\"loss\":") << QByteArray("\"loss\":\"x\",\"y\":");
    QTest::newRow("stretch") << QByteArray("[0,80]") << QByteArray("[0]");
    QTest::newRow("setup") << QByteArray("\"setup\":{") << QByteArray("\"setup\":[],\"x\":{");
  }
  void wrongJsonIsRefused() {
    QFETCH(QByteArray, from);
    QFETCH(QByteArray, to);
    QByteArray text = QByteArray::fromStdString(engine::ToJson(MadeResult()));
    QVERIFY(text.contains(from));
    const auto at = text.indexOf(from);
    text.replace(at, from.size(), to);
    QVERIFY(!engine::ParseConsistencyResult(text.toStdString()));
  }
};

QTEST_APPLESS_MAIN(ExperimentTest)
#include "experiment_test.moc"
