// SPDX-License-Identifier: Apache-2.0
#include "tests/ui/panel_scenes.h"

#include <QDialog>
#include <QLineEdit>
#include <QPushButton>
#include <QTableView>
#include <QTest>
#include <QToolButton>
#include <cstring>

#include "tests/ui/fake_connections.h"
#include "tests/ui/fake_runner.h"
#include "tests/ui/panel_fixture.h"
#include "tests/ui/panel_states.h"
#include "tests/ui/sample_answers.h"
#include "ui/actions/action_registry.h"
#include "ui/canvas/mesh_view.h"
#include "ui/dialogs/about_dialog.h"
#include "ui/dialogs/connect_dialog.h"
#include "ui/dialogs/profile_form.h"
#include "ui/dialogs/settings_dialog.h"
#include "ui/dialogs/start_job_dialog.h"
#include "ui/help/help_window.h"
#include "ui/lessons/consistency_lesson.h"
#include "ui/lessons/lesson_session.h"
#include "ui/models/draft.h"
#include "ui/models/draft_plan.h"
#include "ui/models/move_control.h"
#include "ui/pages/file_tree_view.h"
#include "ui/pages/history_page.h"
#include "ui/pages/plan_panel.h"
#include "ui/pages/state_page.h"
#include "ui/pages/timeline_page.h"
#include "ui/palette/command_palette.h"
#include "ui/plots/job_plots.h"
#include "ui/settings/settings.h"
#include "ui/views/files_page.h"
#include "ui/views/tensors_view.h"
#include "ui/widgets/labelled_field.h"
#include "ui/widgets/segmented_switch.h"
#include "ui/widgets/tabbed_pane.h"

namespace tessera::test {
namespace {

using engine::TxnPhase;

constexpr int kThreadPatienceMs = 10'000;
constexpr double kMoment = 1'750'000'200;  // between two changes of PanelHistory

QSize& sceneSize() {
  static QSize size(1440, 900);
  return size;
}

const ui::WindowOptions kArmed{.operate = true};
const ui::WindowOptions kLive{.operate = true, .live = true};
const QList<ptc::DeviceId> kN1{{1, 0}, {1, 1}, {1, 2}, {1, 3}};

/// The panel of a scene with the other end of its dialogs.
struct Play {
  FakeConnections connections;
  ui::Settings settings;
  std::unique_ptr<Panel> panel;

  ui::MainWindow& window() const { return *panel->window; }
  template <typename T>
  T* child() const {
    return window().findChild<T*>();
  }
  void trigger(const char* id) const {
    window().actions()->refresh();
    window().actions()->find(QString::fromLatin1(id))->trigger();
    settle();
  }
  void lose() const {
    panel->model.setLink(ui::LinkState::Lost, QStringLiteral("Trying again in 4 s."));
    panel->model.flush();
    settle();
  }
  void draftN1() const {
    emit window().meshView()->toggleRequested(kN1);
    panel->waitForPlan();
    settle();
  }
  void showPast() const {
    child<ui::JobPlots>()->setPlayhead(kMoment);
    settle();
  }
};
using Arrange = std::function<void(Play&)>;

std::shared_ptr<Play> openPlay(ui::WindowOptions options, engine::ClusterSnapshot snapshot) {
  auto play = std::make_shared<Play>();
  for (const char* name : {"lab-a", "lab-b"}) {
    play->connections.known << FakeConnections::remote(QString::fromLatin1(name));
  }
  play->connections.now = QStringLiteral("lab-a");
  options.settings = &play->settings;
  options.connections = &play->connections;
  options.version = QStringLiteral("0.2.0");
  play->panel = std::make_unique<Panel>(options, std::move(snapshot));
  play->window().resize(sceneSize());
  for (auto& event : PanelEvents()) play->panel->model.addEvent(event);
  play->panel->model.flush();
  settle();
  return play;
}

/// The window after `arrange`.
Scene windowScene(const char* name, const ui::WindowOptions& options,
                  const std::function<engine::ClusterSnapshot()>& snapshot,
                  const Arrange& arrange) {
  return {QString::fromLatin1(name), [=]() -> Stage {
            auto play = openPlay(options, snapshot());
            arrange(*play);
            settle();
            QWidget* widget = play->panel->window.get();
            return {std::move(play), widget};
          }};
}

/// The newest dialog or second window that `arrange` opens; its function returns the widget.
Scene dialogScene(const char* name, const std::function<QWidget*(Play&)>& arrange) {
  return {QString::fromLatin1(name), [=]() -> Stage {
            auto play = openPlay(kArmed, PanelCluster());
            QWidget* widget = arrange(*play);
            settle();
            return {std::move(play), widget};
          }};
}

/// The dialog that was opened last.
QWidget* lastDialog(Play& play) {
  settle();
  const auto dialogs = play.window().findChildren<QDialog*>();
  return dialogs.isEmpty() ? nullptr : dialogs.last();
}

/// A window that has never seen a cluster.
struct Bare {
  FakeConnections connections;
  ui::ClusterModel model;
  SpyCommands commands{model};
  std::unique_ptr<ui::MainWindow> window;
};

Scene bareScene(const char* name, const std::function<void(Bare&)>& arrange) {
  return {QString::fromLatin1(name), [=]() -> Stage {
            auto bare = std::make_shared<Bare>();
            bare->window = std::make_unique<ui::MainWindow>(
                bare->model, bare->commands, ui::WindowOptions{.connections = &bare->connections});
            bare->window->resize(sceneSize());
            bare->window->show();
            arrange(*bare);
            bare->model.flush();
            settle();
            QWidget* widget = bare->window.get();
            return {std::move(bare), widget};
          }};
}

engine::ClusterSnapshot noJob() { return IdleCluster(2, 4); }
engine::ClusterSnapshot moving() { return PanelMove(TxnPhase::kTransferring, {62, 58, 64, 41}); }

/// moving() of which n1 does not answer, so that nothing arrives there.
engine::ClusterSnapshot stalled() {
  auto cluster = moving();
  cluster.nodes[1].state = engine::NodeState::kSuspect;
  cluster.nodes[1].last_seen = 5;
  for (engine::FlowStatus& flow : cluster.transaction->flows) {
    flow.state = engine::FlowState::kStalled;
    flow.bytes_per_second = 0;
  }
  cluster.transaction->eta.reset();
  return cluster;
}

/// moving() of which n1 is lost.
engine::ClusterSnapshot movingLost() {
  auto cluster = stalled();
  cluster.nodes[1].state = engine::NodeState::kDead;
  cluster.nodes[1].last_seen = 12;
  return cluster;
}

/// A job of which there are no samples and no changes yet.
engine::ClusterSnapshot firstJob() {
  auto cluster = PanelCluster();
  cluster.jobs.front().name = "text";
  for (engine::DeviceStatus& device : cluster.nodes.front().devices) device.job = "text";
  return cluster;
}

/// 4,096 GPUs, some of them idle; with flows between many pairs of nodes.
engine::ClusterSnapshot large() { return LargeCluster(512, 8, 8, 0); }
engine::ClusterSnapshot largeMoving() { return LargeCluster(512, 8, 8, 64); }

engine::ClusterSnapshot rolledBack() {
  auto cluster = PanelCluster();
  cluster.transaction = PanelMove(TxnPhase::kRolledBack, {62, 58, 64, 41}).transaction;
  cluster.transaction->reason = "n1 was lost while its GPUs were joining";
  cluster.nodes[1].state = engine::NodeState::kDead;
  cluster.nodes[1].last_seen = 12;
  return cluster;
}

engine::ClusterSnapshot jobFailed() {
  auto cluster = PanelCluster();
  cluster.jobs.front().state = engine::JobState::kFailed;
  cluster.jobs.front().reason = "rank 2 on n0g2 ended with signal 9";
  return cluster;
}

/// PanelLostState without snapshot and checkpoint.
engine::ClusterSnapshot lostForGood() {
  auto cluster = PanelLostState();
  engine::DecisionStatus& decision = *cluster.jobs.front().decision;
  decision.loss = engine::LossCase::kCheckpointOnly;
  decision.ways.clear();
  decision.why_not =
      "18.0 MiB of its state have no live copy, and there is no snapshot and no checkpoint";
  return cluster;
}
/// PanelLostState after n1 is back without its memory.
engine::ClusterSnapshot backEmpty() {
  auto cluster = PanelLostState();
  cluster.nodes[1].state = engine::NodeState::kAlive;
  cluster.nodes[1].last_seen = 0.4;
  cluster.jobs.front().decision->awaited.clear();
  cluster.jobs.front().decision->reason = "n1g0 no longer holds the state";
  return cluster;
}

/// Waits for what a thread of the view makes; a scene that lacks it shows that it does.
void waitUntil(const std::function<bool()>& holds) {
  (void)QTest::qWaitFor(holds, kThreadPatienceMs);
  settle();
}

void waitForTensors(Play& play) {
  const auto* view = play.child<ui::TensorsView>();
  waitUntil([view] { return view->layouts() != nullptr; });
}

void showFiles(Play& play) {
  play.trigger("view.files");
  QTest::qWait(150);  // the tree of files is made on a thread
}

void addMesh(std::vector<Scene>* scenes) {
  const auto live = PanelCluster;
  const auto add = [&](Scene scene) { scenes->push_back(std::move(scene)); };
  add(windowScene("mesh-live", kLive, live, [](Play& p) {
    p.window().meshView()->setSelection({{0, 2}});
  }));
  add(windowScene("mesh-no-job", {}, noJob, [](Play&) {}));
  add(windowScene("mesh-draft", kArmed, live, [](Play& p) { p.draftN1(); }));
  add(windowScene("mesh-draft-monitor", {}, live, [](Play& p) {
    emit p.window().meshView()->toggleRequested({{1, 0}});
    p.panel->waitForPlan();
  }));
  add(windowScene("mesh-draft-impossible", kArmed, live, [](Play& p) {
    p.draftN1();
    p.window().draft()->pin(ptc::Axis::kTp, 3);
    QTest::qWait(350);
  }));
  add(windowScene("mesh-countdown", kLive, live, [](Play& p) { p.draftN1(); }));
  add(windowScene("mesh-moving", kLive, moving, [](Play& p) {
    p.window().meshView()->setSelection({{1, 0}});
  }));
  add(windowScene(
      "mesh-preparing", kArmed,
      [] {
        return PanelMove(TxnPhase::kPreparing, {0, 0, 0, 0});
      },
      [](Play&) {}));
  add(windowScene("mesh-stalled", kArmed, stalled, [](Play& p) {
    p.window().meshView()->setSelection({{1, 0}});
  }));
  add(windowScene("mesh-moving-lost", kArmed, movingLost, [](Play&) {}));
  add(windowScene("mesh-large", {}, large, [](Play&) {}));
  add(windowScene("mesh-large-moving", kArmed, largeMoving, [](Play&) {}));
  add(windowScene("mesh-large-draft", kArmed, large, [](Play& p) {
    emit p.window().meshView()->toggleRequested({{511, 0}, {511, 1}, {511, 2}, {511, 3}});
    p.panel->waitForPlan();
  }));
  add(windowScene("mesh-done", kArmed, moving,
                  [](Play& p) { p.panel->setSnapshot(PanelGrown()); }));
  add(windowScene("mesh-rolled-back", kArmed, moving,
                  [](Play& p) { p.panel->setSnapshot(rolledBack()); }));
  add(windowScene("mesh-lost-node", kArmed, PanelLost, [](Play& p) {
    p.window().meshView()->setSelection({{1, 0}});
  }));
  add(windowScene("mesh-lost-steps", kArmed, PanelLostState, [](Play&) {}));
  add(windowScene("mesh-lost-state", kArmed, lostForGood, [](Play&) {}));
  add(windowScene("mesh-lost-empty", kArmed, backEmpty, [](Play&) {}));
  add(windowScene("mesh-job-failed", {}, jobFailed, [](Play&) {}));
  add(windowScene("mesh-stale", {}, live, [](Play& p) { p.lose(); }));
  add(windowScene("mesh-unrecorded", kArmed, live, [](Play& p) {
    p.panel->model.setRecordProblem(QStringLiteral("lab-a.sqlite: database or disk is full"));
    p.panel->model.flush();
  }));
  add(windowScene("mesh-past", {}, live, [](Play& p) { p.showPast(); }));
  add(windowScene("mesh-teach", {}, live, [](Play& p) { p.trigger("view.layoutTeach"); }));
}

engine::PlanSummary withoutBound(engine::PlanSummary plan) {
  plan.certificate = {};
  return plan;
}

void addPlans(std::vector<Scene>* scenes) {
  const auto add = [&](Scene scene) { scenes->push_back(std::move(scene)); };
  // The numbers of the last plan are struck through.
  add(windowScene("plan-planning", kArmed, PanelCluster, [](Play& p) {
    p.panel->commands.adjustPlan = withoutBound;
    p.draftN1();
    p.panel->commands.holdPlans = true;
    emit p.window().meshView()->toggleRequested({{1, 3}});
    QTest::qWait(100);
  }));
  add(windowScene("plan-stale", kArmed, PanelCluster, [](Play& p) {
    p.panel->commands.adjustPlan = withoutBound;
    p.draftN1();
    p.panel->commands.holdPlans = true;
    auto cluster = PanelCluster();
    cluster.jobs.front().layout_hash = "0000000000000001";
    p.panel->setSnapshot(cluster);
  }));
  add(windowScene("plan-too-large", kArmed, PanelCluster, [](Play& p) {
    p.panel->commands.adjustPlan = [](engine::PlanSummary plan) {
      plan.peak_memory[5].bytes = plan.peak_memory[5].capacity + (9LL << 20);
      return plan;
    };
    p.draftN1();
  }));
}

void addViews(std::vector<Scene>* scenes) {
  const auto add = [&](Scene scene) { scenes->push_back(std::move(scene)); };
  add(windowScene("tensors-no-job", {}, noJob, [](Play& p) { p.trigger("view.tensors"); }));
  add(windowScene("tensors-live", {}, PanelCluster, [](Play& p) {
    p.trigger("view.tensors");
    waitForTensors(p);
  }));
  add(windowScene("tensors-one", {}, PanelCluster, [](Play& p) {
    p.trigger("view.tensors");
    waitForTensors(p);
    p.child<ui::TensorsView>()->openTensor(QStringLiteral("h.0.attn.qkv.weight"));
  }));
  add(windowScene("tensors-draft", kArmed, PanelCluster, [](Play& p) {
    p.trigger("view.tensors");
    p.draftN1();
    auto* view = p.child<ui::TensorsView>();
    waitUntil([view] { return view->layouts() && view->layouts()->next(); });
    view->openTensor(QStringLiteral("h.0.attn.qkv.weight"));
  }));
  add(windowScene("tensors-loading", {}, PanelCluster, [](Play& p) {
    p.panel->commands.holdStates = true;
    p.trigger("view.tensors");
  }));
  add(windowScene("tensors-stale", {}, PanelCluster, [](Play& p) {
    p.trigger("view.tensors");
    waitForTensors(p);
    p.lose();
  }));
  add(windowScene("tensors-past", {}, PanelCluster, [](Play& p) {
    p.trigger("view.tensors");
    p.showPast();
    QTest::qWait(100);
  }));
  add(windowScene("tensors-lost", kArmed, lostForGood, [](Play& p) {
    p.trigger("view.tensors");
    QTest::qWait(100);
  }));
  add(windowScene("links-empty", {}, PanelCluster, [](Play& p) { p.trigger("view.links"); }));
  add(windowScene("links-draft", kArmed, PanelCluster, [](Play& p) {
    p.trigger("view.links");
    p.draftN1();
    QTest::qWait(150);
  }));
  add(windowScene("flows-moving", kLive, moving, [](Play& p) { p.trigger("view.flows"); }));
  add(windowScene("links-moving", {}, moving, [](Play& p) { p.trigger("view.links"); }));
  add(windowScene("flows-stalled", kArmed, stalled, [](Play& p) { p.trigger("view.flows"); }));
  add(windowScene("links-lost", kArmed, movingLost, [](Play& p) { p.trigger("view.links"); }));
  add(windowScene("links-large", {}, largeMoving, [](Play& p) { p.trigger("view.links"); }));
  add(windowScene("links-stale", {}, moving, [](Play& p) {
    p.trigger("view.links");
    p.lose();
  }));
  add(windowScene("data-no-job", {}, noJob, [](Play& p) { p.trigger("view.data"); }));
  add(windowScene("data-live", {}, PanelCluster, [](Play& p) { p.trigger("view.data"); }));
  add(windowScene("data-change", {}, PanelCluster, [](Play& p) {
    p.trigger("view.data");
    p.child<ui::HistoryPage>()->choose(3);
  }));
  add(windowScene("files-no-job", {}, noJob, [](Play& p) { showFiles(p); }));
  add(windowScene("files-live", {}, PanelCluster, [](Play& p) {
    showFiles(p);
    auto* page = p.child<ui::FilesPage>();
    const QString file = QStringLiteral("jobs/gpt-mini/full/model.safetensors");
    page->tree()->open(file);
    page->tree()->choose(file, QStringLiteral("h.0.attn.qkv.weight"));
  }));
  add(windowScene("files-stale", {}, PanelCluster, [](Play& p) {
    showFiles(p);
    p.lose();
  }));
  add(windowScene("timeline-empty", {}, firstJob, [](Play& p) {
    p.panel->commands.entries.clear();
    p.child<ui::HistoryPage>()->reload();
    QTest::qWait(50);
  }));
  add(windowScene("timeline-step-time", {}, PanelCluster, [](Play& p) {
    auto* timeline = p.child<ui::TimelinePage>();
    timeline->chooseCurves({{ui::PlotCurve::Kind::Loss}, {ui::PlotCurve::Kind::StepTime}});
    const auto follows = [&] {
      return timeline->samples().state() == ui::SampleHistory::State::Following;
    };
    if (!QTest::qWaitFor(follows, 1000)) return;
    const ui::SampleSeries& series = timeline->samples().series();
    engine::Sample sample = series.sampleOf(kJob, series.points().size() - 1);
    auto cluster = PanelCluster();
    for (int i = 0; i < 60; ++i) {
      // n0g1 becomes slow, and all wait for it.
      const double slowest = i < 30 ? 0.21 : 0.34;
      for (engine::DeviceStatus& device : cluster.nodes[0].devices)
        device.busy_seconds = device.id.index == 1 ? slowest : 0.2 + 0.002 * (i % 5);
      ++sample.step;
      sample.time += slowest + 0.05;
      ++cluster.sequence;
      p.panel->setSnapshot(cluster);
      p.panel->model.addSample(sample);
      p.panel->model.flush();
    }
    p.window().meshView()->setSelection({{0, 0}, {0, 1}});
    timeline->plots()->setRange(sample.time - 15, sample.time + 1);
    settle();
  }));
  add(windowScene("pipeline", {}, PanelCluster, [](Play& p) {
    auto cluster = PanelCluster();
    cluster.jobs.front().mesh = Shape(1, 1, 4);
    cluster.jobs.front().step_seconds = 0.5;
    for (engine::DeviceStatus& device : cluster.nodes[0].devices)
      device.busy_seconds = 0.2 + 0.02 * device.id.index;
    ++cluster.sequence;
    p.panel->setSnapshot(cluster);
    settle();
  }));
  add(windowScene("history-details", {}, PanelCluster, [](Play& p) {
    auto* history = p.child<ui::HistoryPage>();
    p.window().findChild<ui::TabbedPane*>(QStringLiteral("recordsPane"))->setCurrent(history);
    history->choose(3);
  }));
  add(windowScene("history-compare", {}, PanelCluster, [](Play& p) {
    auto* history = p.child<ui::HistoryPage>();
    p.window().findChild<ui::TabbedPane*>(QStringLiteral("recordsPane"))->setCurrent(history);
    history->choose(2);
    history->addToChosen(3);
  }));
}

void addStarts(std::vector<Scene>* scenes) {
  const auto add = [&](Scene scene) { scenes->push_back(std::move(scene)); };
  add(bareScene("start-empty", [](Bare&) {}));
  add(bareScene("start-starting", [](Bare& b) {
    b.model.flush();
    settle();
    b.window->findChild<ui::StatePage*>()->startButton()->click();
    b.connections.progress(QStringLiteral("1 of 2 agents started"));
  }));
  add(bareScene("start-failed", [](Bare& b) {
    b.model.flush();
    settle();
    b.window->findChild<ui::StatePage*>()->startButton()->click();
    b.connections.startDone(Timeout("n1 did not answer within 20 s"));
  }));
  add(bareScene("start-connecting", [](Bare& b) {
    b.model.setLink(ui::LinkState::Connecting, QStringLiteral("tcp://127.0.0.1:40001"));
  }));
  add(bareScene("start-refused", [](Bare& b) {
    b.model.setLink(ui::LinkState::Refused, QStringLiteral("the key is not known"));
  }));
  add(bareScene("start-stopped", [](Bare& b) {
    b.connections.afterStop = {QStringLiteral("local"), true, QStringLiteral("/c/history.db")};
    b.model.setStopped({1'750'000'000, QStringLiteral("operator: tesseractl, lena@lab3")});
  }));
  add(bareScene("start-file", [](Bare& b) {
    b.model.clear(QStringLiteral("/home/op/lab-a.db"));
    b.model.setLink(ui::LinkState::Connected, {});
    b.commands.entries = PanelHistory();
    engine::ClusterSnapshot file;
    file.cluster = "lab-a";
    file.jobs = PanelCluster().jobs;
    file.jobs.front().state = engine::JobState::kStopped;
    b.model.setSnapshot(file);
  }));
}

void addDialogs(std::vector<Scene>* scenes) {
  const auto add = [&](Scene scene) { scenes->push_back(std::move(scene)); };
  add(dialogScene("apply-sheet", [](Play& p) {
    p.draftN1();
    p.window().planPanel()->applyButton()->click();
    return lastDialog(p);
  }));
  add(dialogScene("apply-sheet-unrecorded", [](Play& p) {
    p.draftN1();
    p.panel->model.setRecordProblem(QStringLiteral("lab-a.sqlite: database or disk is full"));
    p.panel->model.flush();
    p.trigger("plan.apply");
    return lastDialog(p);
  }));
  add(dialogScene("shortcuts", [](Play& p) {
    p.trigger("help.shortcuts");
    return lastDialog(p);
  }));
  add(dialogScene("doctor", [](Play& p) {
    p.panel->commands.checks = std::vector<engine::Check>{
        {0, "clock", engine::Check::Verdict::kOk, "within 0.1 s of this machine", ""},
        {0, "congestion control", engine::Check::Verdict::kSkipped, "not supported by this kernel",
         ""},
        {1, "/dev/fuse", engine::Check::Verdict::kWarning, "No such file or directory",
         "modprobe fuse; in a container: --device /dev/fuse"}};
    p.trigger("cluster.doctor");
    QTest::qWait(50);
    return lastDialog(p);
  }));
  // Dialogs that ask the cluster, in the order of the menu.
  for (const char* id : {"cluster.tuneJob", "cluster.checkpoints", "cluster.digest", "cluster.logs",
                         "cluster.stopJob", "cluster.links", "cluster.probe", "cluster.registrar",
                         "cluster.keys", "cluster.mount"}) {
    add(dialogScene(std::strchr(id, '.') + 1, [id](Play& p) {
      p.panel->commands.requestAnswer = SampleAnswer;
      p.connections.ownKeys = {{QStringLiteral("/home/lena/keys/laptop.key"),
                                true,
                                QStringLiteral("operator"),
                                QStringLiteral("rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"),
                                {}},
                               {QStringLiteral("/home/lena/keys/lecture.pub"),
                                false,
                                QStringLiteral("viewer"),
                                QStringLiteral("Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"),
                                {}}};
      p.trigger(id);
      QTest::qWait(50);
      return lastDialog(p);
    }));
  }
  add(dialogScene("digest-waiting", [](Play& p) {
    p.trigger("cluster.digest");
    return lastDialog(p);
  }));
  add(dialogScene("palette", [](Play& p) -> QWidget* {
    p.trigger("edit.goTo");
    return p.window().commandPalette();
  }));
  add(dialogScene("palette-nothing", [](Play& p) -> QWidget* {
    p.trigger("edit.goTo");
    QTest::keyClicks(p.window().commandPalette()->edit(), QStringLiteral("zzqx"));
    return p.window().commandPalette();
  }));
  add(dialogScene("guide", [](Play& p) -> QWidget* {
    p.trigger("help.guide");
    return p.window().helpWindow();
  }));
  add(dialogScene("about", [](Play& p) {
    p.trigger("help.about");
    return lastDialog(p);
  }));
  const char* const pages[] = {"general", "colours", "safety", "data", "shortcuts"};
  for (int page = 0; page < ui::SettingsDialog::NUM_PAGES; ++page) {
    const QByteArray name = QByteArray("settings-") + pages[page];
    add(dialogScene(name.constData(), [page](Play& p) -> QWidget* {
      p.trigger("file.settings");
      auto* dialog = p.child<ui::SettingsDialog>();
      dialog->showPage(static_cast<ui::SettingsDialog::Page>(page));
      return dialog;
    }));
  }
  add(dialogScene("connect", [](Play& p) -> QWidget* {
    p.trigger("file.connect");
    auto* dialog = p.child<ui::ConnectDialog>();
    dialog->testButton()->click();
    using enum ui::AgentTest::Verdict;
    p.connections.row({QStringLiteral("n0"), Reached, QStringLiteral("0.2.0"), {}});
    p.connections.row({QStringLiteral("n1"), VersionMismatch, QStringLiteral("0.0.9"),
                       QStringLiteral("apt install tessera")});
    p.connections.row({QStringLiteral("n3"), Unreachable, QStringLiteral("3 min"), {}});
    std::exchange(p.connections.testDone, nullptr)(OkStatus());
    return dialog;
  }));
  add(dialogScene("connect-add", [](Play& p) -> QWidget* {
    p.trigger("file.connect");
    auto* dialog = p.child<ui::ConnectDialog>();
    dialog->addButton()->click();
    QTest::keyClicks(dialog->form()->edit(ui::ProfileForm::Registrar), QStringLiteral("10.0.0.5"));
    return dialog;
  }));
  add({QStringLiteral("lesson"), []() -> Stage {
         struct Made {
           FakeRunner runner;
           std::unique_ptr<ui::ConsistencyLesson> lesson;
         };
         auto made = std::make_shared<Made>();
         made->runner.kept = FakeRunner::Result3(100);
         made->lesson = std::make_unique<ui::ConsistencyLesson>(made->runner);
         made->lesson->show();
         settle();
         QWidget* widget = made->lesson.get();
         return {std::move(made), widget};
       }});
}

/// A dialog without a window around it, on a cluster whose GPUs are idle.
struct StartJob {
  ui::ClusterModel model;
  SpyCommands commands{model};
  ui::Draft draft{model};
  ui::DraftPlan plan{draft, model, commands};
  ui::MoveControl control{model, draft, plan, commands};
  std::unique_ptr<ui::StartJobDialog> dialog;
};

/// The window beside a step of a lesson.
Scene lessonScene(const char* name, const char* lesson, int step, const Arrange& arrange) {
  return windowScene(name, {}, PanelCluster, [=](Play& p) {
    p.window().lessons().setAnimated(false);
    p.window().openLesson(QString::fromLatin1(lesson), step);
    settle();
    arrange(p);
  });
}

void addLessons(std::vector<Scene>* scenes) {
  const auto add = [&](Scene scene) { scenes->push_back(std::move(scene)); };
  add(lessonScene("lesson-question", "what-moves", 1, [](Play&) {}));
  add(lessonScene("lesson-answered", "what-moves", 1,
                  [](Play& p) { p.window().lessons().choose(1); }));
  add(lessonScene("lesson-task", "what-moves", 5, [](Play& p) {
    p.window().lessons().edit({kN1.begin(), kN1.end()}, true);
  }));
  add(lessonScene("lesson-swap", "replicas", 6, [](Play&) {}));
}

void addStartJob(std::vector<Scene>* scenes) {
  const auto add = [&](const char* name, const std::function<void(StartJob&)>& arrange) {
    scenes->push_back({QString::fromLatin1(name), [=]() -> Stage {
                         auto made = std::make_shared<StartJob>();
                         engine::ClusterSnapshot cluster = IdleCluster(2, 4);
                         cluster.cluster = "lab-a";
                         made->model.setSnapshot(cluster);
                         made->model.setLink(ui::LinkState::Connected, {});
                         made->model.flush();
                         made->control.setOperating(true);
                         made->dialog = std::make_unique<ui::StartJobDialog>(
                             made->model, made->control, made->commands, QStringLiteral("lab-a"));
                         made->dialog->show();
                         QTest::qWait(100);
                         arrange(*made);
                         QTest::qWait(100);
                         QWidget* widget = made->dialog.get();
                         return {std::move(made), widget};
                       }});
  };
  const auto type = [](StartJob& s, const QString& key, const char* text) {
    s.dialog->field(key)->setValue(QString::fromLatin1(text));
    emit s.dialog->field(key)->edited();
  };
  add("start-job", [](StartJob&) {});
  add("start-job-more", [](StartJob& s) { s.dialog->moreButton()->click(); });
  add("start-job-wrong", [type](StartJob& s) {
    type(s, ui::start_field::kBatch, "0");
    type(s, ui::start_field::kData, "texts; /data/books");
    s.control.setOperating(false);
  });
  for (const auto& [name, kind] :
       {std::pair("start-job-files", "files"), std::pair("start-job-exec", "exec")}) {
    add(name, [type, kind = kind](StartJob& s) {
      s.dialog->programs()->segment(ui::StartQuestions::Own)->click();
      type(s, ui::StartQuestions::kKind, kind);
    });
  }
  add("start-job-checkpoint", [type](StartJob& s) {
    s.commands.requestAnswer = SampleAnswer;
    s.dialog->programs()->segment(ui::StartQuestions::Stored)->click();
    type(s, ui::start_field::kCheckpoint, "/srv/checkpoints/gpt-mini-step-1200");
  });
}

}  // namespace

void setSceneSize(QSize size) { sceneSize() = size; }

const std::vector<Scene>& PanelScenes() {
  static const std::vector<Scene> scenes = [] {
    std::vector<Scene> made;
    addMesh(&made);
    addPlans(&made);
    addViews(&made);
    addStarts(&made);
    addDialogs(&made);
    addLessons(&made);
    addStartJob(&made);
    return made;
  }();
  return scenes;
}

}  // namespace tessera::test
