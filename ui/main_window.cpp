// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/main_window.h"

#include <QCloseEvent>
#include <QFileInfo>
#include <QKeyEvent>
#include <QMessageBox>
#include <QPushButton>
#include <utility>

#include "ui/dialogs/dialog.h"
#include "ui/lessons/consistency_lesson.h"
#include "ui/main_window_impl.h"
#include "ui/pages/header_bar.h"
#include "ui/pages/plan_panel.h"
#include "ui/palette/window_items.h"
#include "ui/settings/layout_keeper.h"
#include "ui/window/applied_settings.h"
#include "ui/window/centre_pane.h"
#include "ui/window/change_reports.h"
#include "ui/window/cluster_chooser.h"
#include "ui/window/decision_desk.h"
#include "ui/window/desktop_notices.h"
#include "ui/window/dock_sizes.h"
#include "ui/window/draft_desk.h"
#include "ui/window/lesson_desk.h"
#include "ui/window/moment_desk.h"
#include "ui/window/projector.h"
#include "ui/window/side_pane.h"
#include "ui/window/status_line.h"
#include "ui/window/window_dialogs.h"

namespace tessera::ui {
namespace {

/// Empty: nothing is stored.
QString lessonsFile(const Settings& settings, bool isKept) {
  if (settings.file().isEmpty() || !isKept) return {};
  return QFileInfo(settings.file()).path() + QStringLiteral("/lessons.json");
}

}  // namespace

MainWindow::Impl::Impl(MainWindow& w, ClusterModel& m, ClusterCommands& c, WindowOptions o)
    : window(w),
      model(m),
      commands(c),
      start(std::move(o)),
      settings(start.settings == nullptr ? ownSettings : *start.settings),
      connections(start.connections),
      draft(m),
      plan(draft, m, c),
      proposal(draft, m, c),
      control(m, draft, plan, c),
      seat(m, control, c),
      states(m, c),
      // Pictures and scenarios change nothing that is stored.
      lessonRecords(lessonsFile(settings, start.keepLayout)),
      lessons(lessonRecords),
      context{.window = &w,
              .model = m,
              .commands = c,
              .control = control,
              .connections = connections,
              .say = [this](const QString& text) { say(text); },
              .showError = [this](const QString& text) { showError(text); }},
      actions(new ActionRegistry(&w)) {}

MainWindow::Impl::~Impl() = default;

bool MainWindow::Impl::eventFilter(QObject* watched, QEvent* event) {
  switch (event->type()) {
    case QEvent::KeyPress:
    case QEvent::MouseButtonPress:
    case QEvent::Wheel:
    case QEvent::Drop:
      control.noteInput();
      break;
    default:
      break;
  }
  return QObject::eventFilter(watched, event);
}

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
  m_impl->centre->release();
  delete centralWidget();
}

MeshView* MainWindow::meshView() const { return m_impl->mesh; }
Draft* MainWindow::draft() const { return &m_impl->draft; }
PlanPanel* MainWindow::planPanel() const { return m_impl->side->plan(); }
ProgressPanel* MainWindow::progressPanel() const { return m_impl->progress; }
ActionRegistry* MainWindow::actions() const { return m_impl->actions; }
Settings& MainWindow::settings() const { return m_impl->settings; }
CommandPalette* MainWindow::commandPalette() const { return m_impl->dialogs->palette(); }
HelpWindow* MainWindow::helpWindow() const { return m_impl->dialogs->help(); }
ConsistencyLesson* MainWindow::lesson() const { return m_impl->dialogs->experiment(); }
LessonSession& MainWindow::lessons() const { return m_impl->lessons; }
LessonPane* MainWindow::lessonPane() const { return m_impl->side->lesson(); }
bool MainWindow::openLesson(const QString& nameOrFile, int step) {
  return m_impl->lessonDesk->open(nameOrFile, step);
}
bool MainWindow::isPlaced() const { return m_impl->placed; }
bool MainWindow::isOperating() const { return m_impl->control.isOperating(); }
bool MainWindow::isLiveMode() const { return m_impl->control.isLive(); }
bool MainWindow::isCountingDown() const { return m_impl->control.isCountingDown(); }
bool MainWindow::grabTo(const QString& file) { return grab().save(file, "PNG"); }

bool MainWindow::event(QEvent* event) {
  switch (event->type()) {
    case QEvent::Resize: {
      const bool done = QMainWindow::event(event);
      if (m_impl && m_impl->docks && isVisible()) m_impl->docks->fit();
      return done;
    }
    case QEvent::PaletteChange:
    case QEvent::ApplicationPaletteChange:
      // A theme brings several of these events.
      if (m_impl && m_impl->header != nullptr &&
          std::exchange(m_impl->iconTheme, &Theme::current()) != &Theme::current()) {
        m_impl->actions->refreshIcons();
        m_impl->side->plan()->refresh();
        m_impl->followProfile();
      }
      break;
    default:
      break;
  }
  return QMainWindow::event(event);
}

void MainWindow::keyPressEvent(QKeyEvent* event) {
  if (!pressFocusedButton(*this, *event)) QMainWindow::keyPressEvent(event);
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (m_impl->keeper != nullptr) m_impl->keeper->capture();
  // The question below is about the present.
  if (m_impl->presenter->source() == LayoutSource::Past || m_impl->presenter->isLesson())
    m_impl->setSource(LayoutSource::Live);
  const engine::TxnStatus* txn = m_impl->model.runningTxn();
  const bool isAnswered = std::exchange(m_impl->closeWithChange, false);
  if (isAnswered || txn == nullptr || !txn->can_cancel ||
      !m_impl->control.lockReason().isEmpty()) {
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
  // The coordinator is an agent of the cluster, so a change does not need this panel.
  if (!m_impl->start.endsCluster) {
    QPushButton* goOn =
        box->addButton(tr("Quit, the change goes on"), QMessageBox::AcceptRole);
    goOn->setAutoDefault(false);
    connect(goOn, &QPushButton::clicked, this, [this] {
      m_impl->closeWithChange = true;
      close();
    });
  }
  QPushButton* keep = box->addButton(tr("Keep the window open"), QMessageBox::RejectRole);
  box->setDefaultButton(keep);
  connect(quit, &QPushButton::clicked, this, [this] {
    m_impl->closeWhenRolledBack = true;
    m_impl->control.cancelMove();
  });
  box->open();
}

}  // namespace tessera::ui
