// SPDX-License-Identifier: Apache-2.0

/// \file
/// The result of an experiment: how often samples were read, smoothed curves, verdicts, and the
/// same after a way through JSON.

#include <QTest>
#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "engine/experiment/comparison.h"
#include "engine/experiment/consistency.h"
#include "engine/experiment/findings.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

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

/// Losses of groups some of which are hard, which cancels between runs, with a noise that does not.
std::vector<double> Around(double loss, int count, double noise = 0) {
  std::vector<double> losses;
  for (int i = 0; i < count; ++i) {
    losses.push_back(loss + 0.2 * (i % 5 - 2) + (i % 2 == 0 ? noise : -noise));
  }
  return losses;
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
                  .group = 4,
                  .seed = 3,
                  .learning_rate = 0.005};
  ConsistencyRun right = MadeRun(AtChange::kKeep, 20, 40, 4, 4, 3.0, 2.5);
  right.read = {{0, 80}, {80, 160}};
  right.held_out_losses = Around(2.5, 10);
  right.pass_losses = Around(2.5, 40);
  ConsistencyRun lost = MadeRun(AtChange::kLosePosition, 20, 40, 4, 4, 3.0, 2.3);
  lost.read = {{0, 80}, {0, 80}};
  lost.held_out_losses = Around(2.6, 10);
  lost.pass_losses = Around(2.4, 20, 0.02);
  for (const double loss : Around(2.55, 20, 0.02)) lost.pass_losses.push_back(loss);
  ConsistencyRun kept = MadeRun(AtChange::kKeepDeviceBatch, 20, 30, 4, 8, 3.0, 2.501);
  kept.read = {{0, 80}, {80, 160}};
  kept.held_out_losses = Around(2.56, 10);
  kept.pass_losses = Around(2.501, 40, 0.02);
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

  // Compares each point with the mean of all points in its window, computed independently.
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
    QVERIFY(*lost.largest_difference < -0.15);
  }

  // Sums over groups that this test chooses and adds up itself.
  void differencesAreOfTheSameSamples() {
    std::mt19937_64 rng(test::Seed());
    std::normal_distribution<double> any(2.5, 0.5);
    for (int round = 0; round < 500; ++round) {
      ConsistencyRun right = MadeRun(AtChange::kKeep, 20, 40, 4, 4, 3, 2);
      ConsistencyRun run = MadeRun(AtChange::kLosePosition, 20, 40, 4, 4, 3, 2);
      engine::ConsistencySetup setup;
      setup.group = static_cast<std::int64_t>(1 + rng() % 5);
      const auto groups = static_cast<std::size_t>(160 / setup.group);
      const auto change = static_cast<std::int64_t>(rng() % 160);
      run.read = {{0, change}, {0, 160 - change}};
      std::vector<double> last, never;
      for (std::size_t i = 0; i < groups; ++i) {
        right.pass_losses.push_back(any(rng));
        run.pass_losses.push_back(any(rng));
        const auto begin = static_cast<std::int64_t>(i) * setup.group, end = begin + setup.group;
        const double difference = run.pass_losses[i] - right.pass_losses[i];
        if (end <= 160 - change) last.push_back(difference);
        if (begin >= std::max(change, 160 - change)) never.push_back(difference);
      }
      for (const auto& [samples, expected] :
           {std::pair(engine::Samples::kReadLast, last), {engine::Samples::kNeverRead, never}}) {
        const auto found = engine::DifferenceOn(samples, run, right, setup);
        QCOMPARE(found.has_value(), expected.size() >= 2);
        if (!found) continue;
        double sum = 0, squares = 0;
        const auto n = static_cast<double>(expected.size());
        for (const double each : expected) {
          sum += each;
          squares += each * each;
        }
        const double variance = (squares - sum * sum / n) / (n - 1);
        QVERIFY(std::abs(found->value - sum / n) < 1e-9);
        QVERIFY(std::abs(found->error - std::sqrt(variance / n)) < 1e-6);
      }
      QVERIFY(!engine::DifferenceOn(engine::Samples::kHeldOut, run, right, setup));
    }
  }

  void verdictsNeedMoreThanNoise() {
    const auto judge = [](double value, double error) {
      return engine::Judge(engine::Difference{value, error});
    };
    QCOMPARE(judge(-0.21, 0.1), engine::Verdict::kBelow);
    QCOMPARE(judge(0.21, 0.1), engine::Verdict::kAbove);
    QCOMPARE(judge(-0.19, 0.1), engine::Verdict::kNotVisible);
    QCOMPARE(judge(0, 0), engine::Verdict::kNotVisible);
    QCOMPARE(judge(std::nan(""), 0.1), engine::Verdict::kNotVisible);
    QCOMPARE(engine::Judge(std::nullopt), engine::Verdict::kNotVisible);
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
    QVERIFY(says(1, "is 0.100 +/- 0.005 below the right run's, which read them once"));
    QVERIFY(says(1, "never read it is 0.050 +/- 0.005 above the right run's"));
    QVERIFY(says(1, "looks better, although it knows only a part of its text"));
    QVERIFY(says(2, "8 after it"));
    QVERIFY(says(2, "For the same number of samples it made 30 updates, and the right run made 40"));
    QVERIFY(says(2, "after the change is not distinguishable from the right run's"));
    QVERIFY(says(2, "no run trained on it is 0.060 +/- 0.000 above"));

    // In the opposite case no such sentence appears.
    result.runs[1].pass_losses = Around(2.4, 40, 0.02);
    result.runs[0].read = {{0, 80}, {70, 150}};
    texts = engine::Findings(result);
    QVERIFY(!says(1, "knows only a part"));
    QVERIFY(says(0, "10 samples were read more than once, 10 never"));
  }

  void aRunThatWasNeverMovedIsTheSame() {
    ConsistencyResult result = MadeResult();
    ConsistencyRun reference = result.runs[0];
    reference.is_reference = true;
    reference.changed_after.reset();
    reference.points[4].loss *= 1 + 1e-7;
    reference.points.back().loss *= 1 + 1e-4;
    const std::int64_t last = reference.points.back().step;
    const ConsistencyRun right = result.runs[0];
    QVERIFY(std::abs(engine::LargestStepDifference(reference, right, last - 1) - 1e-7) < 1e-9);
    QVERIFY(std::abs(engine::LargestStepDifference(reference, right, last) - 1e-4) < 1e-6);
    QCOMPARE(engine::LargestStepDifference(reference, right, 4), 0.0);
    result.runs.push_back(reference);
    const std::string text = engine::Findings(result)[3];  // all steps are soon after the change
    QVERIFY2(text.find("at most 0.0001") != std::string::npos, text.c_str());
    QVERIFY2(text.find("at the end by 0.0001") != std::string::npos, text.c_str());
    QCOMPARE(engine::NameOf(reference), std::string_view("never reconfigured"));
    QVERIFY(result.Find(AtChange::kKeep) == &result.runs[0]);
    QVERIFY(result.reference() == &result.runs[3]);
  }

  void resultsComeBackFromJson() {
    ConsistencyResult result = MadeResult();
    result.runs.push_back(result.runs[0]);
    result.runs[3].is_reference = true;
    result.runs[3].changed_after.reset();
    result.runs[3].held_out_losses.clear();
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
    QTest::newRow("group") << QByteArray("\"group\":4") << QByteArray("\"group\":-4");
    QTest::newRow("losses") << QByteArray("\"pass_losses\":[")
                            << QByteArray("\"pass_losses\":[null,");
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

TESSERA_TEST_APPLESS(ExperimentTest)
#include "experiment_test.moc"
