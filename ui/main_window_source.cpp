// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// Chooses what is shown: source, moment, selection, pane.

#include <QDockWidget>
#include <QPointer>
#include <QScopedValueRollback>
#include <QSplitter>
#include <QStatusBar>
#include <QTableView>
#include <QTreeView>
#include <utility>

#include "ui/connections.h"
#include "ui/dialogs/profile_tag.h"
#include "ui/format.h"
#include "ui/lessons/lesson_pane.h"
#include "ui/main_window_impl.h"
#include "ui/pages/events_page.h"
#include "ui/pages/flows_page.h"
#include "ui/pages/header_bar.h"
#include "ui/pages/history_page.h"
#include "ui/pages/navigator.h"
#include "ui/pages/plan_panel.h"
#include "ui/pages/timeline_page.h"
#include "ui/plots/job_plots.h"
#include "ui/settings/layout_keeper.h"
#include "ui/window/dock_sizes.h"
#include "ui/window/lesson_desk.h"
#include "ui/window/notices.h"
#include "ui/window/pane_focus.h"
#include "ui/window/presenter.h"

namespace tessera::ui {
namespace {

constexpr int kSayMs = 4000;

}  // namespace

void MainWindow::Impl::setSource(LayoutSource next) {
  if (next == LayoutSource::Past && !presenter->moment()) {
    const auto time = presenter->usualMoment();
    if (time && showMoment(*time)) return;  // which comes back here with a moment
    next = LayoutSource::Live;
  }
  if (next == LayoutSource::Draft && !control.draftBlockedReason().isEmpty())
    next = LayoutSource::Live;
  if (next == LayoutSource::Lesson && !lessons.isOpen() && !lessonDesk->openUsual())
    next = LayoutSource::Live;
  if (next != LayoutSource::Past) placePlayhead(std::nullopt);
  const bool wasLesson = presenter->isLesson();
  if (wasLesson && next != LayoutSource::Lesson) lessonDesk->leave();
  presenter->setSource(next);
  control.setLookingBack(next == LayoutSource::Past);
  control.setInLesson(next == LayoutSource::Lesson);
  if (start.keepLayout) {
    settings.set(Setting::Source,
                 next == LayoutSource::Draft ? QStringLiteral("draft") : QStringLiteral("live"));
  }
  header->setSource(next);
  proposal.setActive(next == LayoutSource::Draft);
  refreshSide();
  refresh();
  if (wasLesson || !presenter->isLesson()) return;
  rightDock->show();
  history->choose({});
  lessonDesk->enter();
}

bool MainWindow::Impl::showMoment(double time) {
  if (!presenter->chooseMoment(time)) return false;
  placePlayhead(time);
  if (presenter->isPast()) {
    refreshParts();
  } else {
    setSource(LayoutSource::Past);
  }
  return true;
}

void MainWindow::Impl::placePlayhead(std::optional<double> time) {
  // The playhead stays within the samples; the moment may be outside of them.
  const QScopedValueRollback<bool> quiet(placingPlayhead, true);
  timeline->plots()->setPlayhead(time);
}

void MainWindow::Impl::followPlayhead() {
  if (placingPlayhead) return;
  if (const auto time = timeline->plots()->playhead()) {
    showMoment(*time);
  } else if (presenter->source() == LayoutSource::Past) {
    setSource(LayoutSource::Live);
  }
}

void MainWindow::Impl::showMomentOf(const engine::HistoryEntry& entry) {
  const engine::JobStatus* job = model.job();
  if (job == nullptr || job->name != entry.job) {
    if (model.findJob(entry.job) == nullptr) {
      return showError(tr("The moment of change %1 cannot be shown: the cluster no longer has "
                          "job %2.")
                           .arg(entry.id)
                           .arg(QString::fromStdString(entry.job)));
    }
    model.chooseJob(entry.job);
    model.flush();
  }
  showMoment(entry.started);
}

void MainWindow::Impl::leaveDraft() {
  if (presenter->isDraft()) setSource(LayoutSource::Live);
}

void MainWindow::Impl::stepBack() {
  if (control.stopCountdown()) return;
  if (!selection.devices().empty()) return selection.setDevices({});
  if (history->chosen() != nullptr && presenter->isLive()) {
    history->choose({});
    return;
  }
  if (!presenter->isLive()) setSource(LayoutSource::Live);
}

void MainWindow::Impl::setComparing(bool compares) {
  presenter->setPinned(compares);
  const auto& pinned = presenter->pinned();
  timeline->plots()->setPinned(pinned ? std::optional(pinned->time) : std::nullopt);
  refreshSide();
  refreshParts();
}

void MainWindow::Impl::indexChanges() {
  presenter->indexChanges();
  refreshPastSwitch();
  if (presenter->source() == LayoutSource::Past) refresh();
  if (model.isFile() || !model.hasSnapshot()) return;  // a file has sent all its events
  commands.ask(NodeEventsRequest{}, [this, self = QPointer(&window)](auto answer) {
    if (self && answer) noteStates(*answer);
  });
}

void MainWindow::Impl::noteStates(const std::vector<engine::Event>& told) {
  if (presenter->noteStates(told) && presenter->isPast()) showMoment(presenter->moment()->time);
}

void MainWindow::Impl::showJob(const QString& name) {
  model.chooseJob(name.toStdString());
  model.flush();
  chooseNamed(name);
}

void MainWindow::Impl::chooseNamed(const QString& name) {
  std::set<ptc::DeviceId> devices;
  for (const engine::NodeStatus& node : presenter->shownModel().snapshot().nodes) {
    for (const engine::DeviceStatus& device : node.devices) {
      if (format::node(node.node) == name || format::device(device.id) == name ||
          (!device.job.empty() && QString::fromStdString(device.job) == name)) {
        devices.insert(device.id);
      }
    }
  }
  if (!devices.empty()) selection.setDevices(devices);
}

void MainWindow::Impl::followProfile() {
  const QString name = connections == nullptr ? QString() : connections->current();
  const ProfileTag tag = ProfileTag::load(settings, name);
  control.setOnlyLooking(!name.isEmpty() && tag.readOnly && !model.isFile());
  header->setTag(name.isEmpty() ? QColor(Qt::transparent) : tagColor(tag.color));
}

void MainWindow::Impl::resetLayout() {
  if (keeper != nullptr) keeper->forget();
  docks->arrange(DockSizes::Arrangement::Operate);
  if (auto* splitter = window.findChild<QSplitter*>(QStringLiteral("recordsSplitter")))
    splitter->setSizes({880, 560});
}

void MainWindow::Impl::nextPane(int direction) {
  QWidget* side = presenter->isDraft() ? static_cast<QWidget*>(planPanel->axisBox(ptc::Axis::kDp))
                  : presenter->isLesson() ? static_cast<QWidget*>(lessonPane)
                                          : nullptr;
  QList<QWidget*> panes{navigator->tree()};
  for (View* view : views) panes << view->focusTarget();
  panes << side << timeline->plots() << history->table() << flows->table() << events->table();
  focusNextPane(std::move(panes), direction);
}

void MainWindow::Impl::say(const QString& text) { window.statusBar()->showMessage(text, kSayMs); }

void MainWindow::Impl::showError(const QString& text) { notices->showError(text); }

}  // namespace tessera::ui
