// SPDX-License-Identifier: Apache-2.0
#include <QAbstractItemModelTester>
#include <QApplication>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QSvgRenderer>
#include <QTest>
#include <cmath>
#include <limits>

#include "tests/support/widget_test_main.h"
#include "tests/support/work.h"
#include "tests/ui/panel_fixture.h"
#include "ui/models/sample_history.h"
#include "ui/plots/bands.h"
#include "ui/plots/busy_series.h"
#include "ui/plots/drawn_samples.h"
#include "ui/plots/job_plots.h"
#include "ui/plots/pareto_front.h"
#include "ui/plots/pareto_scatter.h"
#include "ui/plots/plot_canvas.h"
#include "ui/plots/plot_curve.h"
#include "ui/plots/sample_series.h"
#include "ui/plots/time_view.h"
#include "ui/theme.h"

using namespace tessera;
using ui::JobPlots;
using ui::PlotBand;
using ui::SampleHistory;
using ui::SampleSeries;

namespace {

engine::Sample Sample(std::int64_t step, double time, double loss = 2) {
  engine::Sample sample;
  sample.job = test::kJob;
  sample.step = step;
  sample.time = time;
  sample.loss = loss;
  sample.tokens_per_second = 1000;
  return sample;
}

SampleSeries Regular(int count, double interval = 0.1, std::size_t capacity = 200'000) {
  SampleSeries series(capacity);
  for (int i = 0; i < count; ++i) series.add(Sample(i + 1, 1000 + i * interval, 2.0 + i % 7));
  return series;
}

std::vector<std::int64_t> StepsOf(const SampleSeries& series) {
  std::vector<std::int64_t> steps;
  for (const auto& point : series.points()) steps.push_back(point.step);
  return steps;
}

engine::Candidate Candidate(double step, double pause, std::int64_t peak = 10) {
  engine::Candidate candidate;
  candidate.step_seconds = step;
  candidate.pause_seconds = pause;
  candidate.peak_bytes = peak;
  candidate.capacity = 100;
  return candidate;
}

}  // namespace

class PlotsTest : public QObject {
  Q_OBJECT

 private slots:
  void knownSamplesAreIgnoredAndANewCourseReplacesTheOld() {
    SampleSeries series;
    for (int step = 1; step <= 5; ++step) QVERIFY(series.add(Sample(step, 10 + step)));
    QVERIFY(!series.add(Sample(5, 15)));
    QVERIFY(!series.add(Sample(3, 13)));
    const auto revision = series.revision();
    QVERIFY(series.add(Sample(6, 16)));
    QCOMPARE(series.revision(), revision);
    QVERIFY(series.add(Sample(4, 20)));  // the job went back to step 3
    QVERIFY(series.revision() > revision);
    QCOMPARE(StepsOf(series), (std::vector<std::int64_t>{1, 2, 3, 4}));
    QVERIFY(series.points().back().afterGap);
  }

  void aLongWaitIsAGapButASlowJobIsNot() {
    SampleSeries series = Regular(50);
    series.add(Sample(51, 1020));  // 15 s after the last one
    QVERIFY(series.points().back().afterGap);
    double time = 1020;
    for (int step = 52; step < 80; ++step) series.add(Sample(step, time += 1.0));
    QVERIFY(!series.points().back().afterGap);
  }

  void memoryIsBoundedAndTheNewestStayWhole() {
    constexpr std::size_t kCapacity = 1000;
    SampleSeries series = Regular(5000, 0.1, kCapacity);
    QVERIFY(series.points().size() <= kCapacity);
    QVERIFY(series.points().size() > kCapacity / 2);
    QCOMPARE(series.points().back().step, std::int64_t{5000});
    for (std::size_t i = 1; i < series.points().size(); ++i) {
      QVERIFY(series.points()[i].time > series.points()[i - 1].time);
      QVERIFY(series.points()[i].step > series.points()[i - 1].step);
    }
    const auto last = series.points().end();
    for (auto point = last - 400; point != last - 1; ++point) {
      QCOMPARE((point + 1)->step, point->step + 1);
    }
  }

  void thinningKeepsGaps() {
    SampleSeries series(64);
    double time = 0;
    for (int step = 1; step <= 60; ++step) {
      time += step == 20 ? 30 : 0.1;
      series.add(Sample(step, time));
    }
    for (int step = 61; step <= 90; ++step) series.add(Sample(step, time += 0.1));
    const auto& points = series.points();
    QCOMPARE(std::count_if(points.begin(), points.end(), [](const auto& p) { return p.afterGap; }),
             std::ptrdiff_t{1});
  }

  // A step after a pause has no rate, and its neighbour has one.
  void thinningKeepsRates() {
    SampleSeries series(64);
    for (int step = 1; step <= 90; ++step) {
      engine::Sample sample = Sample(step, 1000 + 0.1 * step);
      if (step % 2 == 0) sample.tokens_per_second = std::numeric_limits<double>::quiet_NaN();
      series.add(sample);
    }
    const auto& points = series.points();
    QVERIFY(points.size() < 90);
    QVERIFY(points.front().step > 1);  // of two samples
    QCOMPARE(points.front().tokensPerSecond, 1000.0);
  }

  void metricsAreSeriesWithTheirOwnGaps() {
    SampleSeries series;
    for (int step = 1; step <= 10; ++step) {
      engine::Sample sample = Sample(step, 10 + step);
      if (step % 2 == 0) sample.metrics["accuracy"] = step / 10.0;
      if (step == 7) sample.metrics["late/name"] = 7;
      QVERIFY(series.add(sample));
    }
    QCOMPARE(series.metrics().size(), std::size_t{2});
    const SampleSeries::Metric& accuracy = series.metrics().front();
    QCOMPARE(QString::fromStdString(accuracy.name), QStringLiteral("accuracy"));
    QCOMPARE(accuracy.values.size(), series.points().size());
    QCOMPARE(std::count(accuracy.logged.begin(), accuracy.logged.end(), true), std::ptrdiff_t{5});
    QCOMPARE(series.metricsAt(series.points()[4]), (engine::Metrics{{"accuracy", 0.4}}));
    QCOMPARE(series.metricsAt(series.points()[8]),
             (engine::Metrics{{"accuracy", 0.8}, {"late/name", 7}}));
    QCOMPARE(series.sampleOf("job", 8).metrics, engine::Metrics{});

    // What a rank reports after the step of others is added to it, and draws no other points anew.
    const auto revision = series.revision();
    engine::Sample again = Sample(10, 20);
    again.metrics = {{"accuracy", 1.0}, {"f1", 0.5}};
    QVERIFY(series.add(again));
    QVERIFY(!series.add(again));
    QCOMPARE(series.revision(), revision);
    QCOMPARE(series.amendments(), std::uint64_t{1});
    QCOMPARE(series.sampleOf("job", 9).metrics, (engine::Metrics{{"accuracy", 1.0}, {"f1", 0.5}}));

    // Back to step 4: what came after it is gone.
    series.add(Sample(4, 30));
    QCOMPARE(series.metricsAt(series.points().back()), (engine::Metrics{{"accuracy", 0.2}}));
  }

  void thinningKeepsMetrics() {
    SampleSeries series(64);
    for (int step = 1; step <= 90; ++step) {
      engine::Sample sample = Sample(step, step * 0.1);
      sample.metrics["same"] = 5;
      if (step % 3 == 0) sample.metrics["rare"] = step;
      series.add(sample);
    }
    const auto& points = series.points();
    QVERIFY(points.size() <= 64);
    for (const SampleSeries::Metric& metric : series.metrics()) {
      QCOMPARE(metric.values.size(), points.size());
      QCOMPARE(metric.logged.size(), points.size());
      for (std::size_t i = 0; i < points.size(); ++i) {
        if (!metric.logged[i]) continue;
        if (metric.name == "same") QCOMPARE(metric.values[i], 5.0);
        if (metric.name == "rare")
          QVERIFY(std::abs(metric.values[i] - static_cast<double>(points[i].step)) <= 3);
      }
    }
  }

  void linesOfMetricsEndAtGapsOnly() {
    SampleSeries series;
    for (int step = 1; step <= 40; ++step) {
      engine::Sample sample = Sample(step, step <= 20 ? step : step + 100);
      if (step % 5 == 0) sample.metrics["rare"] = step;
      if (step == 30) sample.metrics["rare"] = std::numeric_limits<double>::quiet_NaN();
      series.add(sample);
    }
    ui::DrawnSamples drawn;
    drawn.setSeries(series);
    const ui::PlotCurve rare = ui::PlotCurve::ofMetric("rare");
    const auto breaksOf = [](const std::vector<ui::DrawnSamples::Value>& line) {
      return std::ranges::count_if(line, [](const auto& v) { return std::isnan(v.value); });
    };
    const auto whole = drawn.line(rare, 0);
    QCOMPARE(whole.size(), std::size_t{9});        // 8 values and the gap of 100 s
    QCOMPARE(breaksOf(whole), std::ptrdiff_t{2});  // that gap, and the value that is no number
    QVERIFY(std::ranges::is_sorted(whole, {}, &ui::DrawnSamples::Value::time));
    // What is appended is the end of the whole line.
    const auto end = drawn.line(rare, 20);
    QCOMPARE(end.size(), std::size_t{5});
    for (std::size_t i = 0; i < end.size(); ++i)
      QCOMPARE(end[i].time, whole[whole.size() - end.size() + i].time);
    // Between two values the earlier one holds, but not across the gap.
    QCOMPARE(drawn.valueAt(rare, drawn.points()[17])->value, 15.0);
    QVERIFY(!drawn.valueAt(rare, drawn.points()[21]));
    QVERIFY(!drawn.valueAt(ui::PlotCurve::ofMetric("unknown"), drawn.points()[21]));
    const auto extent = drawn.extentOf(rare, {0, 1000});
    QCOMPARE(extent.values, std::ptrdiff_t{8});
    QCOMPARE(extent.range->from, 5.0);
    QCOMPARE(extent.range->to, 40.0);

    // A late value of the last point replaces that point only.
    engine::Sample late = Sample(40, 140);
    late.metrics = {{"rare", 41}, {"new", 1}};
    series.add(late);
    const auto change = drawn.setSeries(series);
    QVERIFY(change.any);
    QCOMPARE(change.from, std::size_t{39});
    QCOMPARE(drawn.points().size(), series.points().size());
    QCOMPARE(drawn.segments(), 2);
    QCOMPARE(drawn.line(rare, 0).back().value, 41.0);
    QCOMPARE(drawn.line(ui::PlotCurve::ofMetric("new"), 0).size(), std::size_t{1});
    QVERIFY(!drawn.setSeries(series).any);
  }

  void namesOfCurvesSurviveTheirText() {
    const std::vector<ui::PlotCurve> curves{{ui::PlotCurve::Kind::Tokens},
                                            {ui::PlotCurve::Kind::StepTime},
                                            {ui::PlotCurve::Kind::GradNorm},
                                            ui::PlotCurve::ofMetric("val/loss"),
                                            ui::PlotCurve::ofMetric("loss")};
    QCOMPARE(
        ui::printCurves(curves),
        QStringLiteral("tokens_per_second,step_seconds,grad_norm,metrics.val/loss,metrics.loss"));
    QVERIFY(ui::parseCurves(ui::printCurves(curves)) == curves);
    QVERIFY(ui::parseCurves(QStringLiteral("loss,nonsense,metrics.,metrics.a b,loss,")) ==
            std::vector<ui::PlotCurve>{{ui::PlotCurve::Kind::Loss}});
  }

  // Nothing is said of a step in which the job paused or was not seen, and thinning changes no
  // mean.
  void theStepTimeIsThatOfEachStep() {
    const ui::PlotCurve stepTime{ui::PlotCurve::Kind::StepTime};
    SampleSeries series;
    double time = 1000;
    for (int step = 1; step <= 40; ++step) {
      time += step == 21 ? 100 : step == 31 ? 1.5 : 0.5;
      if (step != 6) series.add(Sample(step, time));  // its sample was lost
    }
    ui::DrawnSamples drawn;
    drawn.setSeries(series);
    PlotBand pause;
    pause.pauseStart = series.points()[28].time + 0.25;  // between steps 30 and 31
    pause.pauseEnd = pause.pauseStart + 1;
    pause.outcome = PlotBand::Outcome::Committed;
    drawn.setBands({pause});
    const auto line = drawn.line(stepTime, 0);
    QCOMPARE(line.size(), std::size_t{36 + 2});  // 39 samples, of which three begin a run
    QCOMPARE(std::ranges::count_if(line, [](const auto& v) { return std::isnan(v.value); }),
             std::ptrdiff_t{2});
    for (const auto& each : line)
      QVERIFY(std::isnan(each.value) || std::abs(each.value - 0.5) < 1e-9);
    QVERIFY(!drawn.valueAt(stepTime, drawn.points()[0]));

    SampleSeries thinned(16);
    for (int step = 1; step <= 1000; ++step) thinned.add(Sample(step, 1000 + 0.25 * step));
    ui::DrawnSamples few;
    few.setSeries(thinned);
    for (const auto& each : few.line(stepTime, 0)) QVERIFY(std::abs(each.value - 0.25) < 1e-9);
  }

  void whatGpusComputeIsKeptInBounds() {
    auto cluster = test::LargeCluster(512, 8, 0, 0);
    for (auto& node : cluster.nodes) {
      for (auto& device : node.devices) device.busy_seconds = 0.25;
    }
    ui::BusySeries many;
    const auto at = [](int step) {
      ui::SampleSeries::Point point;
      point.step = step;
      point.time = 1000 + step;
      return point;
    };
    for (int step = 1; step <= 2000; ++step) QVERIFY(many.add(at(step), cluster, test::kJob));
    QVERIFY(many.size() <= ui::BusySeries::kMostValues / 4096);
    QVERIFY(many.size() >= ui::BusySeries::kMostValues / 4096 / 2);
    const auto values = many.of({511, 7});
    QCOMPARE(values.size(), many.size());
    QVERIFY(values.front().time < 1020 && values.back().time == 3000);
    double longest = 0;
    for (std::size_t i = 1; i < values.size(); ++i)
      longest = std::max(longest, values[i].time - values[i - 1].time);
    QVERIFY2(longest <= 32, qPrintable(QString::number(longest)));
    QVERIFY(std::ranges::all_of(values, [](const auto& value) { return value.seconds == 0.25; }));
    QVERIFY(many.of({600, 0}).empty());

    // Before anything is known there is nothing; a GPU that joins later has no values before.
    auto small = test::SmallCluster();
    ui::BusySeries series;
    QVERIFY(!series.add(at(1), small, test::kJob));
    small.nodes[0].devices[1].busy_seconds = 0.5;
    QVERIFY(series.add(at(2), small, test::kJob));
    QVERIFY(!series.add(at(2), small, test::kJob));
    small.nodes[0].devices[2].busy_seconds = 0.75;
    QVERIFY(series.add(at(3), small, test::kJob));
    QVERIFY(std::isnan(series.of({0, 2}).front().seconds));
    QCOMPARE(series.of({0, 2}).back().seconds, 0.75);
    // The job returned to an earlier step.
    auto back = at(2);
    back.time = 1010;
    QVERIFY(series.add(back, small, test::kJob));
    QCOMPARE(series.size(), std::size_t{1});
    series.clear();
    QVERIFY(series.of({0, 1}).empty());
  }

  // A line for each selected GPU, which ends at gaps like the others, and is read at the pointer.
  void whatGpusComputeIsDrawnWithTheStepTime() {
    JobPlots plots;
    plots.resize(800, 240);
    plots.setCurves({{ui::PlotCurve::Kind::Loss}, {ui::PlotCurve::Kind::StepTime}});
    SampleSeries series;
    std::vector<ui::BusySeries::Value> values;
    for (int step = 1; step <= 40; ++step) {
      const double time = step * 0.5 + (step > 20 ? 1100 : 1000);
      series.add(Sample(step, time));
      if (step > 10) values.push_back({time, step == 30 ? std::nan("") : 0.25});
    }
    plots.setSeries(series);
    QVERIFY2(plots.readout(1005).contains(QStringLiteral("0.50 s per step")),
             qPrintable(plots.readout(1005)));
    QVERIFY(!plots.readout(1005).contains(QStringLiteral("computes")));
    plots.setComputing({{{0, 1}, values}});
    QVERIFY2(plots.readout(1008).contains(QStringLiteral("n0g1 computes 0.25 s")),
             qPrintable(plots.readout(1008)));
    QVERIFY(!plots.readout(1002).contains(QStringLiteral("computes")));  // it was not seen yet
    QVERIFY(!plots.readout(1115).contains(QStringLiteral("computes")));  // nor then
    QVERIFY(plots.readout(1120).contains(QStringLiteral("computes")));
    QVERIFY(plots.toSvg({800, 320}).contains("n0g1"));
    ui::DrawnSamples drawn;
    drawn.setSeries(series);
    const auto line = drawn.line(values);
    QCOMPARE(line.size(), values.size() + 1);
    QVERIFY(std::isnan(line[10].value));
    plots.setComputing(std::vector(12, JobPlots::Computing{{0, 1}, values}));
    QCOMPARE(plots.computing().size(), ui::kMostFurtherLines);
    plots.setCurves(ui::usualCurves());
    QVERIFY(!plots.readout(1008).contains(QStringLiteral("computes")));
    QVERIFY(!plots.toSvg({800, 320}).contains("n0g1"));
  }

  void chosenCurvesHaveAnAxisEachAndAreReadAtThePointer() {
    JobPlots plots;
    plots.resize(800, 240);
    SampleSeries series;
    for (int i = 0; i < 200; ++i) {
      engine::Sample sample = Sample(i + 1, 1000 + i * 0.1);
      sample.grad_norm = 1.25;
      sample.metrics = {{"learning_rate", 3e-5 * i}, {"accuracy_of_validation", i / 200.0}};
      series.add(sample);
    }
    plots.setSeries(series);
    QVERIFY(!plots.readout(1010).contains(QStringLiteral("accuracy")));
    const QSize usual = plots.minimumSizeHint();
    std::vector<ui::PlotCurve> curves = ui::usualCurves();
    curves.push_back({ui::PlotCurve::Kind::GradNorm});
    curves.push_back(ui::PlotCurve::ofMetric("accuracy_of_validation"));
    curves.push_back(ui::PlotCurve::ofMetric("learning_rate"));
    const auto range = plots.range();
    plots.setCurves(curves);
    QVERIFY(plots.range() == range);
    QVERIFY(plots.minimumSizeHint().height() > usual.height());
    QVERIFY(plots.accessibleName().contains(QStringLiteral("accuracy_of_validation")));
    const QString text = plots.readout(1010);
    QVERIFY2(text.contains(QStringLiteral("step 101")) && text.contains(QStringLiteral("loss")) &&
                 text.contains(QStringLiteral("gradient norm 1.25")) &&
                 text.contains(QStringLiteral("accuracy_of_validation 0.5")) &&
                 text.contains(QStringLiteral("learning_rate 0.003")),
             qPrintable(text));
    plots.setPlayhead(1010);
    QVERIFY(plots.playheadText().contains(QStringLiteral("accuracy_of_validation 0.5")));
    const QByteArray svg = plots.toSvg({800, 320});
    for (const char* title : {"loss", "tokens/s", "gradient norm", "accuracy_of_validation"})
      QVERIFY2(svg.contains(title), title);
    // Their lines grow with the samples.
    engine::Sample next = Sample(201, 1020);
    next.metrics = {{"accuracy_of_validation", 12.5}};
    series.add(next);
    plots.setSeries(series);
    QVERIFY(plots.readout(1020).contains(QStringLiteral("accuracy_of_validation 12.5")));
    // One alone still has its strip of events and the clock.
    plots.setCurves({ui::PlotCurve::ofMetric("learning_rate")});
    QVERIFY(plots.readout(1010).contains(QStringLiteral("learning_rate")));
    QVERIFY(!plots.readout(1010).contains(QStringLiteral("loss")));
    QVERIFY(!plots.toPng({800, 160}, 1).isEmpty());
    QVERIFY(plots.minimumSizeHint() == usual);
  }

  void bandsTellPauseAndOutcome() {
    const auto bands = ui::bandsOf(test::PanelHistory(), test::kJob);
    QCOMPARE(bands.size(), std::size_t{3});
    QVERIFY(bands[0].outcome == PlotBand::Outcome::Undone);
    const PlotBand& grow = bands[2];
    QCOMPARE(grow.txn, std::int64_t{3});
    QVERIFY(grow.outcome == PlotBand::Outcome::Committed);
    QCOMPARE(grow.start, 1'750'000'248.0);
    QVERIFY(std::abs(grow.end - grow.start - 1.53) < 1e-6);
    QVERIFY(std::abs(grow.pauseStart - grow.start - 1.2) < 1e-6);
    QVERIFY(std::abs(grow.pauseEnd - grow.pauseStart - 0.31) < 1e-6);
    QCOMPARE(grow.label, QStringLiteral("0.31 s"));
    QVERIFY(ui::bandsOf(test::PanelHistory(), "other").empty());
    QVERIFY(
        ui::bandsOf(test::PanelHistory(), test::kJob, {}, 7).empty());  // a later job of the name

    // A loss paused the job 11 s before the change that ended the pause, and what came after it is
    // not part of it.
    engine::HistoryEntry recovery = test::PanelHistory().front();
    recovery.pause = 11;
    const PlotBand late = ui::bandsOf({recovery}, test::kJob).front();
    QVERIFY(std::abs(late.end - late.start - 1.53) < 1e-6);
    QCOMPARE(late.pauseEnd, late.end);
    QVERIFY(std::abs(late.pauseEnd - late.pauseStart - 11) < 1e-6);

    const auto moving = test::PanelMove(engine::TxnPhase::kTransferring, {1, 2, 3, 4});
    const auto with =
        ui::bandsOf(test::PanelHistory(), test::kJob,
                    ui::RunningBand{*moving.transaction, 1'750'000'300, 1'750'000'302});
    QCOMPARE(with.size(), std::size_t{4});
    QVERIFY(with.back().outcome == PlotBand::Outcome::Running);
    QCOMPARE(with.back().end, 1'750'000'302.0);
  }

  void eventsHaveMarksBySeverity() {
    int marks = 0;
    for (const engine::Event& event : test::PanelEvents()) marks += ui::markOf(event).has_value();
    QCOMPARE(marks, 4);  // those of transactions are bands
    engine::Event joined{1, 5, engine::Severity::kInfo, "n1", "joined with 4 GPUs"};
    QVERIFY(ui::markOf(joined)->shape == ui::PlotMark::Shape::Plus);
    joined.severity = engine::Severity::kDebug;
    QVERIFY(!ui::markOf(joined));
  }

  void samplesComeInPagesUntilCaughtUpWithoutAHole() {
    ui::ClusterModel model;
    test::SpyCommands commands(model);
    for (int step = 1; step <= 2500; ++step) {
      commands.recorded.push_back(Sample(step, 1000 + step * 0.1));
    }
    model.setLink(ui::LinkState::Connected, {});
    model.setSnapshot(test::PanelCluster());
    SampleHistory history(model, commands);
    model.flush();
    QVERIFY(history.state() == SampleHistory::State::Loading);
    // These arrive while older samples are requested, and overlap with them.
    for (int step = 2499; step <= 2503; ++step) {
      model.addSample(Sample(step, 1000 + step * 0.1));
    }
    model.flush();
    QTRY_VERIFY(history.state() == SampleHistory::State::Following);
    QCOMPARE(commands.sampled, (std::vector<std::int64_t>{-1, 1000, 2000, 2500}));
    const auto check = [&](std::int64_t last) {
      const auto steps = StepsOf(history.series());
      QCOMPARE(std::ssize(steps), static_cast<std::ptrdiff_t>(last));
      for (std::size_t i = 0; i < steps.size(); ++i) {
        QCOMPARE(steps[i], static_cast<std::int64_t>(i + 1));
      }
    };
    check(2503);

    // After a reconnection the missed samples are requested.
    model.setLink(ui::LinkState::Lost, {});
    model.flush();
    QVERIFY(history.state() == SampleHistory::State::Waiting);
    for (int step = 2501; step <= 2600; ++step) {
      commands.recorded.push_back(Sample(step, 1000 + step * 0.1));
    }
    auto cluster = test::PanelCluster();
    cluster.jobs.front().step = 2600;
    model.setSnapshot(cluster);
    model.setLink(ui::LinkState::Connected, {});
    model.flush();
    QTRY_VERIFY(history.state() == SampleHistory::State::Following);
    check(2600);
    model.addSample(Sample(2601, 1260.1));
    model.flush();
    check(2601);
  }

  // A job that is started again under its name begins a curve of its own, also if it is further
  // than the last step of the earlier one.
  void samplesOfAnEarlierJobAreNotMixedIn() {
    ui::ClusterModel model;
    test::SpyCommands commands(model);
    const auto of = [](int step, std::int64_t origin) {
      engine::Sample sample = Sample(step, 1000 + static_cast<double>(origin) + step * 0.1);
      sample.origin = origin;
      return sample;
    };
    auto cluster = test::PanelCluster();
    const auto start = [&](std::int64_t origin) {
      cluster.jobs.front().origin = origin;
      model.setSnapshot(cluster);
      model.flush();
    };
    for (int step = 1; step <= 5; ++step) commands.recorded.push_back(of(step, 100));
    model.setLink(ui::LinkState::Connected, {});
    cluster.jobs.front().origin = 100;
    model.setSnapshot(cluster);
    SampleHistory history(model, commands);
    model.flush();
    QTRY_VERIFY(history.state() == SampleHistory::State::Following);
    QCOMPARE(StepsOf(history.series()), (std::vector<std::int64_t>{1, 2, 3, 4, 5}));
    // Its first sample may arrive before the snapshot that has it.
    model.addSample(of(6, 200));
    model.flush();
    QCOMPARE(history.series().points().size(), std::size_t{5});
    commands.recorded = {of(6, 200), of(7, 200)};
    start(200);
    QCOMPARE(history.origin(), std::int64_t{200});
    QTRY_VERIFY(history.state() == SampleHistory::State::Following);
    QCOMPARE(StepsOf(history.series()), (std::vector<std::int64_t>{6, 7}));
    model.addSample(of(8, 100));  // late, of the earlier one
    model.addSample(of(8, 200));
    model.flush();
    QCOMPARE(history.series().points().back().time, 1000 + 200 + 0.8);
  }

  void gapsAndPausesBreakTheLine() {
    JobPlots plots;
    plots.resize(800, 160);
    SampleSeries series = Regular(100);
    series.add(Sample(101, 1020));
    series.add(Sample(102, 1020.1));
    plots.setSeries(series);
    QCOMPARE(plots.segments(), 2);
    PlotBand band;
    band.txn = 1;
    band.start = 1005.01;
    band.end = 1005.09;
    band.pauseStart = 1005.02;
    band.pauseEnd = 1005.08;
    plots.setBands({band});
    QCOMPARE(plots.segments(), 3);
    QVERIFY(plots.readout(1015).isEmpty());
    QVERIFY(plots.readout(1003).contains(QStringLiteral("step 31")));
    // What is not a number leaves a hole, no zero.
    engine::Sample unknown = Sample(103, 1020.2);
    unknown.loss = std::numeric_limits<double>::quiet_NaN();
    series.add(unknown);
    plots.setSeries(series);
    QVERIFY(plots.readout(1020.2).contains(QStringLiteral("loss —")));
  }

  void zoomingStopsFollowingAndFitFollowsAgain() {
    JobPlots plots;
    plots.resize(800, 160);
    SampleSeries series = Regular(600);
    plots.setSeries(series);
    QVERIFY(plots.isFollowing());
    QVERIFY(plots.range().first <= 1000 && plots.range().second >= 1059.9);
    QSignalSpy moved(&plots, &JobPlots::rangeChanged);
    plots.setRange(1010, 1020);
    QCOMPARE(moved.count(), 1);
    QVERIFY(!plots.isFollowing());
    series.add(Sample(601, 1060));
    plots.setSeries(series);
    QCOMPARE(plots.range().first, 1010.0);
    plots.fit();
    QVERIFY(plots.isFollowing());
    QVERIFY(plots.range().second >= 1060);
  }

  void theViewStaysNearTheSamplesAndFollowsTheNewest() {
    ui::TimeView view;
    ui::TimeView::Known known;
    QVERIFY(!view.follow(known));
    known.now = 1000;
    QVERIFY(view.follow(known)->contains(1000));
    known.samples = ui::PlotRange{900, 1000};
    QCOMPARE(view.follow(known)->from, 900.0);
    known.lastBandEnd = 1003;
    QVERIFY(view.follow(known)->contains(1003));

    // Into the past: it stays there, but not out of sight of the samples, nor finer than they are.
    const ui::PlotRange past = view.moveTo({-5000, -4990}, known);
    QCOMPARE(past.size(), 10.0);
    QCOMPARE(past.to, 900 + 2.5);
    QVERIFY(!view.isFollowing() && !view.follow(known));
    QCOMPARE(view.moveTo({950, 950.001}, known).size(), 0.5);
    QCOMPARE(view.moveTo({0, 100'000}, known).size(), 400.0);
    // The newest in sight: it follows, as wide as it was left.
    QCOMPARE(view.moveTo({985, 1005}, known).size(), 20.0);
    QVERIFY(view.isFollowing());
    known.samples->to = known.now.emplace(1100);
    QCOMPARE(view.follow(known)->from, 1080.0);
    view.followAll();
    QCOMPARE(view.follow(known)->from, 900.0);
  }

  void aClickOrAKeyChoosesABand() {
    JobPlots plots;
    plots.resize(800, 160);
    plots.setSeries(Regular(600));
    std::vector<PlotBand> bands(2);
    bands[0].txn = 4;
    bands[0].start = 1010;
    bands[0].end = 1012;
    bands[1].txn = 5;
    bands[1].start = 1030;
    bands[1].end = 1033;
    plots.setBands(bands);
    plots.show();
    plots.measureReplot();
    QSignalSpy chosen(&plots, &JobPlots::bandChosen);
    auto* canvas = plots.findChild<QWidget*>();
    const QPoint at(static_cast<int>(plots.pixelOf(1031)), 60);
    QTest::mouseClick(canvas, Qt::LeftButton, Qt::NoModifier, at);
    QCOMPARE(chosen.count(), 1);
    QCOMPARE(chosen.last().first().toLongLong(), 5);
    QTest::keyClick(&plots, Qt::Key_Left);
    QCOMPARE(chosen.last().first().toLongLong(), 4);
    QCOMPARE(plots.selectedBand(), std::optional<std::int64_t>(4));
  }

  void thePlayheadFollowsClicksAndDrags() {
    JobPlots plots;
    plots.resize(800, 160);
    plots.setSeries(Regular(600));
    plots.show();
    plots.measureReplot();
    QVERIFY(!plots.playhead() && plots.playheadText().isEmpty());
    auto* canvas = plots.findChild<QWidget*>();
    const auto at = [&](double time, int y = 60) {
      return QPoint(static_cast<int>(std::lround(plots.pixelOf(time))), y);
    };
    const double pixel = 1 / (plots.pixelOf(1011) - plots.pixelOf(1010));  // seconds
    QSignalSpy moved(&plots, &JobPlots::playheadChanged);
    QTest::mouseClick(canvas, Qt::LeftButton, Qt::NoModifier, at(1030));
    QVERIFY(plots.playhead() && std::abs(*plots.playhead() - 1030) <= pixel);
    QVERIFY(plots.playheadText().startsWith(QStringLiteral("step 30")));
    QVERIFY(plots.playheadText().contains(QStringLiteral("loss")));
    QVERIFY(plots.playheadText().contains(QStringLiteral("tokens/s")));
    QCOMPARE(moved.count(), 1);

    // Dragged by its line, then from the strip of times; the view stays where it is.
    const auto range = plots.range();
    QTest::mousePress(canvas, Qt::LeftButton, Qt::NoModifier, at(*plots.playhead()));
    QTest::mouseMove(canvas, at(1045));
    QTest::mouseRelease(canvas, Qt::LeftButton, Qt::NoModifier, at(1045));
    QVERIFY(std::abs(*plots.playhead() - 1045) <= pixel);
    QTest::mousePress(canvas, Qt::LeftButton, Qt::NoModifier, at(1005, 155));
    QVERIFY(std::abs(*plots.playhead() - 1005) <= pixel);
    QTest::mouseMove(canvas, at(1000 - 30, 155));
    QTest::mouseRelease(canvas, Qt::LeftButton, Qt::NoModifier, at(1000 - 30, 155));
    QCOMPARE(*plots.playhead(), 1000.0);  // stays with the samples
    QVERIFY(plots.range() == range);

    // A drag elsewhere pans and leaves it.
    QTest::mousePress(canvas, Qt::LeftButton, Qt::NoModifier, at(1030));
    QTest::mouseMove(canvas, at(1040));
    QTest::mouseRelease(canvas, Qt::LeftButton, Qt::NoModifier, at(1040));
    QCOMPARE(*plots.playhead(), 1000.0);
    plots.setPlayhead(std::nullopt);
    QVERIFY(!plots.playhead());
  }

  void keysMoveThePlayheadBetweenEvents() {
    JobPlots plots;
    plots.resize(800, 160);
    plots.setSeries(Regular(600));
    PlotBand band;
    band.txn = 4;
    band.start = 1010;
    band.end = 1012;
    plots.setBands({band});
    ui::PlotMark mark;
    mark.time = 1030;
    mark.text = QStringLiteral("n1 joined");
    ui::PlotMark early;
    early.time = 500;  // before the samples
    plots.setMarks({early, mark});
    plots.show();
    QSignalSpy chosen(&plots, &JobPlots::bandChosen);
    const auto press = [&](Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
      QTest::keyClick(&plots, key, modifiers);
      return plots.playhead().value_or(-1);
    };
    QCOMPARE(press(Qt::Key_Left), 1030.0);
    QVERIFY(plots.playheadText().contains(QStringLiteral("n1 joined")));
    QCOMPARE(chosen.count(), 0);
    QCOMPARE(press(Qt::Key_Left), 1010.0);
    QCOMPARE(chosen.count(), 1);
    QCOMPARE(press(Qt::Key_Left), 1010.0);  // there is none before
    QCOMPARE(press(Qt::Key_Right), 1030.0);
    QCOMPARE(press(Qt::Key_Right), 1030.0);
    QCOMPARE(press(Qt::Key_Right, Qt::ShiftModifier), 1031.0);
    QCOMPARE(press(Qt::Key_Home), 1000.0);
    QVERIFY(std::abs(press(Qt::Key_End) - 1059.9) < 1e-6);
    QVERIFY(plots.isFollowing());
    // Out of sight: the view goes along.
    plots.setRange(1040, 1045);
    press(Qt::Key_Home);
    QVERIFY(plots.range().first <= 1000 && plots.range().second >= 1000);
  }

  void picturesHoldThePlotsAndThePlayhead() {
    JobPlots plots;
    plots.resize(400, 120);
    plots.setSeries(Regular(300));
    const QSize size(960, 320);
    const QImage plain = QImage::fromData(plots.toPng(size, 2), "PNG");
    QCOMPARE(plain.size(), size * 2);
    plots.setPlayhead(1010);
    const QImage marked = QImage::fromData(plots.toPng(size, 2), "PNG");
    QVERIFY(plain != marked);
    const QByteArray svg = plots.toSvg(size);
    QSvgRenderer drawing(svg);
    QVERIFY(drawing.isValid());
    QCOMPARE(drawing.viewBox().size(), size);
    QVERIFY(svg.count("<polyline") + svg.count("<path") > 2);  // lines, not a picture of them
    QVERIFY(!svg.contains("<image"));
    QVERIFY(svg.contains("tokens/s"));
  }

  void clockTimesStandBelowWhateverWasShownBefore() {
    JobPlots plots;
    plots.resize(800, 160);
    SampleSeries series;
    for (int i = 0; i < 600; ++i) series.add(Sample(i + 1, 1'750'000'000 + i));
    plots.setSeries(series);
    const auto labels = [&] {
      const QString svg = QString::fromUtf8(plots.toSvg({800, 160}));
      static const QRegularExpression clock(QStringLiteral("aria-label=\"\\s*\\d\\d:\\d\\d"));
      return svg.count(clock);
    };
    QVERIFY(labels() >= 3);
    plots.setRange(1'700'000'000, 1'800'000'000);  // years
    plots.measureReplot();
    plots.fit();
    QVERIFY(labels() >= 3);
  }

  void aHundredThousandPointsAreDrawnFast() {
    JobPlots plots;
    plots.resize(1000, 180);
    SampleSeries series = Regular(100'000);
    plots.setSeries(series);
    plots.show();
    double best = 1;
    for (int i = 0; i < 5; ++i) best = std::min(best, plots.measureReplot());
    qInfo("replot of 2 x 100,000 points: %.1f ms", best * 1e3);
    QVERIFY2(best < 5 * 0.010, qPrintable(QString::number(best)));
    // So does a metric of as many.
    series.clear();
    for (int i = 0; i < 100'000; ++i) {
      engine::Sample sample = Sample(i + 1, 1000 + i * 0.1, 2.0 + i % 7);
      sample.metrics["accuracy"] = i % 100;
      series.add(sample);
    }
    plots.setSeries(series);
    plots.setCurves({ui::PlotCurve::ofMetric("accuracy")});
    for (int i = 0; i < 5; ++i) best = std::min(best, plots.measureReplot());
    qInfo("replot of 100,000 points of a metric: %.1f ms", best * 1e3);
    QVERIFY2(best < 5 * 0.010, qPrintable(QString::number(best)));
  }

  // Rates and times of steps go up and down from each to the next.
  void noisyValuesAreDrawnFast_data() {
    QTest::addColumn<std::vector<ui::PlotCurve>>("curves");
    QTest::newRow("loss and tokens per second") << ui::usualCurves();
    QTest::newRow("step times of eight GPUs")
        << std::vector{ui::PlotCurve{ui::PlotCurve::Kind::StepTime}};
  }
  void noisyValuesAreDrawnFast() {
    QFETCH(const std::vector<ui::PlotCurve>, curves);
    constexpr int kSamples = 1600;
    JobPlots plots;
    plots.resize(900, 300);
    plots.setCurves(curves);
    plots.show();
    SampleSeries series;
    std::vector<ui::BusySeries::Value> busy;
    for (int i = 0; i < kSamples; ++i) {
      const std::uint32_t noise = static_cast<std::uint32_t>(i) * 2'654'435'761U >> 22;  // to 1,023
      engine::Sample sample = Sample(i + 1, 1000 + i * 0.1, 2 + noise * 1e-3);
      sample.tokens_per_second += noise;
      series.add(sample);
      busy.push_back({sample.time, 0.05 + noise * 1e-5});
    }
    plots.setSeries(series);
    plots.setComputing(std::vector(8, JobPlots::Computing{{0, 1}, busy}));
    const double units = test::UnitsOf(3, [&](int) { plots.measureReplot(); });
    qInfo("%.0f units of work a frame", units);
    QVERIFY2(units < 100, qPrintable(QString::number(units)));
  }

  void theFrontHoldsWhatNothingBeats() {
    const std::vector<engine::Candidate> all{Candidate(0.3, 2), Candidate(0.2, 3),
                                             Candidate(0.4, 1), Candidate(0.35, 2.5),
                                             Candidate(0.1, 0.5, 101)};
    QCOMPARE(ui::paretoFront(all), (std::vector<int>{1, 0, 2}));
    ui::ParetoScatter scatter;
    scatter.resize(300, 150);
    scatter.setCandidates(all);
    QSignalSpy chosen(&scatter, &ui::ParetoScatter::candidateChosen);
    QTest::keyClick(&scatter, Qt::Key_Right);
    QCOMPARE(chosen.last().first().toInt(), 4);  // the fastest step
    QTest::mouseClick(&scatter, Qt::LeftButton, Qt::NoModifier, scatter.pointOf(2).toPoint());
    QCOMPARE(chosen.last().first().toInt(), 2);
  }
};

TESSERA_THEMED_TEST(PlotsTest)
#include "plots_test.moc"
