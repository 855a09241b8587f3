// SPDX-License-Identifier: Apache-2.0
// The schedule of a step on the pipeline: its input, its chart, and where it is shown.
#include <QApplication>
#include <QLabel>
#include <QTest>
#include <algorithm>
#include <cmath>

#include "engine/search/pipeline_schedule.h"
#include "tests/support/widget_test_main.h"
#include "tests/ui/panel_fixture.h"
#include "ui/format.h"
#include "ui/lessons/lesson_pane.h"
#include "ui/lessons/lesson_session.h"
#include "ui/models/draft.h"
#include "ui/models/pipeline_view.h"
#include "ui/pages/inspector.h"
#include "ui/pages/plan_panel.h"
#include "ui/picture/picture.h"
#include "ui/theme.h"
#include "ui/widgets/pipeline_box.h"
#include "ui/widgets/pipeline_chart.h"

using namespace tessera;
using engine::MakePipelineSchedule;
using engine::PipelineTimes;
using ui::PipelineChart;
using ui::PipelineInput;
using Kind = engine::PipelineBar::Kind;

namespace {

/// gpt-mini on 2 x 1 x 2 of one node. Stage 0 computes 0.24 s of a step, stage 1 0.48 s.
engine::ClusterSnapshot PipelineCluster() {
  engine::ClusterSnapshot cluster = test::IdleCluster(2, 4);
  engine::JobStatus job;
  job.name = job.model = "gpt-mini";
  job.state = engine::JobState::kRunning;
  job.mesh = test::Shape(2, 1, 2);
  job.global_batch = 16;
  job.options.micro_batch = 2;
  job.step_seconds = 1.0;
  job.epoch = 3;
  job.layout_hash = "3be2962ef29e6021";
  for (int rank = 0; rank < 4; ++rank) {
    engine::DeviceStatus& device = cluster.nodes[0].devices[static_cast<std::size_t>(rank)];
    device.job = job.name;
    device.rank = rank;
    // The ranks of a stage follow each other. The slower one of each decides.
    device.busy_seconds = rank < 2 ? 0.24 - 0.01 * rank : 0.47 + 0.01 * (rank - 2);
    job.devices.push_back(device.id);
  }
  cluster.jobs.push_back(std::move(job));
  return cluster;
}

PipelineTimes EqualStages(std::int64_t stages, std::int64_t microBatches) {
  PipelineTimes times;
  times.stages.assign(static_cast<std::size_t>(stages), {0.01, 0.02});
  times.sends.assign(static_cast<std::size_t>(stages - 1), 0);
  times.micro_batches = microBatches;
  return times;
}

/// Compares with a millionth of a second.
bool Near(double a, double b) { return std::abs(a - b) < 1e-6; }

}  // namespace

class PipelineTest : public QObject {
  Q_OBJECT

 private slots:
  void measuredTimesArePutIntoTheSchedule() {
    const auto cluster = PipelineCluster();
    const PipelineInput input = ui::pipelineOf(cluster, cluster.jobs.front());
    QVERIFY(input.source == PipelineInput::Source::Measured);
    QCOMPARE(input.computes, (std::vector<double>{0.24, 0.48}));
    const ui::PipelineView view = makePipelineView(input);
    QVERIFY(view.words.isEmpty());
    QVERIFY(view.source.startsWith(QStringLiteral("Measured:")));
    QCOMPARE(view.schedule.stages, std::int64_t{2});
    QCOMPARE(view.schedule.micro_batches, std::int64_t{4});  // 8 samples of a replica, 2 each
    double first = 0, forward = 0;
    for (const engine::PipelineBar& bar : view.schedule.bars) {
      if (bar.kind != Kind::kForward && bar.kind != Kind::kBackward) continue;
      if (bar.stage == 0) first += bar.seconds();
      if (bar.stage == 0 && bar.kind == Kind::kForward) forward += bar.seconds();
    }
    QVERIFY(Near(first, 0.24));
    QVERIFY(Near(forward, 0.08));
    QVERIFY(Near(view.schedule.seconds + view.rest, 1.0));
  }

  void withoutTimesOfTheRanksItIsModelled() {
    auto cluster = PipelineCluster();
    cluster.nodes[0].devices[2].busy_seconds = cluster.nodes[0].devices[3].busy_seconds = 0;
    PipelineInput input = ui::pipelineOf(cluster, cluster.jobs.front());
    QVERIFY(input.source == PipelineInput::Source::Simulated);
    const ui::PipelineView view = makePipelineView(input);
    QVERIFY(view.source.startsWith(QStringLiteral("Modelled")));
    QVERIFY(Near(view.schedule.seconds + view.rest, 1.0));
    // Simulated ranks report the whole step as their time.
    cluster = PipelineCluster();
    cluster.simulation = engine::SimulationStatus{"h100", 1, 1, 7};
    input = ui::pipelineOf(cluster, cluster.jobs.front());
    QVERIFY(input.source == PipelineInput::Source::Simulated);
    QVERIFY(input.computes.empty());
  }

  void whatIsNotDrawnIsSaid_data() {
    QTest::addColumn<QString>("what");
    QTest::addColumn<QString>("words");
    QTest::newRow("one stage") << "pp"
                               << "pp = 1: there is no pipeline";
    QTest::newRow("own program") << "program"
                                 << "runs its own program";
    QTest::newRow("unknown model") << "model"
                                   << "are not known";
    QTest::newRow("no batch") << "batch"
                              << "are not known";
    QTest::newRow("too many") << "many"
                              << "too many to draw";
  }
  void whatIsNotDrawnIsSaid() {
    QFETCH(QString, what);
    QFETCH(QString, words);
    auto cluster = PipelineCluster();
    engine::JobStatus& job = cluster.jobs.front();
    if (what == QLatin1String("pp")) job.mesh = test::Shape(4, 1, 1);
    if (what == QLatin1String("program")) job.command = "python train.py";
    if (what == QLatin1String("model")) job.model = "none-such";
    if (what == QLatin1String("batch")) job.global_batch = 0;
    if (what == QLatin1String("many")) {
      job.global_batch = 200'000;
      job.options.micro_batch = 1;
    }
    ui::PipelineBox box;
    box.setInput(ui::pipelineOf(cluster, job));
    QVERIFY2(box.text().contains(words), qPrintable(box.text()));
    QVERIFY(box.chart()->isHidden());
    box.setInput(ui::pipelineOf(PipelineCluster(), PipelineCluster().jobs.front()));
    QVERIFY(!box.chart()->isHidden());
    QVERIFY(box.text().startsWith(QStringLiteral("2 stages, 4 micro-batches.")));
  }

  void narrowBarsAreJoined() {
    const auto schedule = MakePipelineSchedule(EqualStages(2, 4));
    const auto apart = PipelineChart::pieces(schedule, 0);
    QCOMPARE(apart.size(), schedule.bars.size());
    const auto joined = PipelineChart::pieces(schedule, 0.055);
    QVERIFY(joined.size() < apart.size());
    double seconds = 0;
    for (std::size_t i = 0; i < joined.size(); ++i) {
      const PipelineChart::Piece& piece = joined[i];
      double all = 0;
      for (const double each : piece.seconds) all += each;
      QVERIFY(Near(all, piece.end - piece.begin));
      QVERIFY(piece.firstMicroBatch <= piece.lastMicroBatch);
      seconds += all;
      if (i > 0 && joined[i - 1].stage == piece.stage) QCOMPARE(piece.begin, joined[i - 1].end);
    }
    QVERIFY(Near(seconds, 2 * schedule.seconds));
    QVERIFY(std::ranges::any_of(joined, [](const PipelineChart::Piece& piece) {
      return piece.bars > 1 && piece.of(Kind::kForward) > 0 && piece.of(Kind::kBackward) > 0;
    }));
  }

  void thePointerTellsWhatAStageDoes() {
    PipelineChart chart;
    const auto schedule = MakePipelineSchedule(EqualStages(4, 2));
    chart.setSchedule(schedule, 0.05);
    chart.resize(300, chart.heightForWidth(300));
    const auto at = [&](std::int64_t stage, double seconds) {
      return chart.wordsAt(chart.area(stage, seconds, seconds).center());
    };
    const QString first = at(0, 0.005);
    QVERIFY2(first.startsWith(QStringLiteral("stage 0, micro-batch 0: forward 10 ms")),
             qPrintable(first));
    // The last stage waits for the first micro-batch, then computes both passes of it.
    QVERIFY(at(3, 0.02).startsWith(QStringLiteral("stage 3, micro-batch 0: waits 30 ms")));
    QVERIFY(at(3, 0.05).startsWith(QStringLiteral("stage 3, micro-batch 0: backward 20 ms")));
    QVERIFY(at(1, schedule.seconds + 0.02).contains(QStringLiteral("update")));
    QVERIFY(chart.wordsAt({150, chart.height() - 2.0}).isEmpty());  // the legend
    QVERIFY(chart.accessibleDescription().contains(
        QStringLiteral("stage 0: forward 20 ms, backward 40 ms, waits 90 ms")));
  }

  void manyMicroBatchesAreReadableAtTheWidthOfThePane() {
    PipelineChart chart;
    chart.setSchedule(MakePipelineSchedule(EqualStages(16, 512)), 0.1);
    chart.resize(300, chart.heightForWidth(300));
    QVERIFY(chart.height() < 260);
    const QString words = chart.wordsAt(chart.area(8, 8, 8).center());
    QVERIFY2(words.contains(QStringLiteral("micro-batches")), qPrintable(words));
    QVERIFY2(
        words.contains(QStringLiteral("forward")) && words.contains(QStringLiteral("backward")),
        qPrintable(words));
    const QImage image = chart.grab().toImage();
    QVERIFY(!image.isNull());
  }

  // A picture of it has vectors only, and both themes have their own colours.
  void itIsPaintedInEveryTheme() {
    PipelineChart chart;
    chart.setSchedule(MakePipelineSchedule(EqualStages(4, 8)), 0.05);
    chart.resize(300, chart.heightForWidth(300));
    const QByteArray svg = ui::svgOf(
        ui::pictureOf(QStringLiteral("Pipeline"), QStringLiteral("pipeline"), &chart), 600);
    QVERIFY(!svg.contains("<image"));
    QVERIFY(svg.count("<rect") + svg.count("<path") > 60);
    const auto forward = chart.area(0, 0, 0.004).center().toPoint();
    QCOMPARE(chart.grab().toImage().pixelColor(forward).rgb(), ui::Theme::light().accent.rgb());
    ui::applyTheme(*qApp, ui::ThemeMode::Dark);
    const QColor dark = chart.grab().toImage().pixelColor(forward);
    ui::applyTheme(*qApp, ui::ThemeMode::Light);
    QCOMPARE(dark.rgb(), ui::Theme::dark().accent.rgb());
  }

  void theInspectorHasThatOfTheJob() {
    ui::ClusterModel model;
    ui::Inspector inspector(model);
    model.setSnapshot(PipelineCluster());
    inspector.setSelection({});
    QVERIFY(!inspector.pipeline()->isHidden());
    QVERIFY(!inspector.pipeline()->chart()->isHidden());
    QCOMPARE(inspector.pipeline()->chart()->schedule().stages, std::int64_t{2});
    auto faster = PipelineCluster();
    faster.sequence = 2;
    for (auto& device : faster.nodes[0].devices) device.busy_seconds /= 2;
    const double before = inspector.pipeline()->chart()->schedule().seconds;
    model.setSnapshot(faster);
    inspector.refresh(model, false);
    QVERIFY(inspector.pipeline()->chart()->schedule().seconds < before);
    inspector.refresh(model, true);  // of the past the times are not known
    QVERIFY(inspector.pipeline()->isHidden());
  }

  void aDraftIsModelled() {
    auto cluster = PipelineCluster();
    engine::PlanSummary plan;
    plan.to_mesh = test::Shape(1, 1, 4);
    plan.to_devices = cluster.jobs.front().devices;
    plan.to_options.micro_batch = 4;
    plan.to_step_seconds = 0.5;
    plan.global_batch = 16;
    const PipelineInput input = ui::pipelineOf(cluster, cluster.jobs.front(), plan);
    const ui::PipelineView view = makePipelineView(input);
    QVERIFY2(view.words.isEmpty(), qPrintable(view.words));
    QCOMPARE(view.schedule.stages, std::int64_t{4});
    QCOMPARE(view.schedule.micro_batches, std::int64_t{4});
    QVERIFY(Near(view.schedule.seconds + view.rest, 0.5));
    QVERIFY(view.source.contains(QStringLiteral("nothing is measured")));
    // On other hosts the messages cost more.
    auto far = plan;
    far.to_devices = {{0, 0}, {1, 0}, {0, 1}, {1, 1}};
    cluster.one_host = false;
    QVERIFY(ui::pipelineOf(cluster, cluster.jobs.front(), far).hosts ==
            (std::vector<std::int32_t>{0, 1, 0, 1}));
  }

  void aPlanWithAPipelineShowsIt() {
    test::Panel panel;
    panel.commands.adjustPlan = [](engine::PlanSummary plan) -> Result<engine::PlanSummary> {
      plan.to_mesh = test::Shape(2, 2, 2);
      return plan;
    };
    panel.window->draft()->add({{1, 0}, {1, 1}, {1, 2}, {1, 3}});
    QVERIFY(panel.waitForPlan());
    const auto* plan = panel.window->findChild<ui::PlanPanel*>();
    QVERIFY(!plan->pipeline()->isHidden());
    panel.commands.adjustPlan = {};
    panel.window->draft()->clear();
    panel.window->draft()->add({{1, 0}, {1, 1}, {1, 2}, {1, 3}});
    QVERIFY(panel.waitForPlan());
    QVERIFY(plan->pipeline()->isHidden());  // no pipeline before and after
  }

  // The picture of a lesson is that of the formula in its text.
  void theLessonShowsTheBubbleOfItsText() {
    test::Panel panel;
    QVERIFY(panel.window->openLesson(QStringLiteral("micro-batches")));
    test::settle();
    const ui::LessonPane* pane = panel.window->lessonPane();
    ui::LessonSession& session = panel.window->lessons();
    const auto idle = [&] { return IdleShare(pane->pipeline()->chart()->schedule()); };
    QVERIFY(!pane->pipeline()->isHidden());
    QVERIFY(Near(idle(), 3.0 / 4));  // one micro-batch on four stages
    session.showStep(1);
    QVERIFY(
        Near(idle(), 3.0 / 4));  // the question is about four, and is not answered by the picture
    session.showStep(2);
    QVERIFY(Near(idle(), 3.0 / 19));  // 16 micro-batches
    session.showStep(4);
    session.draft().pin(ptc::Axis::kPp, 1);
    QVERIFY(pane->pipeline()->chart()->isHidden());
    QVERIFY(pane->pipeline()->text().contains(QStringLiteral("there is no pipeline")));
    QVERIFY(panel.window->openLesson(QStringLiteral("shards")));
    QVERIFY(pane->pipeline()->isHidden());
  }
};

TESSERA_THEMED_TEST(PipelineTest)
#include "pipeline_test.moc"
