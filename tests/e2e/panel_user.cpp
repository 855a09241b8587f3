// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/panel_user.h"

#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QDragEnterEvent>
#include <QDragMoveEvent>
#include <QDropEvent>
#include <QFileDialog>
#include <QInputDialog>
#include <QLineEdit>
#include <QMenu>
#include <QMimeData>
#include <QPushButton>
#include <QRadioButton>
#include <QSpinBox>
#include <QTableView>
#include <QTest>
#include <QToolButton>
#include <QTreeView>
#include <QWheelEvent>
#include <set>

#include "ui/actions/action_registry.h"
#include "ui/canvas/mesh_view.h"
#include "ui/dialogs/typed_name_dialog.h"
#include "ui/format.h"
#include "ui/lessons/lesson_pane.h"
#include "ui/models/draft.h"
#include "ui/pages/apply_sheet.h"
#include "ui/pages/decision_panel.h"
#include "ui/pages/events_page.h"
#include "ui/pages/header_bar.h"
#include "ui/pages/history_page.h"
#include "ui/pages/navigator.h"
#include "ui/pages/plan_panel.h"
#include "ui/pages/progress_panel.h"
#include "ui/pages/timeline_page.h"
#include "ui/palette/command_palette.h"
#include "ui/plots/job_plots.h"

namespace tessera::test {
namespace {

constexpr int kMostEscapes = 8;

/// Actions that leave the window or the cluster, or ask for a file of this machine.
bool IsExcluded(const QString& id) {
  static const std::set<QString> excluded = {
      "file.quit",           "file.startLocal",    "cluster.stopLocal",
      "cluster.disconnect",  "file.openHistory",   "file.picture",
      "history.exportPlots", "history.saveReport", "history.saveScenario",
      "learn.open",          "edit.openFolder"};
  return excluded.contains(id);
}

}  // namespace

PanelUser::PanelUser(ui::MainWindow& window, std::mt19937_64& random)
    : m_window(window), m_random(random) {
  addMeshActs();
  addPlanActs();
  addViewActs();
  addActionActs();
  for (const Act& act : m_acts) m_weights += act.weight;
  QObject::connect(&m_noFiles, &QTimer::timeout, &window, [] {
    auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
    if (dialog != nullptr) dialog->reject();
  });
  m_noFiles.start(20);
}

void PanelUser::add(int weight, const char* name, std::function<void()> run) {
  m_acts.push_back({weight, QString::fromLatin1(name), std::move(run)});
}

int PanelUser::below(int limit) {
  return static_cast<int>(m_random() % static_cast<std::uint64_t>(std::max(1, limit)));
}

QString PanelUser::act() {
  int left = below(m_weights);
  auto chosen = m_acts.begin();
  while (left >= chosen->weight) left -= chosen++->weight;
  m_detail.clear();
  chosen->run();
  QCoreApplication::processEvents();
  closeAll();
  return m_detail.isEmpty() ? chosen->name : chosen->name + u' ' + m_detail;
}

void PanelUser::closeAll() {
  for (int i = 0; i < kMostEscapes; ++i) {
    QWidget* asking = QApplication::activePopupWidget();
    if (asking == nullptr) asking = QApplication::activeModalWidget();
    if (asking == nullptr) break;
    key(asking, Qt::Key_Escape);
    QTest::qWait(1);  // deletes it as well
  }
  for (QWidget* each : QApplication::topLevelWidgets()) {
    if (each == &m_window || !each->isVisible() || each->isModal()) continue;
    if (each->windowType() == Qt::ToolTip) continue;
    m_detail += QStringLiteral(" [%1]").arg(QLatin1String(each->metaObject()->className()));
    each->close();
  }
  if (auto* palette = m_window.commandPalette(); palette != nullptr && palette->isVisible())
    key(palette->edit(), Qt::Key_Escape);
  // A window manager does that; the platform without a screen has none.
  if (QApplication::activeWindow() != &m_window) QApplication::setActiveWindow(&m_window);
}

void PanelUser::trigger(const char* action) {
  m_window.actions()->find(QString::fromLatin1(action))->trigger();
}

void PanelUser::key(QWidget* widget, int key, Qt::KeyboardModifiers modifiers) {
  QTest::keyClick(widget, static_cast<Qt::Key>(key), modifiers);
}

void PanelUser::click(QWidget* button) {
  if (button != nullptr && button->isVisible() && button->isEnabled())
    QTest::mouseClick(button, Qt::LeftButton);
}

QPoint PanelUser::anyPoint(const QWidget& widget) {
  return {below(widget.width()), below(widget.height())};
}

// As the canvas does after its drag: a drag of Qt itself needs a window system.
void PanelUser::drop(const QStringList& devices, QPoint to, bool leaves) {
  QWidget* viewport = m_window.meshView()->viewport();
  m_detail = devices.join(u',');
  QMimeData mime;
  mime.setData(ui::MeshView::mimeType(), m_detail.toLatin1());
  QDragEnterEvent enter(to, Qt::MoveAction, &mime, Qt::LeftButton, Qt::NoModifier);
  QCoreApplication::sendEvent(viewport, &enter);
  QDragMoveEvent move(to, Qt::MoveAction, &mime, Qt::LeftButton, Qt::NoModifier);
  QCoreApplication::sendEvent(viewport, &move);
  if (leaves) {
    QDragLeaveEvent leave;
    QCoreApplication::sendEvent(viewport, &leave);
    return;
  }
  QDropEvent dropped(to, Qt::MoveAction, &mime, Qt::LeftButton, Qt::NoModifier);
  QCoreApplication::sendEvent(viewport, &dropped);
}

void PanelUser::dropDevices() {
  const ui::MeshView* mesh = m_window.meshView();
  const auto& devices = mesh->devices();
  if (devices.empty()) return;
  QStringList names;
  if (chance(40))
    for (const ptc::DeviceId device : mesh->selection()) names << ui::format::device(device);
  const int count = 1 + below(4);
  while (names.size() < count) names << ui::format::device(anyOf(devices));
  const QRect target = chance(60) ? mesh->dropZoneRect() : mesh->poolRect();
  const bool anywhere = target.isNull() || chance(10);
  drop(names, anywhere ? anyPoint(*mesh->viewport()) : target.center(), chance(10));
}

void PanelUser::moveNode() {
  key(&m_window, Qt::Key_1, Qt::AltModifier);
  key(&m_window, Qt::Key_1, Qt::ControlModifier);
  if (!m_window.isOperating()) trigger("cluster.operate");
  trigger("plan.discard");
  const ui::MeshView* mesh = m_window.meshView();
  if (mesh->devices().empty()) return;
  const std::int32_t node = anyOf(mesh->devices()).node;
  QStringList names;
  for (const ptc::DeviceId device : mesh->devices())
    if (device.node == node) names << ui::format::device(device);
  const bool isIn = m_window.draft()->contains({node, 0});
  const QRect target = isIn ? mesh->poolRect() : mesh->dropZoneRect();
  drop(names, target.center());
  QAction* apply = m_window.actions()->find(QStringLiteral("plan.apply"));
  static_cast<void>(QTest::qWaitFor([&] { return apply->isEnabled(); }, 150));
  if (!apply->isEnabled()) m_detail += u' ' + apply->toolTip();
  apply->trigger();
  answerSheet();
}

void PanelUser::addMeshActs() {
  ui::MeshView* mesh = m_window.meshView();
  add(60, "key in the mesh", [this, mesh] {
    static const std::vector<int> keys = {
        Qt::Key_Left, Qt::Key_Right, Qt::Key_Up,    Qt::Key_Down,   Qt::Key_Home,  Qt::Key_End,
        Qt::Key_N,    Qt::Key_F,     Qt::Key_Plus,  Qt::Key_Minus,  Qt::Key_0,     Qt::Key_Return,
        Qt::Key_A,    Qt::Key_F10,   Qt::Key_Space, Qt::Key_Escape, Qt::Key_Space, Qt::Key_Tab};
    const int pressed = anyOf(keys);
    Qt::KeyboardModifiers with = Qt::NoModifier;
    if (pressed == Qt::Key_A) with = Qt::ControlModifier;
    if (pressed == Qt::Key_F10) with = Qt::ShiftModifier;
    if (pressed >= Qt::Key_Left && pressed <= Qt::Key_Down)
      with = anyOf<Qt::KeyboardModifiers>({Qt::NoModifier, Qt::ShiftModifier, Qt::ControlModifier});
    m_detail = QKeySequence(pressed).toString();
    if (mesh->isVisible()) key(mesh, pressed, with);
  });
  add(40, "click in the mesh", [this, mesh] {
    const auto with =
        anyOf<Qt::KeyboardModifiers>({Qt::NoModifier, Qt::ShiftModifier, Qt::ControlModifier});
    QPoint at = anyPoint(*mesh->viewport());
    if (chance(70) && !mesh->devices().empty())
      at = mesh->cellRect(anyOf(mesh->devices())).center();
    if (!mesh->isVisible()) return;
    if (chance(10)) {
      QTest::mouseDClick(mesh->viewport(), Qt::LeftButton, with, at);
    } else {
      QTest::mouseClick(mesh->viewport(), Qt::LeftButton, with, at);
    }
  });
  add(15, "band or drag in the mesh", [this, mesh] {
    if (!mesh->isVisible()) return;
    const auto button = chance(80) ? Qt::LeftButton : Qt::MiddleButton;
    QTest::mousePress(mesh->viewport(), button, {}, anyPoint(*mesh->viewport()));
    for (int i = 0; i < 3; ++i) QTest::mouseMove(mesh->viewport(), anyPoint(*mesh->viewport()));
    if (chance(10)) key(mesh, Qt::Key_Escape);
    QTest::mouseRelease(mesh->viewport(), button, {}, anyPoint(*mesh->viewport()));
  });
  add(10, "wheel in the mesh", [this, mesh] {
    const QPointF at = anyPoint(*mesh->viewport());
    QWheelEvent wheel(at, mesh->viewport()->mapToGlobal(at), {}, {0, chance(50) ? 120 : -120},
                      Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(mesh->viewport(), &wheel);
  });
  add(70, "drop", [this] { dropDevices(); });
  add(20, "undo", [this] { key(&m_window, Qt::Key_Z, Qt::ControlModifier); });
  add(20, "redo", [this] { key(&m_window, Qt::Key_Y, Qt::ControlModifier); });
  add(20, "Esc", [this] { key(&m_window, Qt::Key_Escape); });
}

void PanelUser::answerSheet() {
  auto* sheet = qobject_cast<ui::ApplySheet*>(QApplication::activeModalWidget());
  if (sheet == nullptr) return;
  m_detail += QStringLiteral(" with the sheet");
  if (chance(20)) QTest::qWait(below(40));
  if (chance(80)) click(sheet->applyButton());
}

void PanelUser::addPlanActs() {
  ui::PlanPanel* plan = m_window.planPanel();
  add(40, "apply", [this] {
    trigger("plan.apply");
    answerSheet();
  });
  add(30, "move a node", [this] { moveNode(); });
  add(10, "apply after its plan", [this] {
    QAction* apply = m_window.actions()->find(QStringLiteral("plan.apply"));
    static_cast<void>(QTest::qWaitFor([&] { return apply->isEnabled(); }, 150));
    apply->trigger();
    answerSheet();
  });
  add(6, "cancel", [this] { trigger("plan.cancelMove"); });
  add(6, "discard", [this] { trigger("plan.discard"); });
  add(30, "degree", [this, plan] {
    const auto axis = anyOf<ptc::Axis>({ptc::Axis::kDp, ptc::Axis::kTp, ptc::Axis::kPp});
    QSpinBox* box = plan->axisBox(axis);
    if (!box->isVisible() || !box->isEnabled()) return;
    if (chance(15)) return click(plan->axisLock(axis));
    if (chance(30)) {
      box->setFocus();
      box->selectAll();
      QTest::keyClicks(box, QString::number(below(20)));
      key(box, Qt::Key_Return);
    } else {
      key(box, chance(50) ? Qt::Key_Up : Qt::Key_Down);
    }
  });
  add(15, "candidate", [this, plan] {
    QTableView* table = plan->candidateTable();
    if (!table->isVisible()) return;
    table->setFocus();
    key(table, anyOf<int>({Qt::Key_Down, Qt::Key_Up, Qt::Key_End, Qt::Key_Home, Qt::Key_Return}));
  });
  add(14, "arm or disarm",
      [this] { key(&m_window, Qt::Key_O, Qt::ControlModifier | Qt::ShiftModifier); });
  add(15, "arm", [this] {
    if (!m_window.isOperating()) trigger("cluster.operate");
  });
  add(12, "live mode", [this] { trigger("cluster.live"); });
  add(8, "button of the progress", [this] {
    const ui::ProgressPanel* progress = m_window.progressPanel();
    click(chance(70) ? progress->followButton() : progress->cancelButton());
  });
  add(15, "decide", [this] {
    const auto* decision = m_window.findChild<ui::DecisionPanel*>();
    const QList<QRadioButton*> rows = decision->rows();
    if (!rows.isEmpty()) click(rows[below(static_cast<int>(rows.size()))]);
    click(decision->actButton());
    // What loses steps asks for the name of the job.
    if (auto* ask = m_window.findChild<ui::TypedNameDialog*>()) {
      if (chance(70)) ask->nameEdit()->setText(ask->name());
      click(ask->actButton());
      ask->reject();
    }
  });
}

void PanelUser::addViewActs() {
  add(40, "source", [this] {
    static const std::vector<int> keys = {Qt::Key_1, Qt::Key_1, Qt::Key_2,
                                          Qt::Key_2, Qt::Key_3, Qt::Key_4};
    const int pressed = anyOf(keys);
    m_detail = QKeySequence(pressed).toString();
    key(&m_window, pressed, Qt::AltModifier);
  });
  add(30, "view", [this] {
    key(&m_window, Qt::Key_1 + below(6), Qt::ControlModifier);
    QWidget* focus = QApplication::focusWidget();
    for (int i = below(4); i > 0 && focus != nullptr && focus->isVisible(); --i)
      key(focus, anyOf<int>({Qt::Key_Left, Qt::Key_Right, Qt::Key_Up, Qt::Key_Down, Qt::Key_C,
                             Qt::Key_Home, Qt::Key_End, Qt::Key_Return}));
  });
  add(15, "mesh view", [this] { key(&m_window, Qt::Key_1, Qt::ControlModifier); });
  add(20, "key in the plots", [this] {
    auto* plots = m_window.findChild<ui::JobPlots*>();
    if (!plots->isVisible()) return;
    const int pressed =
        anyOf<int>({Qt::Key_Left, Qt::Key_Right, Qt::Key_Home, Qt::Key_End, Qt::Key_Plus,
                    Qt::Key_Minus, Qt::Key_0, Qt::Key_Space, Qt::Key_Period, Qt::Key_Comma});
    m_detail = QKeySequence(pressed).toString();
    key(plots, pressed,
        pressed <= Qt::Key_Down && chance(40) ? Qt::KeyboardModifiers(Qt::ShiftModifier)
                                              : Qt::NoModifier);
  });
  add(10, "drag of the playhead", [this] {
    auto* plots = m_window.findChild<ui::JobPlots*>();
    if (!plots->isVisible()) return;
    QWidget* canvas = plots->childAt(plots->rect().center());
    if (canvas == nullptr) canvas = plots;
    const int y = chance(70) ? canvas->height() - 4 : below(canvas->height());
    QTest::mousePress(canvas, Qt::LeftButton, {}, {below(canvas->width()), y});
    for (int i = 0; i < 3; ++i) QTest::mouseMove(canvas, {below(canvas->width()), y});
    QTest::mouseRelease(canvas, Qt::LeftButton, {}, {below(canvas->width()), y});
  });
  add(10, "player", [this] {
    const auto* timeline = m_window.findChild<ui::TimelinePage*>();
    click(anyOf<QWidget*>({timeline->playButton(), timeline->previousButton(),
                           timeline->nextButton(), timeline->speedButton()}));
  });
  add(20, "navigator", [this] {
    QTreeView* tree = m_window.findChild<ui::Navigator*>()->tree();
    if (!tree->isVisible()) return;
    tree->setFocus();
    key(tree, anyOf<int>({Qt::Key_Up, Qt::Key_Down, Qt::Key_Left, Qt::Key_Right, Qt::Key_End}),
        chance(30) ? Qt::KeyboardModifiers(Qt::ShiftModifier) : Qt::NoModifier);
  });
  add(20, "records", [this] {
    for (QTableView* table : {m_window.findChild<ui::HistoryPage*>()->table(),
                              m_window.findChild<ui::EventsPage*>()->table()}) {
      if (!table->isVisible() || table->model()->rowCount() == 0) continue;
      const auto row = table->model()->index(below(std::min(6, table->model()->rowCount())), 0);
      QTest::mouseClick(table->viewport(), Qt::LeftButton,
                        chance(25) ? Qt::KeyboardModifiers(Qt::ControlModifier) : Qt::NoModifier,
                        table->visualRect(row).center());
      if (chance(20)) key(table, Qt::Key_Return);
    }
  });
  add(12, "filter", [this] {
    key(&m_window, Qt::Key_F, Qt::ControlModifier);
    auto* edit = qobject_cast<QLineEdit*>(QApplication::focusWidget());
    if (edit == nullptr) return;
    QTest::keyClicks(edit, anyOf<QString>({"qkv", "n1", "lost", "zzz"}));
    if (chance(80)) edit->clear();
  });
  add(15, "lesson", [this] {
    const ui::LessonPane* pane = m_window.lessonPane();
    click(chance(75) ? pane->nextButton() : pane->backButton());
  });
  add(10, "job", [this] {
    const auto jobs = m_window.findChild<ui::HeaderBar*>()->jobChooser()->menu()->actions();
    if (jobs.isEmpty()) return;
    QAction* chosen = jobs[below(static_cast<int>(jobs.size()))];
    m_detail = chosen->text();
    chosen->trigger();
  });
  add(6, "size of the window", [this] { m_window.resize(1024 + below(600), 640 + below(400)); });
  add(12, "next pane", [this] {
    key(&m_window, Qt::Key_F6,
        chance(50) ? Qt::KeyboardModifiers(Qt::ShiftModifier) : Qt::NoModifier);
  });
}

void PanelUser::lookAround() {
  QWidget* dialog = QApplication::activeModalWidget();
  if (dialog == nullptr) return;
  m_detail += QStringLiteral(" [%1]").arg(QLatin1String(dialog->metaObject()->className()));
  for (int i = below(6); i > 0 && QApplication::activeModalWidget() == dialog; --i) {
    QWidget* focus = QApplication::focusWidget();
    key(focus != nullptr && dialog->isAncestorOf(focus) ? focus : dialog,
        anyOf<int>({Qt::Key_Tab, Qt::Key_Up, Qt::Key_Down, Qt::Key_Home, Qt::Key_Left}));
    QCoreApplication::processEvents();
  }
  // The choice of a node, a GPU or a number.
  if (qobject_cast<QInputDialog*>(QApplication::activeModalWidget()) != nullptr && chance(40)) {
    m_detail += QStringLiteral(" Enter");
    key(QApplication::activeModalWidget(), Qt::Key_Return);
  }
}

void PanelUser::addActionActs() {
  add(40, "action", [this] {
    std::vector<QAction*> enabled;
    for (QAction* each : m_window.actions()->all())
      if (each->isEnabled() && !IsExcluded(each->objectName())) enabled.push_back(each);
    QAction* chosen = anyOf(enabled);
    m_detail = chosen->objectName();
    chosen->trigger();
    QCoreApplication::processEvents();
    lookAround();
  });
  add(20, "palette", [this] {
    key(&m_window, Qt::Key_K, Qt::ControlModifier);
    const ui::CommandPalette* palette = m_window.commandPalette();
    if (palette == nullptr || !palette->isVisible()) return;
    // An action of the palette is that of the menu; only places are gone to.
    const bool goes = chance(60);
    m_detail = goes ? anyOf<QString>({"g 1", "g 9", "g 37", "n2", "n0", "e lost"})
                    : anyOf<QString>({"apply", "t qkv", "", "zzz", "light", "e "});
    QTest::keyClicks(palette->edit(), m_detail);
    if (goes) key(palette->edit(), Qt::Key_Return);
  });
}

}  // namespace tessera::test
