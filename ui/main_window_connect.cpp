// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// Connects the signals of the parts with the reactions of the window.
#include <QApplication>
#include <QMenu>
#include <QStatusBar>
#include <utility>

#include "ui/canvas/mesh_view.h"
#include "ui/connections.h"
#include "ui/format.h"
#include "ui/main_window_impl.h"
#include "ui/pages/change_details.h"
#include "ui/pages/compare_page.h"
#include "ui/pages/events_page.h"
#include "ui/pages/flows_page.h"
#include "ui/pages/history_page.h"
#include "ui/pages/inspector.h"
#include "ui/pages/navigator.h"
#include "ui/pages/notice_bar.h"
#include "ui/pages/plan_panel.h"
#include "ui/pages/progress_panel.h"
#include "ui/pages/state_page.h"
#include "ui/pages/timeline_page.h"
#include "ui/plots/job_plots.h"
#include "ui/views/colour_bar.h"
#include "ui/views/mesh_page.h"
#include "ui/widgets/tabbed_pane.h"

namespace tessera::ui {

void MainWindow::Impl::connectAll() {
  connect(&model, &ClusterModel::changed, this, &Impl::refresh);
  connect(&model, &ClusterModel::eventsAdded, events, &EventsPage::append);
  connect(&model, &ClusterModel::eventsAdded, timeline, &TimelinePage::addEvents);
  connect(&model, &ClusterModel::eventsAdded, this, &Impl::noteStates);
  connect(&model, &ClusterModel::cleared, this, [this] {
    nodeStates.clear();
    pinned.reset();
    timeline->plots()->setPinned({});
  });
  connect(&draft, &Draft::changed, this, &Impl::refresh);
  connect(&plan, &DraftPlan::changed, this, &Impl::refreshViews);
  connect(&control, &MoveControl::changed, this, [this] {
    actions->refresh();
    refreshStatus();
    refreshNotices();
    mesh->setReadOnly(!isMeshEditable());
  });
  // Others may then operate the cluster at once.
  connect(qApp, &QCoreApplication::aboutToQuit, this, [this] { control.setOperating(false); });
  connect(&control, &MoveControl::failed, this, &Impl::showError);
  connect(&control, &MoveControl::applied, this, [this] { setSource(LayoutSource::Live); });
  connect(&ageTimer, &QTimer::timeout, this, &Impl::refreshAge);
  errorTimer.setSingleShot(true);
  connect(&errorTimer, &QTimer::timeout, errorNotice, &QWidget::hide);

  connect(header, &HeaderBar::sourceChosen, this, &Impl::setSource);
  connect(mesh, &MeshView::devicesDropped, this,
          [this](const QList<ptc::DeviceId>& devices, bool into) { editByHand(devices, into); });
  connect(mesh, &MeshView::toggleRequested, this,
          [this](const QList<ptc::DeviceId>& devices) { editByHand(devices, std::nullopt); });
  connect(&selection, &SelectionModel::devicesChanged, this, [this] {
    navigator->setSelection(selection.devices());
    inspector->setSelection(selection.devices());
    if (!selection.devices().empty()) history->choose({});
    actions->refresh();
  });
  connect(&selection, &SelectionModel::linkChanged, this, [this] {
    // The newest choice counts; the facts of the same link change while bytes move.
    const QString title = selection.link() ? selection.link()->title : QString();
    if (title != std::exchange(linkTitle, title) && !title.isEmpty()) selection.setDevices({});
    showLink();
  });
  connect(mesh, &MeshView::activated, this, &Impl::leaveDraft);
  connect(mesh, &MeshView::swapRequested, this, &Impl::swapByHand);
  connect(mesh, &MeshView::jobRequested, this, &Impl::showJob);
  connect(mesh, &MeshView::refused, this, &Impl::say);
  connect(mesh, &MeshView::contextMenuRequested, this,
          [this](ptc::DeviceId device, const QPoint& at) {
            if (!selection.devices().contains(device)) chooseSelection({device});
            auto* menu = new QMenu(&window);
            menu->setAttribute(Qt::WA_DeleteOnClose);
            menu->setToolTipsVisible(true);
            for (const char* name : {"edit.toggle", "edit.cut", "edit.paste", "edit.selectNode",
                                     "plan.apply", "plan.discard", "plan.cancelMove"}) {
              menu->addAction(actions->find(QString::fromLatin1(name)));
            }
            menu->popup(at);
          });
  mesh->setDragHint([this](const QList<ptc::DeviceId>& devices, bool intoMesh) {
    Draft& edited = shownDraft();
    std::set<ptc::DeviceId> set = edited.deviceSet();
    for (const ptc::DeviceId device : devices) {
      if (intoMesh) {
        set.insert(device);
      } else {
        set.erase(device);
      }
    }
    return tr("%1 in %2 after the drop")
        .arg(format::gpus(static_cast<std::int64_t>(set.size())), edited.job());
  });

  connect(colours, &ColourBar::changed, this, [this] {
    if (start.keepLayout) {
      settings.set(
          Setting::Colouring,
          Settings::specOf(Setting::Colouring).choices[static_cast<int>(colours->colouring())]);
      settings.set(
          Setting::Grouping,
          Settings::specOf(Setting::Grouping).choices[static_cast<int>(colours->grouping())]);
    }
    refreshViews();
    actions->refresh();
  });
  connect(&states, &JobStates::changed, this, &Impl::refreshViews);
  connect(tabs, &TabbedPane::currentChanged, this, [this] {
    for (View* view : views) {
      if (view->widget() == tabs->current()) colours->setVisible(view->usesColours());
      colours->setGroupingShown(tabs->current() == static_cast<QWidget*>(meshPage));
    }
    showLink();
    refreshViews();
    actions->refresh();
  });
  connect(navigator, &Navigator::selectionChosen, this, &Impl::chooseSelection);
  connect(planPanel, &PlanPanel::applyRequested, this, &Impl::requestApply);
  connect(planPanel, &PlanPanel::discardRequested, this, &Impl::discard);
  connect(history, &HistoryPage::reverseRequested, this, &Impl::planReverse);
  connect(history, &HistoryPage::loaded, actions, &ActionRegistry::refresh);
  connect(history, &HistoryPage::failed, this, &Impl::showError);
  connect(history, &HistoryPage::chosenChanged, this, [this] {
    const engine::HistoryEntry* entry = history->chosen();
    selection.setChange(entry == nullptr ? std::nullopt : std::optional(entry->id));
    timeline->setSelected(selection.change());
    if (entry != nullptr) details->setEntry(*entry);
    refreshViews();
    refreshNotices();
    refreshSide();
    actions->refresh();
  });
  connect(timeline, &TimelinePage::failed, this, &Impl::showError);
  connect(&selection, &SelectionModel::devicesChanged, timeline,
          [this] { timeline->setDevices(selection.devices()); });
  const QString curves = QStringLiteral("plots/curves");
  if (const QString keys = settings.entry(curves); !keys.isEmpty())
    timeline->chooseCurves(parseCurves(keys));
  connect(timeline, &TimelinePage::curvesChosen, this,
          [this, curves](const QString& keys) { settings.setEntry(curves, keys); });
  connect(timeline->plots(), &JobPlots::playheadChanged, this, &Impl::followPlayhead);
  connect(history->model(), &QAbstractItemModel::modelReset, this, &Impl::indexChanges);
  connect(timeline, &TimelinePage::changeChosen, this,
          [this](qint64 txn) { selection.setChange(txn); });
  // Another view than the history chose a change.
  connect(&selection, &SelectionModel::changeChanged, this, [this] {
    const engine::HistoryEntry* entry = history->chosen();
    const auto known = entry == nullptr ? std::nullopt : std::optional(entry->id);
    if (known == selection.change()) return;
    if (history->choose(selection.change())) {
      leaveDraft();
    } else {
      selection.setChange(known);
    }
  });
  connect(details, &ChangeDetails::reverseRequested, this, &Impl::planReverse);
  connect(comparison, &ComparePage::closeRequested, this, [this] {
    if (comparison->moments()) return setComparing(false);
    history->choose({});
  });
  connect(timeline->plots(), &JobPlots::compareRequested, this, [this] {
    if (compareBlockedReason().isEmpty()) setComparing(!pinned);
  });
  connect(comparison, &ComparePage::failed, this, &Impl::showError);
  connect(&timeline->samples(), &SampleHistory::changed, this, &Impl::refreshPastSwitch);
  connect(details, &ChangeDetails::momentRequested, this, &Impl::showMomentOf);
  connect(details, &ChangeDetails::closeRequested, this, [this] { history->choose({}); });
  connect(flows, &FlowsPage::hasFlowsChanged, this, [this](bool has) {
    records->setTabVisible(flows, has);
    actions->refresh();
  });
  connect(events, &EventsPage::failed, this, &Impl::showError);
  connect(events, &EventsPage::sourceChosen, this, &Impl::chooseSource);
  connect(events, &EventsPage::momentChosen, this, &Impl::showMoment);
  connect(&model, &ClusterModel::cleared, this, [this] {
    events->clear();
    flows->clear();
    historyLoaded = false;
    if (source == LayoutSource::Past) setSource(LayoutSource::Live);
    followProfile();
  });
  connect(header, &HeaderBar::jobChosen, this, &Impl::showJob);
  connect(header, &HeaderBar::goToRequested, this, &Impl::openPalette);
  connect(state, &StatePage::retryRequested, this, [this] { commands.reconnect(); });
  connect(state, &StatePage::startRequested, this, &Impl::startLocal);
  connect(state, &StatePage::simulateRequested, this, &Impl::openSimulate);
  connect(state, &StatePage::connectRequested, this, &Impl::openConnect);
  connect(state, &StatePage::openRequested, this, &Impl::chooseHistoryFile);
  connect(linkNotice, &NoticeBar::actionTriggered, this, [this] {
    if (model.isFile()) {
      connections->closeHistory();
    } else {
      commands.reconnect();
    }
  });
  connect(jobNotice, &NoticeBar::actionTriggered, this, [this] {
    const engine::JobStatus* job = model.job();
    if (job == nullptr || job->state == engine::JobState::kStopped)
      return actions->find(QStringLiteral("cluster.startJob"))->trigger();
    if (const engine::DeviceStatus* slow = model.slowestDevice()) draft.remove({slow->id});
  });
  connect(tuningNotice, &NoticeBar::actionTriggered, this, [this] { control.stopTuning(); });
  connect(operatorNotice, &NoticeBar::actionTriggered, this, [this] { seat.takeOver(); });
  connect(&seat, &OperatorSeat::changed, this, [this] {
    refreshNotices();
    refreshStatus();
  });
  connect(errorNotice, &NoticeBar::actionTriggered, errorNotice, &QWidget::hide);
  connect(recordNotice, &NoticeBar::actionTriggered, this,
          [this] { openSettings(SettingsDialog::Data); });
  for (NoticeBar* notice : {draftNotice, pastNotice, lessonNotice}) {
    connect(notice, &NoticeBar::actionTriggered, this, [this] {
      if (comparedChanges()) history->choose({});
      setSource(LayoutSource::Live);
    });
  }
  connect(progress, &ProgressPanel::viewChanged, this, [this] {
    refreshTitle();
    refreshStatus();
  });
  connect(progress, &ProgressPanel::ended, this, [this] {
    history->reload();
    notifyOutcome();
    if (std::exchange(closeWhenRolledBack, false)) window.close();
  });
  connect(progress, &ProgressPanel::reportRequested, this, [this](qint64 txn) {
    const int row = history->model()->rowOf(txn);
    if (row >= 0) {
      saveReport(*history->model()->entry(row));
    } else {
      showError(tr("Change %1 is not in the history yet.").arg(txn));
    }
  });
  connect(details, &ChangeDetails::reportRequested, this, &Impl::saveReport);
  connect(progress, &ProgressPanel::reverseRequested, this, [this] {
    const auto& txn = model.snapshot().transaction;
    if (txn)
      draftLayout(txn->from_devices, txn->from_mesh, txn->from_options, tr("undo the last change"));
  });
  connect(progress, &ProgressPanel::againRequested, this, [this] {
    const auto& txn = model.snapshot().transaction;
    if (txn)
      draftLayout(txn->to_devices, txn->to_mesh, txn->to_options, tr("repeat the last change"));
  });
  connectLessons();
}

}  // namespace tessera::ui
