// SPDX-License-Identifier: GPL-3.0-or-later
#include <QApplication>
#include <QCloseEvent>
#include <QDockWidget>
#include <QMessageBox>
#include <QPushButton>
#include <QSpinBox>
#include <QStatusBar>
#include <QTableView>
#include <QTreeView>
#include <utility>

#include "ui/canvas/mesh_view.h"
#include "ui/format.h"
#include "ui/lessons/consistency_lesson.h"
#include "ui/lessons/lesson_pane.h"
#include "ui/main_window_impl.h"
#include "ui/pages/apply_sheet.h"
#include "ui/pages/decision_panel.h"
#include "ui/pages/events_page.h"
#include "ui/pages/flows_page.h"
#include "ui/pages/header_bar.h"
#include "ui/pages/history_page.h"
#include "ui/pages/navigator.h"
#include "ui/pages/notice_bar.h"
#include "ui/pages/plan_panel.h"
#include "ui/pages/progress_panel.h"
#include "ui/pages/timeline_page.h"
#include "ui/plots/job_plots.h"
#include "ui/settings/layout_keeper.h"
#include "ui/widgets/tabbed_pane.h"

namespace tessera::ui {
namespace {

constexpr int kLowBottomHeight = 150;  // in windows lower than kLowWindow
constexpr int kLowWindow = 800;
constexpr int kErrorSeconds = 15;

std::vector<ptc::DeviceId> toVector(const QList<ptc::DeviceId>& devices) {
  return {devices.begin(), devices.end()};
}

}  // namespace

MainWindow::MainWindow(ClusterModel& model, ClusterCommands& commands, WindowOptions options,
                       QWidget* parent)
    : QMainWindow(parent), m_impl(std::make_unique<Impl>(*this, model, commands, options)) {
  MoveControl& control = m_impl->control;
  if (options.readonly) control.setReadOnly();
  if (options.operate) control.setOperating(true);
  if (options.live) control.setLive(true);
  m_impl->build();
}

// The views use parts of Impl until they are gone.
MainWindow::~MainWindow() {
  m_impl->tabs->disconnect(m_impl.get());
  m_impl->views.clear();
  delete centralWidget();
}

MeshView* MainWindow::meshView() const { return m_impl->mesh; }
Draft* MainWindow::draft() const { return &m_impl->draft; }
PlanPanel* MainWindow::planPanel() const { return m_impl->planPanel; }
ProgressPanel* MainWindow::progressPanel() const { return m_impl->progress; }
ActionRegistry* MainWindow::actions() const { return m_impl->actions; }
Settings& MainWindow::settings() const { return m_impl->settings; }
CommandPalette* MainWindow::commandPalette() const { return m_impl->palette; }
HelpWindow* MainWindow::helpWindow() const { return m_impl->help; }
ConsistencyLesson* MainWindow::lesson() const { return m_impl->lesson; }
LessonSession& MainWindow::lessons() const { return m_impl->lessons; }
LessonPane* MainWindow::lessonPane() const { return m_impl->lessonPane; }
bool MainWindow::openLesson(const QString& nameOrFile, int step) {
  return m_impl->openLessonOf(nameOrFile, step);
}
bool MainWindow::isPlaced() const { return m_impl->placed; }
bool MainWindow::isOperating() const { return m_impl->control.isOperating(); }
bool MainWindow::isLiveMode() const { return m_impl->control.isLive(); }
bool MainWindow::isCountingDown() const { return m_impl->control.isCountingDown(); }
bool MainWindow::grabTo(const QString& file) { return grab().save(file, "PNG"); }

void MainWindow::Impl::setSource(LayoutSource next) {
  if (next == LayoutSource::Past && !moment) {
    const auto time = usualMoment();
    if (time && showMoment(*time)) return;  // which comes back here with a moment
    next = LayoutSource::Live;
  }
  if (next == LayoutSource::Draft && !control.draftBlockedReason().isEmpty()) {
    next = LayoutSource::Live;
  }
  if (next == LayoutSource::Lesson && !lessons.isOpen() && !openUsualLesson()) {
    next = LayoutSource::Live;
  }
  if (next != LayoutSource::Past) leavePast();
  if (source == LayoutSource::Lesson && next != LayoutSource::Lesson) leaveLesson();
  const bool entersLesson = source != LayoutSource::Lesson && next == LayoutSource::Lesson;
  source = next;
  control.setLookingBack(source == LayoutSource::Past);
  control.setInLesson(source == LayoutSource::Lesson);
  if (start.keepLayout) {
    settings.set(Setting::Source,
                 source == LayoutSource::Draft ? QStringLiteral("draft") : QStringLiteral("live"));
  }
  header->setSource(source);
  proposal.setActive(source == LayoutSource::Draft);
  refreshSide();
  refresh();
  if (entersLesson) enterLesson();
}

void MainWindow::Impl::editByHand(const QList<ptc::DeviceId>& devices,
                                  std::optional<bool> intoMesh) {
  if (source == LayoutSource::Lesson) return lessons.edit(toVector(devices), intoMesh);
  if (const QString reason = control.editBlockedReason(); !reason.isEmpty()) {
    window.statusBar()->showMessage(reason, 4000);
    return;
  }
  const Draft::Edits before = draft.edits();
  if (!intoMesh) {
    draft.toggle(toVector(devices));
  } else if (*intoMesh) {
    draft.add(toVector(devices));
  } else {
    draft.remove(toVector(devices));
  }
  if (draft.edits() == before) return;
  setSource(LayoutSource::Draft);
  control.draftEditedByHand();
}

void MainWindow::Impl::swapByHand(const QList<ptc::DeviceId>& devices,
                                  const QList<ptc::DeviceId>& others) {
  if (source == LayoutSource::Lesson) {
    const Status swapped = lessons.swap(toVector(devices), toVector(others));
    if (!swapped) say(QString::fromStdString(swapped.error().message));
    return;
  }
  if (const QString reason = control.editBlockedReason(); !reason.isEmpty()) return say(reason);
  const Draft::Edits before = draft.edits();
  const Status swapped = draft.swap(toVector(devices), toVector(others), plan.summary().get());
  if (!swapped) return say(QString::fromStdString(swapped.error().message));
  if (draft.edits() == before) return;
  setSource(LayoutSource::Draft);
  control.draftEditedByHand();
}

void MainWindow::Impl::requestApply() {
  if (const QString reason = control.applyBlockedReason(); !reason.isEmpty()) {
    window.statusBar()->showMessage(reason, 4000);
    return;
  }
  control.stopCountdown();
  if (!mustConfirm(*plan.summary())) {
    control.apply();
    return;
  }
  auto* sheet = new ApplySheet(model, plan, control, &window);
  sheet->setAttribute(Qt::WA_DeleteOnClose);
  connect(sheet, &QDialog::accepted, this, [this, sheet] {
    control.apply(sheet->isUnrecordedAllowed() ? Unrecorded::Allow : Unrecorded::Refuse);
  });
  sheet->open();
}

void MainWindow::Impl::discard() {
  control.stopCountdown();
  draft.discard();
  setSource(LayoutSource::Live);
}

void MainWindow::Impl::stepBack() {
  if (control.stopCountdown()) return;
  if (!selection.devices().empty()) {
    selection.setDevices({});
    return;
  }
  if (history->chosen() != nullptr && source == LayoutSource::Live) {
    history->choose({});
    return;
  }
  if (source != LayoutSource::Live) setSource(LayoutSource::Live);
}

void MainWindow::Impl::planReverse(const engine::HistoryEntry& entry) {
  const auto before = ptc::ParseDeviceMesh(entry.from);
  if (!before) {
    showError(
        tr("Change %1 cannot be undone: %2.").arg(entry.id).arg(format::error(before.error())));
    return;
  }
  if (QString::fromStdString(entry.job) != draft.job()) {
    showError(tr("Change %1 belongs to job %2, which is not the job shown.")
                  .arg(entry.id)
                  .arg(QString::fromStdString(entry.job)));
    return;
  }
  draftLayout(before->devices(), before->shape(), entry.from_options,
              tr("undo change %1").arg(entry.id));
}

void MainWindow::Impl::draftLayout(const std::vector<ptc::DeviceId>& devices,
                                   const ptc::MeshShape& layout, const engine::StepOptions& options,
                                   const QString& name) {
  if (const QString reason = control.editBlockedReason(); !reason.isEmpty()) {
    return showError(reason);
  }
  draft.replace(devices, layout, name, options);
  setSource(LayoutSource::Draft);
}

void MainWindow::Impl::chooseSelection(const std::set<ptc::DeviceId>& devices) {
  selection.setDevices(devices);
}

void MainWindow::Impl::chooseSource(const QString& name) {
  std::set<ptc::DeviceId> devices;
  for (const engine::NodeStatus& node : shownModel().snapshot().nodes) {
    for (const engine::DeviceStatus& device : node.devices) {
      if (format::node(node.node) == name || format::device(device.id) == name ||
          (!device.job.empty() && QString::fromStdString(device.job) == name)) {
        devices.insert(device.id);
      }
    }
  }
  if (!devices.empty()) chooseSelection(devices);
}

void MainWindow::Impl::say(const QString& text) { window.statusBar()->showMessage(text, 4000); }

void MainWindow::Impl::showError(const QString& text) {
  errorNotice->say(Surface::Tone::Problem, text, tr("Dismiss"));
  errorTimer.start(kErrorSeconds * 1000);
}

void MainWindow::Impl::nextPane(int direction) {
  QWidget* side = source == LayoutSource::Draft
                      ? static_cast<QWidget*>(planPanel->axisBox(ptc::Axis::kDp))
                  : source == LayoutSource::Lesson ? static_cast<QWidget*>(lessonPane)
                                                   : nullptr;
  QList<QWidget*> panes{navigator->tree()};
  for (View* view : views) panes << view->focusTarget();
  panes << side << timeline->plots() << history->table() << flows->table() << events->table();
  panes.removeIf([](const QWidget* pane) {
    return pane == nullptr || !pane->isVisible() || !pane->isEnabled();
  });
  if (panes.isEmpty()) return;
  const auto inPane = [](const QWidget* pane, const QWidget* focus) {
    return focus != nullptr && (pane == focus || pane->isAncestorOf(focus));
  };
  qsizetype at = direction > 0 ? -1 : 0;
  for (qsizetype i = 0; i < panes.size(); ++i) {
    if (inPane(panes[i], QApplication::focusWidget())) at = i;
  }
  panes[(at + direction + panes.size()) % panes.size()]->setFocus(Qt::TabFocusReason);
}

void MainWindow::Impl::setTheme(ThemeMode mode) {
  if (auto* application = qobject_cast<QApplication*>(QCoreApplication::instance())) {
    applyTheme(*application, mode);
  }
}

void MainWindow::Impl::fitRecords() {
  // In a low window the canvas gets the height, unless the user set that of the pane.
  const int wanted = window.height() < kLowWindow ? kLowBottomHeight : kBottomHeight;
  const int height = squeezedFrom.value_or(bottomDock->height());
  if (wanted == recordsHeight || height != recordsHeight) return;
  recordsHeight = wanted;
  if (squeezedFrom) squeezedFrom = wanted;
  window.resizeDocks({bottomDock}, {wanted}, Qt::Vertical);
}

void MainWindow::Impl::watchRecords(const QResizeEvent& event) {
  const bool hasCard = progress->isVisible() || decision->isVisible();
  const bool byUser = QGuiApplication::mouseButtons() != Qt::NoButton;
  if (!hasCard || byUser || squeezedFrom) return;
  if (event.size().height() < event.oldSize().height()) squeezedFrom = event.oldSize().height();
}

void MainWindow::Impl::restoreRecords() {
  if (!squeezedFrom) return;
  if (bottomDock->height() < *squeezedFrom) {
    window.resizeDocks({bottomDock}, {*squeezedFrom}, Qt::Vertical);
  }
  squeezedFrom.reset();
}

bool MainWindow::Impl::eventFilter(QObject* watched, QEvent* event) {
  switch (event->type()) {
    case QEvent::KeyPress:
    case QEvent::MouseButtonPress:
    case QEvent::Wheel:
    case QEvent::Drop:
      control.noteInput();
      break;
    case QEvent::Resize:
      if (watched == bottomDock && progress != nullptr) {
        watchRecords(*static_cast<QResizeEvent*>(event));
      }
      break;
    case QEvent::Hide:
      if (watched == progress || watched == decision) {
        QTimer::singleShot(0, this, &Impl::restoreRecords);  // the layout follows first
      }
      break;
    default:
      break;
  }
  return QObject::eventFilter(watched, event);
}

bool MainWindow::event(QEvent* event) {
  switch (event->type()) {
    case QEvent::Resize: {
      const bool done = QMainWindow::event(event);
      if (m_impl && m_impl->bottomDock != nullptr && isVisible()) m_impl->fitRecords();
      return done;
    }
    case QEvent::PaletteChange:
    case QEvent::ApplicationPaletteChange:
      if (m_impl && m_impl->header != nullptr) {
        m_impl->actions->refreshIcons();
        m_impl->planPanel->refresh();
        m_impl->followProfile();
      }
      break;
    default:
      break;
  }
  return QMainWindow::event(event);
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (m_impl->keeper != nullptr) m_impl->keeper->capture();
  // The question below is about the present.
  if (m_impl->source == LayoutSource::Past || m_impl->source == LayoutSource::Lesson) {
    m_impl->setSource(LayoutSource::Live);
  }
  const engine::TxnStatus* txn = m_impl->model.runningTxn();
  if (txn == nullptr || !txn->can_cancel || !m_impl->control.lockReason().isEmpty()) {
    event->accept();
    return;
  }
  event->ignore();
  auto* box = new QMessageBox(
      QMessageBox::Question, tr("A change is in progress"),
      tr("The state of %1 is being transferred.").arg(QString::fromStdString(txn->job)),
      QMessageBox::NoButton, this);
  box->setAttribute(Qt::WA_DeleteOnClose);
  QPushButton* quit = box->addButton(tr("Roll back and quit"), QMessageBox::DestructiveRole);
  QPushButton* keep = box->addButton(tr("Keep the window open"), QMessageBox::RejectRole);
  quit->setAutoDefault(false);
  box->setDefaultButton(keep);
  connect(quit, &QPushButton::clicked, this, [this] {
    m_impl->closeWhenRolledBack = true;
    m_impl->control.cancelMove();
  });
  box->open();
}

}  // namespace tessera::ui
