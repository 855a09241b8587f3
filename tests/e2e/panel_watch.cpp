// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/panel_watch.h"

#include <unistd.h>

#include <QApplication>
#include <QPushButton>
#include <QTreeView>
#include <fstream>
#include <set>

#include "ui/actions/action_registry.h"
#include "ui/canvas/mesh_view.h"
#include "ui/format.h"
#include "ui/lessons/lesson_session.h"
#include "ui/models/cluster_tree_model.h"
#include "ui/pages/header_bar.h"
#include "ui/pages/navigator.h"
#include "ui/pages/plan_panel.h"
#include "ui/pages/progress_panel.h"
#include "ui/widgets/segmented_switch.h"

namespace tessera::test {
namespace {

constexpr int kMostWindows = 8;  // a dialog each, and those that Qt keeps

QString NamesOf(const std::set<ptc::DeviceId>& devices) {
  QStringList names;
  for (const ptc::DeviceId device : devices) names << ui::format::device(device);
  return names.isEmpty() ? QStringLiteral("none") : names.join(u',');
}

}  // namespace

PanelWatch::PanelWatch(ui::MainWindow& window, ui::ClusterModel& model, WatchedCommands& commands)
    : m_window(window), m_model(model), m_commands(commands), m_bottom(window.draft()->edits()) {
  // Where the draft follows a new layout, the stack is cleared, and what then differs from the
  // layout stays: that is what undoing all leads to. A new edit changes the draft before it is on
  // the stack, so its change of an empty stack is taken back.
  connect(window.draft()->undoStack(), &QUndoStack::indexChanged, this, [this] {
    const bool isEmpty = m_window.draft()->undoStack()->count() == 0;
    if (isEmpty) {
      m_bottom = m_window.draft()->edits();
    } else if (m_replaced) {
      m_bottom = *m_replaced;
    }
    m_replaced.reset();
  });
  connect(window.draft(), &ui::Draft::changed, this, [this] {
    if (m_window.draft()->undoStack()->count() == 0)
      m_replaced = std::exchange(m_bottom, m_window.draft()->edits());
  });
  connect(window.progressPanel(), &ui::ProgressPanel::viewChanged, this,
          &PanelWatch::checkProgress);
}

ui::LayoutSource PanelWatch::source() const {
  const auto* header = m_window.findChild<ui::HeaderBar*>();
  return static_cast<ui::LayoutSource>(header->findChild<ui::SegmentedSwitch*>()->current());
}

QString PanelWatch::forbidden() const {
  if (!m_window.isOperating()) return QStringLiteral("it is in Monitor");
  switch (source()) {
    case ui::LayoutSource::Past:
      return QStringLiteral("it shows the past");
    case ui::LayoutSource::Lesson:
      return QStringLiteral("it shows a lesson");
    case ui::LayoutSource::Live:
    case ui::LayoutSource::Draft:
      break;
  }
  if (m_model.link() != ui::LinkState::Connected) return QStringLiteral("it has no connection");
  return {};
}

void PanelWatch::report(const QString& text) {
  if (!m_wrong.contains(text)) m_wrong << text;
}

void PanelWatch::check() {
  m_model.flush();
  checkApply();
  checkSelection();
  checkProgress();
  checkWindows();
  for (const QString& sent : std::exchange(m_commands.wrong, {})) report(sent);
}

void PanelWatch::checkApply() {
  const QAction* action = m_window.actions()->find(QStringLiteral("plan.apply"));
  const QPushButton* button = m_window.planPanel()->applyButton();
  if (action->isEnabled() != button->isEnabled())
    report(QStringLiteral("Apply is %1 in the menu and %2 in the plan, source %3: %4 | %5")
               .arg(action->isEnabled())
               .arg(button->isEnabled())
               .arg(static_cast<int>(source()))
               .arg(action->toolTip(), button->toolTip()));
  if (!action->isEnabled()) {
    if (action->toolTip().isEmpty()) report(QStringLiteral("Apply is off without a reason"));
    return;
  }
  if (const QString reason = forbidden(); !reason.isEmpty())
    report(QStringLiteral("Apply is on although %1").arg(reason));
  if (m_model.runningTxn() != nullptr)
    report(QStringLiteral("Apply is on while a change is in progress"));
  const auto& planned = m_commands.planned();
  const engine::JobStatus* job = m_model.findJob(m_window.draft()->job().toStdString());
  if (m_window.draft()->isEmpty() || job == nullptr) {
    report(QStringLiteral("Apply is on without a draft"));
  } else if (!planned || planned->request != m_window.draft()->request()) {
    report(QStringLiteral("Apply is on without a plan of this draft"));
  } else if (planned->summary.epoch != job->epoch) {
    report(QStringLiteral("Apply is on with a plan of epoch %1, the job has %2")
               .arg(planned->summary.epoch)
               .arg(job->epoch));
  }
}

void PanelWatch::checkSelection() {
  const auto* tree = m_window.findChild<ui::Navigator*>()->tree();
  const auto* nodes = qobject_cast<const ui::ClusterTreeModel*>(tree->model());
  std::set<ptc::DeviceId> inTree;
  for (const QModelIndex& index : tree->selectionModel()->selectedIndexes()) {
    if (const auto device = nodes->device(index)) inTree.insert(*device);
    for (int row = 0; row < nodes->rowCount(index); ++row)
      if (const auto device = nodes->device(nodes->index(row, 0, index))) inTree.insert(*device);
  }
  const auto& inMesh = m_window.meshView()->selection();
  if (inTree != inMesh)
    report(QStringLiteral("selected in the mesh: %1, in the navigator: %2")
               .arg(NamesOf(inMesh), NamesOf(inTree)));
}

void PanelWatch::checkProgress() {
  const ui::ProgressPanel* panel = m_window.progressPanel();
  const auto& txn = m_model.snapshot().transaction;
  const auto part = panel->overall();
  if (!txn || !part) return;
  double& reached = m_progress[txn->id];
  if (*part < reached - 1e-9)
    report(QStringLiteral("change %1 was at %2, now at %3").arg(txn->id).arg(reached).arg(*part));
  reached = std::max(reached, *part);
}

void PanelWatch::checkWindows() {
  if (const QWidget* modal = QApplication::activeModalWidget())
    report(QStringLiteral("%1 '%2' stays open")
               .arg(QLatin1String(modal->metaObject()->className()), modal->windowTitle()));
  int shown = 0;
  for (const QWidget* each : QApplication::topLevelWidgets()) shown += each->isVisible() ? 1 : 0;
  if (shown > kMostWindows) report(QStringLiteral("%1 windows are open").arg(shown));
}

void PanelWatch::checkUndo() {
  ui::Draft& draft = *m_window.draft();
  if (source() == ui::LayoutSource::Lesson) return;
  QAction* undo = m_window.actions()->find(QStringLiteral("edit.undo"));
  int undone = 0;
  for (; undo->isEnabled() && draft.undoStack()->canUndo(); ++undone) undo->trigger();
  if (draft.undoStack()->canUndo()) return;  // a change in progress forbids it
  if (draft.edits() != m_bottom)
    report(QStringLiteral("undoing %1 edits does not restore the draft before them").arg(undone));
  if (m_bottom == ui::Draft::Edits{}) {
    const engine::JobStatus* job = m_model.job();
    if (!draft.isEmpty()) report(QStringLiteral("undoing all edits leaves some"));
    if (job != nullptr && draft.devices() != job->devices)
      report(QStringLiteral("undoing all edits does not restore the GPUs of Live"));
  }
  QAction* redo = m_window.actions()->find(QStringLiteral("edit.redo"));
  for (int i = 0; i < undone / 2 && redo->isEnabled(); ++i) redo->trigger();
}

std::int64_t PanelWatch::residentBytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t total = 0, resident = 0, shared = 0;
  file >> total >> resident >> shared;
  return (resident - shared) * ::sysconf(_SC_PAGESIZE);
}

}  // namespace tessera::test
