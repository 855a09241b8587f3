// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// Chooses what is shown: source, moment, selection, pane.

#include <QDockWidget>
#include <QSpinBox>
#include <QStatusBar>
#include <QTableView>
#include <QTreeView>
#include <algorithm>
#include <utility>

#include "ui/canvas/mesh_view.h"
#include "ui/connections.h"
#include "ui/dialogs/profile_tag.h"
#include "ui/format.h"
#include "ui/lessons/lesson_pane.h"
#include "ui/main_window_impl.h"
#include "ui/pages/decision_panel.h"
#include "ui/pages/events_page.h"
#include "ui/pages/flows_page.h"
#include "ui/pages/header_bar.h"
#include "ui/pages/history_page.h"
#include "ui/pages/navigator.h"
#include "ui/pages/plan_panel.h"
#include "ui/pages/timeline_page.h"
#include "ui/plots/job_plots.h"
#include "ui/settings/layout_keeper.h"
#include "ui/views/mesh_page.h"
#include "ui/widgets/tabbed_pane.h"
#include "ui/window/centre_pane.h"
#include "ui/window/dock_sizes.h"
#include "ui/window/lesson_desk.h"
#include "ui/window/moment_desk.h"
#include "ui/window/pane_focus.h"
#include "ui/window/records_pane.h"
#include "ui/window/side_pane.h"

namespace tessera::ui {
namespace {

constexpr int kSayMs = 4000;

}  // namespace

void MainWindow::Impl::setSource(LayoutSource next) {
  if (next == LayoutSource::Past && !presenter->moment()) {
    const auto time = presenter->usualMoment();
    if (time && momentDesk->show(*time)) return;  // which comes back here with a moment
    next = LayoutSource::Live;
  }
  if (next == LayoutSource::Draft && !control.draftBlockedReason().isEmpty())
    next = LayoutSource::Live;
  if (next == LayoutSource::Lesson && !lessons.isOpen() && !lessonDesk->openUsual())
    next = LayoutSource::Live;
  if (next != LayoutSource::Past) momentDesk->leave();
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

void MainWindow::Impl::showDevices(const std::set<ptc::DeviceId>& devices) {
  centre->tabs()->setCurrent(centre->meshPage());
  selection.setDevices(devices);
  // A single GPU would fill the view. With its node around it, it is seen where it is.
  std::set<ptc::DeviceId> framed;
  for (const engine::NodeStatus& node : presenter->shownModel().snapshot().nodes) {
    const bool isChosen = std::ranges::any_of(
        devices, [&](ptc::DeviceId device) { return device.node == node.node; });
    if (!isChosen) continue;
    for (const engine::DeviceStatus& device : node.devices) framed.insert(device.id);
  }
  mesh->frame(framed);
  mesh->setFocus();
}

void MainWindow::Impl::followProfile() {
  const QString name = connections == nullptr ? QString() : connections->current();
  const ProfileTag tag = ProfileTag::load(settings, name);
  control.setOnlyLooking(!name.isEmpty() && tag.readOnly && !model.isFile());
  const QList<ProfileInfo> known = name.isEmpty() ? QList<ProfileInfo>() : connections->profiles();
  centre->decision()->setStartsNodes(std::ranges::any_of(known, [&](const ProfileInfo& profile) {
    return profile.name == name && !profile.folder.isEmpty();
  }));
  header->setTag(name.isEmpty() ? QColor(Qt::transparent) : tagColor(tag.color));
}

void MainWindow::Impl::resetLayout() {
  if (keeper != nullptr) keeper->forget();
  docks->arrange(DockSizes::Arrangement::Operate);
  records->resetWidths();
}

void MainWindow::Impl::nextPane(int direction) {
  QWidget* edited = presenter->isDraft()
                        ? static_cast<QWidget*>(side->plan()->axisBox(ptc::Axis::kDp))
                    : presenter->isLesson() ? side->lesson()
                                            : nullptr;
  QList<QWidget*> panes{navigator->tree()};
  for (View* view : centre->views()) panes << view->focusTarget();
  panes << edited << timeline->plots() << history->table() << records->flows()->table()
        << records->events()->table();
  focusNextPane(std::move(panes), direction);
}

void MainWindow::Impl::say(const QString& text) { window.statusBar()->showMessage(text, kSayMs); }

void MainWindow::Impl::showError(const QString& text) { centre->notices().showError(text); }

}  // namespace tessera::ui
