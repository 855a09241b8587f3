// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// Connects the signals of the parts with the reactions of the window.
#include <QApplication>
#include <QMenu>
#include <utility>

#include "ui/canvas/mesh_view.h"
#include "ui/connections.h"
#include "ui/lessons/lesson_pane.h"
#include "ui/main_window_impl.h"
#include "ui/models/sample_history.h"
#include "ui/pages/change_details.h"
#include "ui/pages/compare_page.h"
#include "ui/pages/events_page.h"
#include "ui/pages/header_bar.h"
#include "ui/pages/history_page.h"
#include "ui/pages/inspector.h"
#include "ui/pages/navigator.h"
#include "ui/pages/notice_bar.h"
#include "ui/pages/plan_panel.h"
#include "ui/pages/progress_panel.h"
#include "ui/pages/state_page.h"
#include "ui/pages/timeline_page.h"
#include "ui/views/colour_bar.h"
#include "ui/views/mesh_page.h"
#include "ui/widgets/tabbed_pane.h"
#include "ui/window/applied_settings.h"
#include "ui/window/centre_pane.h"
#include "ui/window/change_reports.h"
#include "ui/window/cluster_chooser.h"
#include "ui/window/desktop_notices.h"
#include "ui/window/draft_desk.h"
#include "ui/window/lesson_desk.h"
#include "ui/window/moment_desk.h"
#include "ui/window/records_pane.h"
#include "ui/window/side_pane.h"
#include "ui/window/window_dialogs.h"

namespace tessera::ui {

void MainWindow::Impl::connectAll() {
  connectModels();
  connectMesh();
  connectViews();
  connectRecords();
  connectNotices();
  connectChange();
}

void MainWindow::Impl::connectModels() {
  connect(&model, &ClusterModel::changed, this, &Impl::refresh);
  connect(&model, &ClusterModel::cleared, this, [this] {
    followProfile();
    selection.clear();
  });
  connect(&model, &ClusterModel::startedAnew, this, [this] {
    say(tr("The cluster was started anew. What is shown here begins with this start."));
  });
  connect(&draft, &Draft::changed, this, &Impl::refresh);
  connect(&plan, &DraftPlan::changed, this, &Impl::refreshViews);
  connect(&control, &MoveControl::changed, this, [this] {
    actions->refresh();
    refreshStatus();
    refreshNotices();
    refreshEditable();
    header->refresh();
  });
  // Others may then operate the cluster at once.
  connect(qApp, &QCoreApplication::aboutToQuit, this, [this] { control.setOperating(false); });
  connect(&control, &MoveControl::failed, this, [this](const QString& message) {
    closeWhenRolledBack = false;  // the change can no longer be rolled back
    showError(message);
  });
  connect(&control, &MoveControl::applied, this, [this] { setSource(LayoutSource::Live); });
  connect(&seat, &OperatorSeat::changed, this, [this] {
    refreshNotices();
    refreshStatus();
  });
  connect(&states, &JobStates::changed, this, &Impl::refreshViews);
  connect(&ageTimer, &QTimer::timeout, this, &Impl::refreshAge);
  connect(&selection, &SelectionModel::devicesChanged, this, [this] {
    navigator->setSelection(selection.devices());
    side->inspector()->setSelection(selection.devices());
    actions->refresh();
  });
  connect(&selection, &SelectionModel::linkChanged, this, [this] {
    // The newest choice counts; the facts of the same link change while bytes move.
    const QString title = selection.link() ? selection.link()->title : QString();
    if (title != std::exchange(linkTitle, title) && !title.isEmpty()) selection.setDevices({});
    showLink();
  });
}

void MainWindow::Impl::connectMesh() {
  connect(
      mesh, &MeshView::devicesDropped, this,
      [this](const QList<ptc::DeviceId>& devices, bool into) { draftDesk->edit(devices, into); });
  connect(mesh, &MeshView::toggleRequested, this,
          [this](const QList<ptc::DeviceId>& devices) { draftDesk->edit(devices, std::nullopt); });
  connect(mesh, &MeshView::swapRequested, draftDesk.get(), &DraftDesk::swap);
  mesh->setDragHint([this](const QList<ptc::DeviceId>& devices, bool intoMesh) {
    return draftDesk->dropHint(devices, intoMesh);
  });
  connect(mesh, &MeshView::activated, this, &Impl::leaveDraft);
  connect(mesh, &MeshView::jobRequested, this, &Impl::showJob);
  connect(mesh, &MeshView::refused, this, &Impl::say);
  connect(mesh, &MeshView::contextMenuRequested, this,
          [this](ptc::DeviceId device, const QPoint& at) {
            if (!selection.devices().contains(device)) selection.setDevices({device});
            auto* menu = new QMenu(&window);
            menu->setAttribute(Qt::WA_DeleteOnClose);
            menu->setToolTipsVisible(true);
            for (const char* name : {"edit.toggle", "edit.cut", "edit.paste", "edit.selectNode",
                                     "plan.apply", "plan.discard", "plan.cancelMove"}) {
              menu->addAction(actions->find(QString::fromLatin1(name)));
            }
            menu->popup(at);
          });
}

void MainWindow::Impl::connectViews() {
  connect(header, &HeaderBar::sourceChosen, this, &Impl::setSource);
  connect(header, &HeaderBar::jobChosen, this, &Impl::showJob);
  connect(header, &HeaderBar::goToRequested, dialogs.get(), &WindowDialogs::openPalette);
  connect(colours, &ColourBar::changed, this, [this] {
    if (start.keepLayout) applied->storeLooks();
    refreshViews();
    actions->refresh();
  });
  connect(centre->tabs(), &TabbedPane::currentChanged, this, [this] {
    showLink();
    refreshViews();
    actions->refresh();
  });
  connect(navigator, &Navigator::selectionChosen, this,
          [this](const Devices& devices) { selection.setDevices(devices); });
  connect(side->plan(), &PlanPanel::applyRequested, draftDesk.get(), &DraftDesk::requestApply);
  connect(side->plan(), &PlanPanel::discardRequested, draftDesk.get(), &DraftDesk::discard);
  LessonPane* lessonPane = side->lesson();
  connect(lessonPane, &LessonPane::lessonChosen, this,
          [this](const QString& name) { lessonDesk->open(name); });
  connect(lessonPane, &LessonPane::experimentRequested, dialogs.get(),
          [this] { dialogs->openExperiment(); });
  connect(lessonPane, &LessonPane::devicesHovered, &selection, &SelectionModel::setHovered);
  lessonPane->setExperimentBlocked(start.experiment == nullptr
                                       ? tr("This panel cannot start programs on this machine.")
                                       : QString());
  const StatePage* state = centre->meshPage()->state();
  connect(state, &StatePage::retryRequested, this, [this] { commands.reconnect(); });
  connect(state, &StatePage::startRequested, clusters.get(), &ClusterChooser::startLocal);
  connect(state, &StatePage::learnRequested, this, [this] { setSource(LayoutSource::Lesson); });
  connect(state, &StatePage::demoRequested, clusters.get(), &ClusterChooser::watchDemo);
  connect(state, &StatePage::startAgainRequested, clusters.get(), &ClusterChooser::startAgain);
  connect(state, &StatePage::historyRequested, this, [this] {
    if (stoppedCluster) clusters->openHistory(stoppedCluster->history);
  });
  connect(state, &StatePage::simulateRequested, clusters.get(), &ClusterChooser::openSimulate);
  connect(state, &StatePage::connectRequested, clusters.get(), &ClusterChooser::openDialog);
  connect(state, &StatePage::openRequested, clusters.get(), &ClusterChooser::chooseHistoryFile);
}

void MainWindow::Impl::connectRecords() {
  connect(history, &HistoryPage::reverseRequested, draftDesk.get(), &DraftDesk::reverse);
  connect(history, &HistoryPage::chosenChanged, this, [this] {
    const engine::HistoryEntry* entry = history->chosen();
    if (entry != nullptr) side->details()->setEntry(*entry);
    refreshViews();
    refreshNotices();
    refreshSide();
    actions->refresh();
  });
  connect(&timeline->samples(), &SampleHistory::changed, this, &Impl::refreshPastSwitch);
  const ComparePage* comparison = side->comparison();
  connect(comparison, &ComparePage::closeRequested, this, [this, comparison] {
    if (comparison->moments()) return momentDesk->setComparing(false);
    history->choose({});
  });
  connect(comparison, &ComparePage::failed, this, &Impl::showError);
  const ChangeDetails* details = side->details();
  connect(details, &ChangeDetails::reverseRequested, draftDesk.get(), &DraftDesk::reverse);
  connect(details, &ChangeDetails::momentRequested, momentDesk.get(), &MomentDesk::showBegin);
  connect(details, &ChangeDetails::reportRequested, reports.get(), &ChangeReports::save);
  connect(details, &ChangeDetails::closeRequested, this, [this] { history->choose({}); });
  const EventsPage* events = records->events();
  connect(events, &EventsPage::sourceChosen, this, &Impl::chooseNamed);
  connect(events, &EventsPage::momentChosen, momentDesk.get(), &MomentDesk::show);
}

void MainWindow::Impl::connectNotices() {
  const auto on = [this](Notice which, auto reaction) {
    connect(centre->notices().bar(which), &NoticeBar::actionTriggered, this, std::move(reaction));
  };
  on(Notice::Link, [this] {
    if (model.isFile()) {
      connections->closeHistory();
    } else {
      commands.reconnect();
    }
  });
  on(Notice::Job, [this] {
    const engine::JobStatus* job = model.job();
    if (job == nullptr || job->state == engine::JobState::kStopped)
      return actions->find(QStringLiteral("cluster.startJob"))->trigger();
    if (const engine::DeviceStatus* slow = model.slowestDevice()) draft.remove({slow->id});
  });
  on(Notice::Tuning, [this] { control.stopTuning(); });
  on(Notice::Operator, [this] { seat.takeOver(); });
  on(Notice::Record, [this] { dialogs->openSettings(SettingsDialog::Data); });
  for (const Notice which : {Notice::Draft, Notice::Past, Notice::Lesson}) {
    on(which, [this] {
      if (presenter->comparedChanges() != nullptr) history->choose({});
      setSource(LayoutSource::Live);
    });
  }
}

void MainWindow::Impl::connectChange() {
  connect(progress, &ProgressPanel::viewChanged, this, [this] {
    refreshTitle();
    refreshStatus();
  });
  connect(progress, &ProgressPanel::ended, this, [this] {
    history->reload();
    if (const auto& view = progress->view()) desktop->tellOutcome(*view);
    if (std::exchange(closeWhenRolledBack, false)) window.close();
  });
  connect(progress, &ProgressPanel::reportRequested, reports.get(), &ChangeReports::saveOf);
  connect(progress, &ProgressPanel::reverseRequested, this, [this] {
    if (const auto& txn = model.snapshot().transaction)
      draftDesk->replace(txn->from_devices, txn->from_mesh, txn->from_options,
                         tr("undo the last change"));
  });
  connect(progress, &ProgressPanel::againRequested, this, [this] {
    if (const auto& txn = model.snapshot().transaction)
      draftDesk->replace(txn->to_devices, txn->to_mesh, txn->to_options,
                         tr("repeat the last change"));
  });
}

}  // namespace tessera::ui
