// SPDX-License-Identifier: Apache-2.0
/// \file
/// The parts of ui/window/ by themselves, each with the models it needs and no window around it.
#include <QAccessible>
#include <QAction>
#include <QComboBox>
#include <QDateTime>
#include <QDockWidget>
#include <QLineEdit>
#include <QMainWindow>
#include <QPushButton>
#include <QScopeGuard>
#include <QSignalSpy>
#include <QTest>
#include <algorithm>
#include <utility>

#include "engine/model/job_layout.h"
#include "tests/support/widget_test_main.h"
#include "tests/ui/fake_connections.h"
#include "tests/ui/panel_fixture.h"
#include "tests/ui/panel_states.h"
#include "ui/actions/action_registry.h"
#include "ui/canvas/mesh_view.h"
#include "ui/dialogs/simulate_dialog.h"
#include "ui/lessons/lesson_pane.h"
#include "ui/lessons/lesson_records.h"
#include "ui/lessons/lesson_session.h"
#include "ui/models/draft.h"
#include "ui/models/draft_plan.h"
#include "ui/models/draft_proposal.h"
#include "ui/models/event_table_model.h"
#include "ui/models/history_table_model.h"
#include "ui/models/job_states.h"
#include "ui/models/move_control.h"
#include "ui/models/operator_seat.h"
#include "ui/models/sample_history.h"
#include "ui/models/txn_view.h"
#include "ui/pages/apply_sheet.h"
#include "ui/pages/change_details.h"
#include "ui/pages/compare_page.h"
#include "ui/pages/events_page.h"
#include "ui/pages/history_page.h"
#include "ui/pages/inspector.h"
#include "ui/pages/notice_bar.h"
#include "ui/pages/plan_memory.h"
#include "ui/pages/plan_panel.h"
#include "ui/pages/state_page.h"
#include "ui/pages/timeline_page.h"
#include "ui/palette/window_items.h"
#include "ui/plots/job_plots.h"
#include "ui/settings/settings.h"
#include "ui/views/colour_bar.h"
#include "ui/views/mesh_page.h"
#include "ui/views/mesh_pair.h"
#include "ui/views/selection_model.h"
#include "ui/widgets/alert_surface.h"
#include "ui/widgets/legend.h"
#include "ui/widgets/stacked_bar.h"
#include "ui/widgets/tabbed_pane.h"
#include "ui/window/centre_pane.h"
#include "ui/window/change_reports.h"
#include "ui/window/cluster_chooser.h"
#include "ui/window/cluster_state.h"
#include "ui/window/desktop_notices.h"
#include "ui/window/dock_sizes.h"
#include "ui/window/draft_desk.h"
#include "ui/window/moment_desk.h"
#include "ui/window/notices.h"
#include "ui/window/pane_focus.h"
#include "ui/window/presenter.h"
#include "ui/window/records_pane.h"
#include "ui/window/side_pane.h"
#include "ui/window/status_line.h"

using namespace tessera;
using ui::LayoutSource;
using ui::Notice;
using Mark = ui::MeshScene::Cell::Mark;

namespace {

constexpr double kNoon = 1'750'000'000;  // of PanelHistory

/// The models of a panel that shows PanelCluster, with its history and samples.
struct Models {
  explicit Models(engine::ClusterSnapshot cluster = test::PanelCluster())
      : commands(model),
        draft(model),
        plan(draft, model, commands),
        control(model, draft, plan, commands),
        seat(model, control, commands),
        states(model, commands),
        samples(model, commands),
        lessons(records) {
    commands.recorded = test::PanelSamples();
    model.setLink(ui::LinkState::Connected, QStringLiteral("tcp://127.0.0.1:40001"));
    show(std::move(cluster));
    changes.setEntries(test::PanelHistory());
  }
  void show(engine::ClusterSnapshot cluster) {
    model.setSnapshot(std::move(cluster));
    model.flush();
  }
  bool hasSamples() {
    return QTest::qWaitFor([this] { return !samples.series().points().empty(); }, 3000);
  }
  const engine::HistoryEntry* change(std::int64_t txn) const {
    return changes.entry(changes.rowOf(txn));
  }
  std::function<void(const QString&)> notes(QStringList* list) const {
    return [list](const QString& text) { *list << text; };
  }

  ui::ClusterModel model;
  test::SpyCommands commands;
  ui::Draft draft;
  ui::DraftPlan plan;
  ui::MoveControl control;
  ui::OperatorSeat seat;
  ui::JobStates states;
  ui::SampleHistory samples;
  ui::HistoryTableModel changes;
  ui::LessonRecords records;
  ui::LessonSession lessons;
};

struct Presented : Models {
  using Models::Models;
  ui::Presenter presenter{{.model = model,
                           .draft = draft,
                           .plan = plan,
                           .states = states,
                           .lessons = lessons,
                           .samples = samples,
                           .changes = changes,
                           .chosen = [this] { return two ? two->first : nullptr; },
                           .compared = [this] { return two; },
                           .playhead = [this] { return playhead; }}};
  std::optional<ui::Presenter::TwoChanges> two;
  std::optional<double> playhead;
};

std::vector<ptc::DeviceId> marked(const ui::MeshScene& scene, Mark mark) {
  std::vector<ptc::DeviceId> found;
  for (const auto& node : scene.nodes) {
    for (const auto& cell : node.cells) {
      if (cell.mark == mark) found.push_back(cell.id);
    }
  }
  return found;
}

struct Noticed : Models {
  using Models::Models;
  QWidget parent;
  ui::Notices notices{
      {.model = model,
       .control = control,
       .seat = seat,
       .commandLine = [](const QStringList& words) { return words.join(QLatin1Char(' ')); }},
      &parent};
  /// The text of a bar; empty while it is hidden.
  QString text(Notice which) const {
    return notices.bar(which)->isHidden() ? QString() : notices.bar(which)->text();
  }
};

}  // namespace

class WindowPartsTest : public QObject {
  Q_OBJECT

 private slots:
  void thePresenterStartsWithTheLatestChange() {
    Presented shown;
    QVERIFY(shown.hasSamples());
    ui::Presenter& presenter = shown.presenter;
    QVERIFY(presenter.isLive() && presenter.pastBlockedReason().isEmpty());
    const double newest = shown.samples.series().points().back().time;
    QCOMPARE(presenter.usualMoment(), std::optional(newest));
    presenter.indexChanges();
    QCOMPARE(presenter.usualMoment(), std::optional(shown.changes.entries().front().started));
    shown.playhead = kNoon + 100;
    QCOMPARE(presenter.usualMoment(), shown.playhead);
    auto idle = test::IdleCluster(2, 4);
    shown.show(idle);
    QCOMPARE(presenter.pastBlockedReason(), QStringLiteral("There is no job."));
  }

  // With names, as swatches between the first and the last one, and with the number of the others.
  void aNarrowLegendShrinksToSwatches() {
    std::vector<ui::MeshScene::LegendEntry> entries;
    for (int i = 0; i < 33; ++i) entries.push_back({i, QStringLiteral("pp %1").arg(i)});
    ui::Legend legend;
    legend.setEntries(entries);
    legend.resize(4000, 20);
    QVERIFY(legend.hasNames());
    for (const int width : {600, 300, legend.minimumSizeHint().width()}) {
      legend.resize(width, 20);
      QVERIFY(!legend.hasNames());
      QRect before;
      int drawn = 0;
      for (int i = 0; i < 33; ++i) {
        const QRect area = legend.entryRect(i);
        if (area.isNull()) break;
        ++drawn;
        QVERIFY(legend.rect().contains(area) && area.width() >= 6);
        QVERIFY(before.isNull() || before.right() < area.left());
        before = area;
      }
      QVERIFY2(drawn >= 25, qPrintable(QString::number(drawn)));
      if (width >= 300) QCOMPARE(drawn, 33);
    }
    // Each swatch can be isolated.
    legend.resize(300, 20);
    QSignalSpy isolated(&legend, &ui::Legend::isolateRequested);
    QTest::mouseClick(&legend, Qt::LeftButton, {}, legend.entryRect(20).center());
    QCOMPARE(isolated.size(), 1);
    QCOMPARE(isolated[0][0].value<std::optional<int>>(), std::optional(20));
  }

  void theLegendOfABarIsNeverCutOff() {
    ui::StackedBar bar;
    bar.resize(220, 40);
    const std::int64_t tebi = std::int64_t{1} << 40U;
    bar.setSegments({{QStringLiteral("stay"), 1033 * tebi, ui::StackedBar::Tone::Stay},
                     {QStringLiteral("in node"), 1011 * tebi, ui::StackedBar::Tone::Inside},
                     {QStringLiteral("network"), 1022 * tebi, ui::StackedBar::Tone::Network}});
    bar.resize(220, 40);
    QVERIFY(bar.heightForWidth(220) > bar.heightForWidth(2000));
    QCOMPARE(bar.height(), bar.heightForWidth(220));
  }

  void aMomentIsShownUntilTheSourceChanges() {
    Presented shown;
    QVERIFY(shown.hasSamples());
    ui::Presenter& presenter = shown.presenter;
    presenter.indexChanges();
    QVERIFY(!presenter.chooseMoment(kNoon - 100'000));
    QVERIFY(!presenter.moment());
    QVERIFY(presenter.chooseMoment(kNoon + 200));
    QVERIFY(!presenter.isPast());  // not the source yet
    QCOMPARE(&presenter.shownModel(), &shown.model);
    presenter.setSource(LayoutSource::Past);
    const ui::ShownLayout layout = presenter.layout({});
    QCOMPARE(layout.source, LayoutSource::Past);
    QCOMPARE(layout.time, std::optional(kNoon + 200));
    QCOMPARE(layout.cluster, presenter.moment()->cluster);
    QVERIFY(layout.live != layout.scene);
    QCOMPARE(&presenter.shownModel(), &presenter.pastModel());
    QVERIFY(layout.change != nullptr);
    presenter.setSource(LayoutSource::Live);
    QVERIFY(!presenter.moment());
    const ui::ShownLayout live = presenter.layout({});
    QCOMPARE(live.scene, live.live);
    QCOMPARE(live.cluster, shown.model.shared());
  }

  void pinnedMomentsAreComparedWithTheShown() {
    Presented shown;
    QVERIFY(shown.hasSamples());
    ui::Presenter& presenter = shown.presenter;
    presenter.indexChanges();
    QVERIFY(!presenter.compareBlockedReason().isEmpty());
    presenter.setPinned(true);
    QVERIFY(!presenter.pinned());  // nothing of the past is shown
    QVERIFY(presenter.chooseMoment(kNoon + 200));
    presenter.setSource(LayoutSource::Past);
    presenter.setPinned(true);
    QVERIFY(presenter.pinned() && presenter.compareBlockedReason().isEmpty());
    QVERIFY(presenter.chooseMoment(kNoon + 280));
    const std::vector<ptc::DeviceId> joined{{0, 2}, {0, 3}};
    QCOMPARE(presenter.comparedMoments()->joined, joined);
    ui::ShownLayout layout = presenter.layout({});
    QCOMPARE(marked(*layout.scene, Mark::Joined), joined);
    // The pinned moment is beside it, without marks, and has the same frames.
    QVERIFY(layout.other && layout.other->isEarlier);
    QVERIFY(marked(*layout.other->scene, Mark::Joined).empty());
    QVERIFY(layout.other->title.startsWith(QLatin1Char('A')));
    QVERIFY(layout.other->shownTitle.startsWith(QLatin1Char('B')));
    QVERIFY(!layout.other->scene->find(joined.front())->inMesh);
    QCOMPARE(layout.other->scene->groups.front().cells, layout.scene->groups.front().cells);
    // An earlier moment is A; the marks stay at the later one.
    QVERIFY(presenter.chooseMoment(kNoon + 150));
    layout = presenter.layout({});
    QVERIFY(layout.other && !layout.other->isEarlier);
    QVERIFY(layout.other->shownTitle.startsWith(QLatin1Char('A')));
    const std::size_t numJoined = presenter.comparedMoments()->joined.size();
    QCOMPARE(marked(*layout.other->scene, Mark::Joined).size(), numJoined);
    QVERIFY(presenter.chooseMoment(kNoon + 280));
    // Two changes of the history take precedence.
    shown.two = {shown.change(3), shown.change(2)};
    QVERIFY(!presenter.comparedMoments());
    shown.two.reset();
    presenter.setSource(LayoutSource::Draft);
    QVERIFY(!presenter.comparedMoments());
    QVERIFY(!presenter.layout({}).other);
    presenter.forgetCluster();
    QVERIFY(!presenter.pinned());
  }

  void twoChangesAreComparedOncePerSnapshot() {
    Presented shown;
    ui::Presenter& presenter = shown.presenter;
    QVERIFY(presenter.comparedChanges() == nullptr);
    shown.two = {shown.change(3), shown.change(2)};
    const ui::ComparedChanges* compared = presenter.comparedChanges();
    QVERIFY(compared != nullptr);
    QCOMPARE(compared->diff.b.entry.id, std::int64_t{3});
    const auto cluster = compared->cluster;
    const ui::ShownLayout layout = presenter.layout({});
    QCOMPARE(layout.source, LayoutSource::Past);
    QCOMPARE(layout.cluster, cluster);  // not made again
    QCOMPARE(marked(*layout.scene, Mark::Joined), compared->diff.joined);
    QVERIFY(layout.other && layout.other->isEarlier);
    QVERIFY(marked(*layout.other->scene, Mark::Joined).empty());
    // In the other order it is the same comparison.
    std::swap(shown.two->first, shown.two->second);
    QCOMPARE(presenter.comparedChanges()->cluster, cluster);
    // With another snapshot, another content of a change or another pair it is a new one.
    shown.show(test::PanelCluster());
    const auto second = presenter.comparedChanges()->cluster;
    QVERIFY(second != cluster);
    auto entries = test::PanelHistory();
    for (engine::HistoryEntry& entry : entries) entry.pause += 1;
    shown.changes.setEntries(entries);
    shown.two = {shown.change(3), shown.change(2)};
    QVERIFY(presenter.comparedChanges()->cluster != second);
    QCOMPARE(presenter.comparedChanges()->diff.b.entry, *shown.change(3));
    shown.two = {shown.change(3), shown.change(1)};
    QCOMPARE(presenter.comparedChanges()->diff.a.entry.id, std::int64_t{1});
    // A transaction is watched in Live.
    shown.show(test::PanelMove(engine::TxnPhase::kTransferring, {1, 2, 3, 4}));
    QVERIFY(presenter.comparedChanges() == nullptr);
    QCOMPARE(presenter.layout({}).source, LayoutSource::Live);
  }

  void draftsAndLessonsHaveTheirOwnLayouts() {
    Presented shown;
    ui::Presenter& presenter = shown.presenter;
    shown.draft.add({{1, 0}});
    presenter.setSource(LayoutSource::Draft);
    ui::ShownLayout layout = presenter.layout({.colouring = ui::ColourBy::Host});
    QCOMPARE(layout.source, LayoutSource::Draft);
    QVERIFY(layout.scene->find({1, 0})->inMesh && !layout.live->find({1, 0})->inMesh);
    QVERIFY(shown.lessons.open(QStringLiteral("replicas")));
    presenter.setSource(LayoutSource::Lesson);
    layout = presenter.layout({});
    QCOMPARE(layout.source, LayoutSource::Lesson);
    QCOMPARE(layout.cluster, shown.lessons.model().shared());
    QCOMPARE(&presenter.shownModel(), &shown.lessons.model());
  }

  // A panel follows some ticks per second, and each of these signals refreshes half a window.
  void aTickThatBlocksNothingElseIsNotTold() {
    Models shown;
    QSignalSpy told(&shown.control, &ui::MoveControl::changed);
    engine::ClusterSnapshot cluster = test::PanelCluster();
    for (int tick = 0; tick < 5; ++tick) {
      ++cluster.sequence;
      ++cluster.jobs.front().step;
      shown.show(cluster);
    }
    QCOMPARE(told.count(), 0);
    shown.show(test::PanelMove(engine::TxnPhase::kTransferring, {1, 2, 3, 4}));
    const auto blocked = told.count();  // no draft can be made now
    QVERIFY(blocked > 0);
    shown.model.setRecordProblem(QStringLiteral("no space"));
    shown.model.flush();
    QVERIFY(told.count() > blocked);
  }

  void theReasonNamesAFewGpusAndCountsTheOthers_data() {
    QTest::addColumn<int>("gpus");
    QTest::addColumn<QString>("begin");
    QTest::addColumn<QString>("end");
    QTest::newRow("one") << 1 << QStringLiteral("Not enough memory: n0g0 would hold ")
                         << QStringLiteral("B.");
    QTest::newRow("three") << 3 << QStringLiteral("Not enough memory: n0g0 would hold ")
                           << QStringLiteral("B.");
    QTest::newRow("4,096") << 4096
                           << QStringLiteral("Not enough memory on 4,096 GPUs: n0g0 would hold ")
                           << QStringLiteral(", and 4,093 more.");
  }
  void theReasonNamesAFewGpusAndCountsTheOthers() {
    QFETCH(int, gpus);
    QFETCH(QString, begin);
    QFETCH(QString, end);
    Models shown;
    shown.commands.adjustPlan = [gpus](engine::PlanSummary plan) -> Result<engine::PlanSummary> {
      plan.peak_memory.clear();
      for (int i = 0; i < gpus; ++i)
        plan.peak_memory.push_back({{i / 8, i % 8}, 600LL << 20, 512LL << 20});
      return plan;
    };
    shown.control.setOperating(true);
    shown.draft.add({{1, 0}, {1, 1}, {1, 2}, {1, 3}});
    QTRY_COMPARE(shown.plan.state(), ui::DraftPlan::State::Ready);
    QCOMPARE(shown.plan.overflows().size(), static_cast<std::size_t>(gpus));
    const QString reason = shown.control.applyBlockedReason();
    QVERIFY2(reason.startsWith(begin) && reason.endsWith(end), qPrintable(reason));
    QCOMPARE(reason.count(QStringLiteral("would hold")), std::min(gpus, 3));
    QVERIFY2(reason.size() < 300, qPrintable(QString::number(reason.size())));
  }

  void aPlanShowsTheMemoryBeforeAndAfter_data() {
    QTest::addColumn<bool>("known");
    QTest::newRow("layouts are known") << true;
    QTest::newRow("layouts are not known") << false;
  }
  void aPlanShowsTheMemoryBeforeAndAfter() {
    QFETCH(bool, known);
    using Memory = ui::PlanMemory;
    Models shown;
    if (known) shown.commands.jobStates = test::StatesOf(shown.model.snapshot());
    Memory memory(shown.model, shown.plan, &shown.states);
    QVERIFY(memory.isHidden());  // there is no plan
    shown.commands.adjustPlan = [](engine::PlanSummary plan) -> Result<engine::PlanSummary> {
      plan.to_options.zero = true;
      plan.peak_memory.at(5).bytes = std::int64_t{400} << 20;  // of 512 MiB
      return plan;
    };
    shown.draft.add({{1, 0}, {1, 1}, {1, 2}, {1, 3}});
    QTRY_COMPARE(shown.plan.state(), ui::DraftPlan::State::Ready);
    QVERIFY(!memory.isHidden());
    QCOMPARE(memory.title(), QStringLiteral("Memory of n1g1, the fullest during the move"));
    QTRY_COMPARE(shown.commands.stateCalls, 1);
    QTRY_VERIFY(shown.states.isKnown());
    QCOMPARE(memory.bar(Memory::During)->segments().front().bytes, std::int64_t{400} << 20);
    QVERIFY(!memory.bar(Memory::Now)->isHidden());
    QCOMPARE(memory.bar(Memory::Now)->segments().size(), std::size_t{1});  // an idle GPU
    QCOMPARE(memory.bar(Memory::After)->isHidden(), !known);
    if (known) {
      engine::JobSettings settings;
      settings.model = *engine::FindModel("gpt-mini");
      const engine::PlanSummary& plan = *shown.plan.summary();
      const auto layout =
          *engine::MakeLayout(*engine::TensorsOf(settings, true),
                              *ptc::DeviceMesh::Make(plan.to_mesh, plan.to_devices));
      const auto held = engine::HoldingOf(layout, *layout.mesh().RankOf({1, 1}));
      const auto after = memory.bar(Memory::After)->segments();
      QCOMPARE(after.at(0).bytes, held.parameter_bytes);
      QCOMPARE(after.at(1).bytes, held.gradient_bytes);
      QCOMPARE(after.at(2).name, QStringLiteral("optimizer"));
      QCOMPARE(after.at(2).bytes, held.optimizer_bytes);
      QCOMPARE(after.back().bytes, (std::int64_t{512} << 20) - held.bytes());
    }
    shown.draft.clear();
    QVERIFY(memory.isHidden());
  }

  void noticesTellOfLinkAndJob() {
    Noticed shown;
    shown.notices.refresh({});
    for (const ui::NoticeBar* bar : shown.notices.bars()) QVERIFY(bar->isHidden());
    shown.notices.refresh({.starting = QStringLiteral("1 of 2 agents started")});
    QVERIFY(shown.text(Notice::Link).endsWith(QStringLiteral("1 of 2 agents started")));
    shown.model.setLink(ui::LinkState::Lost, QStringLiteral("timed out"));
    shown.notices.refresh({});
    QVERIFY(shown.text(Notice::Link).startsWith(QStringLiteral("Connection lost.")));
    QVERIFY(shown.text(Notice::Job).isEmpty());
    shown.model.setLink(ui::LinkState::Connected, {});
    auto failed = test::PanelCluster();
    failed.jobs.front().state = engine::JobState::kFailed;
    shown.show(failed);
    shown.notices.refresh({});
    QCOMPARE(shown.text(Notice::Job),
             QStringLiteral("gpt-mini failed: the cluster gave no reason"));
    QVERIFY(shown.text(Notice::Link).isEmpty());
    // Of the present only.
    shown.notices.refresh({.source = LayoutSource::Lesson, .lesson = QStringLiteral("Replicas")});
    QVERIFY(shown.text(Notice::Job).isEmpty());
    QVERIFY(shown.text(Notice::Lesson).contains(QStringLiteral("“Replicas”")));
    shown.model.setRecordProblem(QStringLiteral("no space"));
    shown.notices.refresh({});
    QVERIFY(shown.text(Notice::Record).contains(QStringLiteral("no space")));
    QVERIFY(shown.text(Notice::Lesson).isEmpty());
  }

  void noticesTellWhichSourceIsShown() {
    Noticed shown;
    shown.notices.refresh({.source = LayoutSource::Draft});
    QVERIFY(shown.text(Notice::Draft).startsWith(QStringLiteral("Draft:")));
    shown.notices.refresh({.source = LayoutSource::Draft, .countsDown = true});
    QVERIFY(shown.text(Notice::Draft).isEmpty());  // the countdown says it
    shown.notices.refresh(
        {.source = LayoutSource::Past, .moment = ui::NoticeFacts::Moment{kNoon, 1234}});
    QVERIFY(shown.text(Notice::Past).contains(QStringLiteral("step 1,234")));
    ui::ChangeDiff diff;
    diff.a.entry.id = 2;
    diff.b.entry.id = 3;
    diff.joined = {{0, 1}};
    shown.notices.refresh({.compared = &diff});
    QCOMPARE(shown.text(Notice::Past),
             QStringLiteral("After change #3, against #2: 1 GPU joined, 0 left, 0 hold another "
                            "shard."));
    shown.notices.showError(QStringLiteral("It failed."));
    shown.notices.refresh({});
    QCOMPARE(shown.text(Notice::Error), QStringLiteral("It failed."));
    shown.notices.bar(Notice::Error)->actionButton()->click();
    QVERIFY(shown.text(Notice::Error).isEmpty());
  }

  // With each tick the bar is told the same again.
  void aNoticeThatStaysKeepsTheFocus() {
    Noticed shown;
    QLineEdit work(&shown.parent);
    shown.parent.show();
    QVERIFY(QTest::qWaitForWindowActive(&shown.parent));
    work.setFocus();
    auto failed = test::PanelCluster();
    failed.jobs.front().state = engine::JobState::kFailed;
    shown.show(failed);
    shown.model.setLink(ui::LinkState::Lost, QStringLiteral("timed out"));
    shown.notices.refresh({});
    QVERIFY(work.hasFocus());  // what appears takes nothing
    QPushButton* retry = shown.notices.bar(Notice::Link)->actionButton();
    QTest::mouseClick(retry, Qt::LeftButton);
    QVERIFY(work.hasFocus());
    retry->setFocus(Qt::TabFocusReason);
    QVERIFY(retry->hasFocus());
    for (int tick = 0; tick < 3; ++tick) {
      shown.show(failed);
      shown.notices.refresh({});
      QVERIFY(retry->hasFocus());
    }
    // It goes back when the bar is gone.
    shown.model.setLink(ui::LinkState::Connected, {});
    shown.notices.refresh({});
    QVERIFY(shown.text(Notice::Link).isEmpty());
    QVERIFY(work.hasFocus());
  }

  void noticesAreAnnouncedOnce() {
    QList<QObject*> alerts;
    const auto before =
        std::exchange(ui::alertSender(), [&](QWidget* widget) { alerts << widget; });
    const auto restore = qScopeGuard([&] { ui::alertSender() = before; });
    ui::NoticeBar bar;
    using Tone = ui::Surface::Tone;
    bar.say(Tone::Problem, QStringLiteral("Connection lost. The data shown is from 9 s ago."));
    QCOMPARE(alerts, QList<QObject*>{&bar});
    QCOMPARE(bar.accessibleName(), bar.text());
    QAccessibleInterface* const seen = QAccessible::queryAccessibleInterface(&bar);
    QCOMPARE(seen->role(), QAccessible::AlertMessage);
    for (int age = 10; age < 13; ++age)
      bar.say(Tone::Problem,
              QStringLiteral("Connection lost. The data shown is from %1 s ago.").arg(age));
    QCOMPARE(alerts.size(), 1);
    QCOMPARE(bar.accessibleName(), bar.text());
    bar.say(Tone::Problem, QStringLiteral("gpt-mini failed: out of memory"));
    QCOMPARE(alerts.size(), 2);
    bar.sayOrHide(std::nullopt);
    QVERIFY(bar.isHidden());
    QCOMPARE(alerts.size(), 2);
    bar.sayOrHide(ui::NoticeWords{Tone::Problem, QStringLiteral("gpt-mini failed: out of memory")});
    QCOMPARE(alerts.size(), 3);
  }

  void theStatePageTellsWhyThereIsNoCluster() {
    ui::ClusterModel model;
    ui::StatePage page;
    ui::showClusterState(&page, model, {.canConnect = true});
    QVERIFY(!page.connectButton()->isHidden());
    ui::showClusterState(&page, model, {});
    QVERIFY(page.connectButton()->isHidden());
    ui::showClusterState(&page, model,
                         {.starting = QStringLiteral("Creating its keys"), .canConnect = true});
    QVERIFY(page.title().contains(QStringLiteral("Starting")));
    model.setLink(ui::LinkState::Refused, QStringLiteral("unknown key"));
    ui::showClusterState(&page, model, {.canConnect = true});
    QCOMPARE(page.title(), QStringLiteral("The cluster refused the connection"));
    model.setSnapshot(test::PanelCluster());
    model.setLink(ui::LinkState::Lost, {});
    // The cluster is shown: nothing changes.
    ui::showClusterState(&page, model, {.canConnect = true});
    QCOMPARE(page.title(), QStringLiteral("The cluster refused the connection"));
  }

  // A stop on purpose is no lost connection, and offers what can be done.
  void theStatePageTellsWhoHasStoppedTheCluster() {
    ui::ClusterModel model;
    model.setSnapshot(test::PanelCluster());
    const double now = static_cast<double>(QDateTime::currentSecsSinceEpoch());
    model.setStopped({now, QStringLiteral("lena: tesseractl, lena@lab3")});
    ui::StatePage page;
    ui::StoppedCluster known{QStringLiteral("local"), true, QStringLiteral("/c/history.db")};
    ui::showClusterState(&page, model, {.canConnect = true, .stopped = &known});
    QCOMPARE(page.title(), QStringLiteral("local was stopped at %1")
                               .arg(QDateTime::fromSecsSinceEpoch(static_cast<qint64>(now))
                                        .toString(QStringLiteral("HH:mm"))));
    QVERIFY(page.detail().startsWith(QStringLiteral("By tesseractl, lena@lab3 (key lena). ")));
    QVERIFY(!page.startAgainButton()->isHidden() && !page.historyButton()->isHidden());
    QVERIFY(!page.connectButton()->isHidden());

    // One of other machines, of which the panel has no copy. Who has stopped it is not known.
    model.setStopped({now, {}});
    known = {QStringLiteral("lab"), false, {}};
    ui::showClusterState(&page, model, {.canConnect = true, .stopped = &known});
    QVERIFY(page.title().startsWith(QStringLiteral("lab was stopped at ")));
    QVERIFY(page.detail().startsWith(QStringLiteral("Its jobs have ended")));
    QVERIFY(page.detail().contains(QStringLiteral("`tesseractl up`")));
    QVERIFY(page.startAgainButton()->isHidden() && page.historyButton()->isHidden());

    // It is started again.
    ui::showClusterState(&page, model, {.starting = QString(), .stopped = &known});
    QVERIFY(page.title().contains(QStringLiteral("Starting")));
  }

  void theStatusLineHasLinkAndChange() {
    Models shown;
    using ui::StatusLine;
    using Tone = ui::StateDot::Tone;
    const auto words = [&] {
      return StatusLine::words({.model = shown.model, .draft = shown.draft});
    };
    QCOMPARE(words().left, QStringLiteral("2 of 2 agents"));
    QCOMPARE(words().right, QStringLiteral("no change in progress"));
    QCOMPARE(words().tone, Tone::Good);
    shown.draft.add({{1, 0}});
    QCOMPARE(words().right, QStringLiteral("draft: 1 added, 0 removed · Ctrl+Z undoes"));
    auto lost = test::PanelCluster();
    lost.nodes[1].state = engine::NodeState::kDead;
    shown.show(lost);
    QCOMPARE(words().left, QStringLiteral("1 of 2 agents"));
    QCOMPARE(words().tone, Tone::Warning);
    shown.show(test::PanelMove(engine::TxnPhase::kTransferring, {50, 50, 50, 50}));
    const auto moving =
        StatusLine::words({.model = shown.model, .draft = shown.draft, .moved = 0.5, .lesson = {}});
    QVERIFY(moving.right.startsWith(QStringLiteral("moving 50")));
    const auto lesson =
        StatusLine::words({.model = shown.model,
                           .draft = shown.draft,
                           .lesson = ui::StatusFacts::Lesson{
                               .nodes = 2, .step = 1, .steps = 5, .finished = 3, .lessons = 10}});
    QCOMPARE(lesson.left, QStringLiteral("simulated · 2 nodes"));
    QCOMPARE(lesson.right, QStringLiteral("step 2 of 5 · 3 of 10 lessons finished"));
    QCOMPARE(lesson.tone, Tone::Quiet);
    shown.model.setLink(ui::LinkState::Lost, {});
    QCOMPARE(words().left, QStringLiteral("connection lost"));
    QCOMPARE(words().tone, Tone::Bad);
  }

  void aDecisionIsToldOncePerLoss() {
    QWidget window;
    ui::Settings settings;
    std::vector<ui::DesktopNotice> told;
    ui::DesktopNotices notices(&window, settings, [&](QWidget*, const ui::DesktopNotice& notice) {
      told.push_back(notice);
    });
    settings.set(ui::Setting::Notify, true);
    const auto lost = test::PanelLost();
    engine::JobStatus job = lost.jobs.front();
    QVERIFY(job.decision && !job.decision->chosen);
    notices.followJob(&job);
    notices.followJob(&job);
    QCOMPARE(told.size(), std::size_t{1});
    QVERIFY(told[0].isUrgent && told[0].title.contains(QStringLiteral("gpt-mini")));
    notices.followJob(nullptr);
    notices.followJob(&job);  // a new loss
    QCOMPARE(told.size(), std::size_t{2});
    ui::TxnView outcome;
    outcome.headline = QStringLiteral("Done");
    outcome.tone = ui::TxnView::Tone::Good;
    notices.tellOutcome(outcome);
    QCOMPARE(told.back(), (ui::DesktopNotice{QStringLiteral("Done"), {}, false}));
    settings.set(ui::Setting::Notify, false);
    notices.tellOutcome(outcome);
    QCOMPARE(told.size(), std::size_t{3});
  }

  void theReportIsOfTheChosenOrTheLatestChange() {
    Models shown;
    shown.commands.entries = test::PanelHistory();
    ui::HistoryPage history(shown.commands);
    QStringList said, errors;
    ui::ChangeReports reports(
        {shown.model, shown.commands, history, shown.notes(&said), shown.notes(&errors)}, nullptr);
    QVERIFY(reports.reportable() == nullptr);
    reports.saveOf(3);
    QCOMPARE(errors, QStringList{QStringLiteral("Change 3 is not in the history yet.")});
    history.model()->setEntries(test::PanelHistory());
    QCOMPARE(reports.reportable()->id, history.model()->entries().front().id);
    history.choose(2);
    QCOMPARE(reports.reportable()->id, std::int64_t{2});
    auto entries = test::PanelHistory();
    std::ranges::find(entries, 2, &engine::HistoryEntry::id)->result.clear();
    history.model()->setEntries(entries);
    history.choose(2);
    QVERIFY(reports.reportable() == nullptr);  // it has not ended
  }

  void aHistoryFileIsReadBeforeItIsShown() {
    test::FakeConnections connections;
    ui::Settings settings;
    QWidget window;
    QStringList errors, said;
    ui::ClusterChooser chooser(&connections, settings, {}, &window,
                               {.rulesChanged = [] {},
                                .stateChanged = [] {},
                                .profilesChanged = [] {},
                                .showError = [&](const QString& text) { errors << text; },
                                .say = [&](const QString& text) { said << text; }});
    chooser.openHistory(QStringLiteral("/srv/past.sqlite"));
    QCOMPARE(connections.opened, QStringLiteral("/srv/past.sqlite"));
    QCOMPARE(said, QStringList{QStringLiteral("Reading /srv/past.sqlite…")});
    connections.historyAnswer = Cancelled("something else was chosen meanwhile");
    chooser.openHistory(QStringLiteral("/srv/past.sqlite"));
    QVERIFY(errors.isEmpty());
    connections.historyAnswer = NotFound("/srv/past.sqlite does not exist");
    chooser.openHistory(QStringLiteral("/srv/past.sqlite"));
    QCOMPARE(errors, QStringList{QStringLiteral("/srv/past.sqlite does not exist")});
  }

  void oneClusterStartsAtATime() {
    test::FakeConnections connections;
    ui::Settings settings;
    QWidget window;
    QStringList errors;
    int rules = 0, states = 0, profiles = 0;
    ui::ClusterChooser chooser(&connections, settings, {}, &window,
                               {.rulesChanged = [&] { ++rules; },
                                .stateChanged = [&] { ++states; },
                                .profilesChanged = [&] { ++profiles; },
                                .showError = [&](const QString& text) { errors << text; }});
    chooser.startLocal();
    QCOMPARE(connections.started, 1);
    QCOMPARE(chooser.starting(), std::optional(QStringLiteral("Creating its keys")));
    QVERIFY(rules == 1 && states == 1);
    chooser.startLocal();
    chooser.openSimulate();
    QCOMPARE(connections.started, 1);
    QVERIFY(window.findChildren<ui::SimulateDialog*>().isEmpty());
    connections.progress(QStringLiteral("1 of 2 agents started"));
    QCOMPARE(chooser.starting(), std::optional(QStringLiteral("1 of 2 agents started")));
    connections.startDone(Timeout("n1 did not come up"));
    QVERIFY(!chooser.starting() && profiles == 0);
    QVERIFY(errors.value(0).contains(QStringLiteral("n1 did not come up")));
    connections.progress(QStringLiteral("late"));  // the start has ended
    QVERIFY(!chooser.starting());
    chooser.startLocal();
    QCOMPARE(connections.local, std::optional(ui::LocalChoice{2, 4, 0}));
    connections.startDone(QStringLiteral("local"));
    QCOMPARE(connections.connected, QStringList{QStringLiteral("local")});
    QCOMPARE(profiles, 1);
    ui::ClusterChooser none(nullptr, settings, {}, &window, {});
    none.startLocal();
    none.watchDemo();
    none.openSimulate();
    none.openDialog();
    QVERIFY(!none.starting());
  }

  void editsGoToTheDraftThatIsShown() {
    Models shown;
    ui::Settings settings;
    QStringList said, errors;
    bool isLesson = false;
    std::vector<LayoutSource> sources;
    QWidget window;
    ui::DraftDesk desk(
        {shown.model, shown.draft, shown.plan, shown.control, shown.lessons, settings},
        {.widget = &window,
         .isLesson = [&] { return isLesson; },
         .setSource = [&](LayoutSource source) { sources.push_back(source); },
         .say = shown.notes(&said),
         .showError = shown.notes(&errors)});
    QVERIFY(!desk.editBlockedReason().isEmpty() || shown.control.editBlockedReason().isEmpty());
    desk.edit({{1, 0}}, true);
    QCOMPARE(shown.draft.added(), (std::vector<ptc::DeviceId>{{1, 0}}));
    QCOMPARE(sources, std::vector{LayoutSource::Draft});
    desk.edit({{1, 0}}, true);  // it is there already
    QCOMPARE(sources.size(), std::size_t{1});
    QCOMPARE(desk.dropHint({{1, 1}}, true), QStringLiteral("6 GPUs in gpt-mini after the drop"));
    desk.undo();
    QVERIFY(shown.draft.isEmpty());
    desk.redo();
    QVERIFY(!shown.draft.isEmpty());
    desk.requestApply();  // in Monitor
    QCOMPARE(said, QStringList{shown.control.applyBlockedReason()});
    desk.discard();
    QVERIFY(shown.draft.isEmpty());
    QCOMPARE(sources.back(), LayoutSource::Live);
    // The undo of a change has all axes of the mesh before it, and all of its GPUs.
    engine::HistoryEntry wide = test::PanelHistory().front();
    wide.from = "dp=4,tp=1,pp=1,cp=2 on 2x4";
    desk.reverse(wide);
    QVERIFY(errors.isEmpty());
    QCOMPARE(shown.draft.request().devices.size(), std::size_t{8});
    QCOMPARE(shown.draft.request().mesh, std::optional(*ptc::ParseMeshShape("dp=4,cp=2")));
    desk.discard();
    engine::HistoryEntry other = test::PanelHistory().front();
    other.job = "other";
    desk.reverse(other);
    QVERIFY(errors.value(0).contains(QStringLiteral("belongs to job other")));
    other.from = "nonsense";
    desk.reverse(other);
    QVERIFY(errors.value(1).contains(QStringLiteral("cannot be undone")));
    // In a lesson nothing reaches the draft of the cluster.
    QVERIFY(shown.lessons.open(QStringLiteral("replicas")));
    isLesson = true;
    QCOMPARE(&desk.shown(), &shown.lessons.draft());
    desk.edit({{1, 0}}, true);
    QVERIFY(shown.draft.isEmpty());
    QCOMPARE(shown.commands.mutations(), 0);
  }

  void thePaletteOffersEverythingThatIsShown() {
    QWidget window;
    ui::ActionRegistry actions(&window);
    int triggered = 0;
    actions.add({.id = QStringLiteral("plan.discard"),
                 .menu = QStringLiteral("Plan"),
                 .text = QStringLiteral("&Discard"),
                 .statusTip = {}},
                [&] { ++triggered; });
    ui::HistoryTableModel changes;
    changes.setEntries(test::PanelHistory());
    ui::EventTableModel events;
    events.append(test::PanelEvents());
    std::set<ptc::DeviceId> chosen;
    QString job, source;
    std::int64_t change = 0;
    const ui::WindowItems offered(
        {actions, changes, events},
        {.chooseDevices = [&](const std::set<ptc::DeviceId>& devices) { chosen = devices; },
         .showJob = [&](const QString& name) { job = name; },
         .showChange = [&](std::int64_t txn) { change = txn; },
         .showEvent = [&](const QModelIndex&, double, const QString& from) { source = from; }});
    const auto cluster = test::PanelCluster();
    const auto items = offered.items(cluster);
    const auto run = [&](ui::PaletteItem::Kind kind) {
      const auto found = std::ranges::find(items, kind, &ui::PaletteItem::kind);
      if (found == items.end()) return QString();
      found->run();
      return found->title;
    };
    QCOMPARE(run(ui::PaletteItem::Kind::Action), QStringLiteral("Discard"));
    QCOMPARE(triggered, 1);
    QCOMPARE(run(ui::PaletteItem::Kind::Gpu), QStringLiteral("GPU 0"));
    QCOMPARE(chosen, (std::set<ptc::DeviceId>{{0, 0}}));
    QCOMPARE(run(ui::PaletteItem::Kind::Node), QStringLiteral("Node n0"));
    QCOMPARE(chosen.size(), cluster.nodes[0].devices.size());
    QCOMPARE(run(ui::PaletteItem::Kind::Job), QStringLiteral("gpt-mini"));
    QCOMPARE(job, QStringLiteral("gpt-mini"));
    QVERIFY(run(ui::PaletteItem::Kind::Change).startsWith(QStringLiteral("Change ")));
    QCOMPARE(change, changes.entries().front().id);
    // The newest event comes first.
    QVERIFY(!run(ui::PaletteItem::Kind::Event).isEmpty());
    const QModelIndex last = events.index(events.rowCount() - 1, 0);
    QCOMPARE(source, last.data(ui::EventTableModel::SourceRole).toString());
  }

  void theLowerDockIsLowInALowWindow() {
    QMainWindow window;
    window.setCentralWidget(new QWidget);
    const auto dock = [&](Qt::DockWidgetArea area) {
      auto* made = new QDockWidget(&window);
      made->setObjectName(QString::number(area));
      made->setWidget(new QWidget);
      window.addDockWidget(area, made);
      return made;
    };
    const ui::DockSizes::Docks docks{dock(Qt::LeftDockWidgetArea), dock(Qt::RightDockWidgetArea),
                                     dock(Qt::BottomDockWidgetArea)};
    window.resize(1440, 900);
    ui::DockSizes sizes(window, docks, {});
    sizes.keepInitialState();
    window.show();
    test::settle();
    QCOMPARE(docks.records->height(), ui::DockSizes::kHeight);
    const auto resize = [&](int height) {
      window.resize(1440, height);
      test::settle();
      sizes.fit();
      test::settle();
    };
    resize(700);
    QCOMPARE(docks.records->height(), ui::DockSizes::kLowHeight);
    resize(900);
    QCOMPARE(docks.records->height(), ui::DockSizes::kHeight);
    // A window that was too small for the dock gives it its height back.
    window.centralWidget()->setMinimumHeight(500);
    resize(560);
    QVERIFY(docks.records->height() < ui::DockSizes::kLowHeight);
    window.centralWidget()->setMinimumHeight(0);
    resize(900);
    QCOMPARE(docks.records->height(), ui::DockSizes::kHeight);
    // A height that the user has set stays.
    sizes.keepHeight(260);
    resize(700);
    QCOMPARE(docks.records->height(), 260);
    resize(900);
    QCOMPARE(docks.records->height(), 260);
    sizes.arrange(ui::DockSizes::Arrangement::Teach);
    QVERIFY(docks.navigator->isHidden() && docks.records->isHidden());
    QVERIFY(!docks.side->isHidden());
    sizes.arrange(ui::DockSizes::Arrangement::Operate);
    QVERIFY(!docks.navigator->isHidden() && !docks.records->isHidden());
  }

  void theFocusSkipsPanesThatAreHidden() {
    QWidget window;
    QLineEdit a(&window), b(&window), c(&window);
    b.hide();
    window.show();
    window.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    const QList<QWidget*> panes{&a, nullptr, &b, &c};
    a.setFocus();
    ui::focusNextPane(panes, 1);
    QVERIFY(c.hasFocus());
    ui::focusNextPane(panes, 1);
    QVERIFY(a.hasFocus());
    ui::focusNextPane(panes, -1);
    QVERIFY(c.hasFocus());
    ui::focusNextPane({nullptr, &b}, 1);  // there is none
    QVERIFY(c.hasFocus());
  }

  void playheadAndMomentFollowEachOther() {
    Presented shown;
    QVERIFY(shown.hasSamples());
    ui::TimelinePage timeline(shown.model, shown.commands, shown.changes);
    ui::JobPlots& plots = *timeline.plots();
    int refreshes = 0, pins = 0;
    QStringList errors;
    ui::MomentDesk desk(
        {shown.model, shown.commands, shown.presenter, plots, shown.changes},
        {.setPast =
             [&](bool past) {
               shown.presenter.setSource(past ? LayoutSource::Past : LayoutSource::Live);
               if (!past) desk.leave();
             },
         .refresh = [&] { ++refreshes; },
         .followChanges = [] {},
         .followPinned = [&] { ++pins; },
         .showError = shown.notes(&errors)});
    QVERIFY(QTest::qWaitFor([&] { return timeline.words().isEmpty(); }, 3000));
    QVERIFY(!desk.show(kNoon - 100'000));
    QVERIFY(desk.show(kNoon + 200) && shown.presenter.isPast());
    QCOMPARE(plots.playhead(), std::optional(kNoon + 200));
    plots.setPlayhead(kNoon + 250);
    QCOMPARE(shown.presenter.moment()->time, kNoon + 250);
    QCOMPARE(refreshes, 1);
    emit plots.compareRequested();
    QVERIFY(shown.presenter.pinned() && pins == 1);
    emit plots.compareRequested();
    QVERIFY(!shown.presenter.pinned() && pins == 2);
    plots.setPlayhead({});
    QVERIFY(shown.presenter.isLive());
    // The history was read: the moment of a change is known, but not that of a lost job.
    shown.changes.setEntries({});
    shown.changes.setEntries(test::PanelHistory());
    desk.showBegin(*shown.change(2));
    QVERIFY(shown.presenter.isPast());
    QCOMPARE(shown.presenter.moment()->time, shown.change(2)->started);
    engine::HistoryEntry other = *shown.change(2);
    other.job = "gone";
    desk.showBegin(other);
    QVERIFY(errors.value(0).contains(QStringLiteral("no longer has job gone")));
    // Another cluster has another past.
    shown.model.clear();
    QVERIFY(shown.presenter.isLive() && !plots.playhead());
  }

  void theSidePaneShowsWhatIsChosen() {
    Presented shown;
    shown.commands.entries = test::PanelHistory();
    ui::HistoryPage history(shown.commands);
    history.model()->setEntries(test::PanelHistory());
    ui::DraftProposal proposal(shown.draft, shown.model, shown.commands);
    ui::SidePane pane({shown.model, shown.draft, shown.plan, proposal, shown.control, shown.states,
                       shown.lessons, shown.records},
                      nullptr);
    const auto page = [&]() -> QWidget* {
      pane.refresh(shown.presenter, history, shown.samples);
      return pane.currentWidget();
    };
    QCOMPARE(page(), pane.inspector());
    history.choose(2);
    QCOMPARE(page(), pane.details());
    history.addToChosen(3);
    QCOMPARE(page(), pane.comparison());
    QCOMPARE(pane.comparison()->diff()->b.entry.id, std::int64_t{3});
    shown.presenter.setSource(LayoutSource::Draft);
    QCOMPARE(page(), pane.plan());
    QVERIFY(shown.lessons.open(QStringLiteral("replicas")));
    shown.presenter.setSource(LayoutSource::Lesson);
    QCOMPARE(page(), pane.lesson());
  }

  void recordsAndSelectionAgree() {
    Models shown;
    shown.commands.entries = test::PanelHistory();
    ui::SelectionModel selection;
    ui::Settings settings;
    int leaves = 0;
    QStringList errors;
    ui::RecordsPane pane({.model = shown.model,
                          .commands = shown.commands,
                          .selection = selection,
                          .settings = settings,
                          .leaveDraft = [&] { ++leaves; },
                          .rulesChanged = [] {},
                          .showError = shown.notes(&errors)},
                         nullptr);
    pane.addEvents();
    // The history is read once per connection.
    pane.followLink();
    pane.followLink();
    QCOMPARE(shown.commands.historyCalls, 1);
    QVERIFY(QTest::qWaitFor([&] { return pane.history()->model()->rowCount() > 0; }, 3000));
    shown.model.setLink(ui::LinkState::Lost, {});
    pane.followLink();
    shown.model.setLink(ui::LinkState::Connected, {});
    pane.followLink();
    QCOMPARE(shown.commands.historyCalls, 2);
    selection.setChange(2);  // by another view
    QCOMPARE(pane.history()->chosen()->id, std::int64_t{2});
    QCOMPARE(leaves, 1);
    selection.setChange(77);  // it is not in the history
    QCOMPARE(selection.change(), std::optional<std::int64_t>(2));
    selection.setDevices({{0, 0}});  // clears the change
    QVERIFY(pane.history()->chosen() == nullptr && !selection.change());
    for (const engine::Event& event : test::PanelEvents()) shown.model.addEvent(event);
    shown.model.flush();
    QCOMPARE(pane.events()->model()->rowCount(), static_cast<int>(test::PanelEvents().size()));
    shown.model.clear();
    QCOMPARE(pane.events()->model()->rowCount(), 0);
  }

  void theCentreTellsWhichViewIsShown() {
    Models shown;
    ui::SelectionModel selection;
    ui::CentrePane centre({shown.model, shown.control, shown.seat,
                           [](const QStringList& words) { return words.join(QLatin1Char(' ')); }},
                          nullptr);
    centre.addViews({.model = shown.model,
                     .commands = shown.commands,
                     .connections = nullptr,
                     .states = shown.states,
                     .selection = selection,
                     .history = shown.changes,
                     .say = [](const QString&) {},
                     .showError = [](const QString&) {},
                     .rulesChanged = [] {}});
    QVERIFY(centre.isShown(QStringLiteral("mesh")) && !centre.moved());
    for (ui::View* view : centre.views()) {
      centre.tabs()->setCurrent(view->widget());
      QVERIFY(centre.isShown(view->id()));
      QCOMPARE(centre.colours()->isHidden(), !view->usesColours());
    }
    centre.refresh({.source = LayoutSource::Draft}, true);
    QVERIFY(!centre.notices().bar(Notice::Draft)->isHidden());
    QVERIFY(centre.meshPage()->currentWidget() == centre.meshPage()->pair());
    shown.model.clear();
    centre.refresh({}, true);
    QCOMPARE(centre.meshPage()->currentWidget(), centre.meshPage()->state());
    centre.release();
    QVERIFY(centre.views().empty());
  }
};
TESSERA_THEMED_TEST(WindowPartsTest)
#include "window_parts_test.moc"
