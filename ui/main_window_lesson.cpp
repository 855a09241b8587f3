// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// Lessons as a source: which one is shown, and what its steps do to the window.

#include <QCoreApplication>
#include <QDockWidget>
#include <QEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QSignalBlocker>
#include <QVBoxLayout>
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "ui/canvas/mesh_view.h"
#include "ui/format.h"
#include "ui/lessons/lesson_list.h"
#include "ui/lessons/lesson_pane.h"
#include "ui/main_window_impl.h"
#include "ui/pages/history_page.h"
#include "ui/theme.h"
#include "ui/views/colour_bar.h"
#include "ui/views/mesh_page.h"
#include "ui/views/tensors_view.h"
#include "ui/widgets/key_caster.h"
#include "ui/widgets/key_values.h"
#include "ui/widgets/pointer_ring.h"
#include "ui/widgets/surface.h"
#include "ui/widgets/tabbed_pane.h"

namespace tessera::ui {
namespace {

constexpr int kTensorTries = 20;
constexpr int kTensorRetryMs = 100;

// By ColourBy.
constexpr std::array<std::string_view, kNumColourings> kColourNames = {
    "piece", "replica", "stage", "slice", "host", "memory"};

ColourBy colourOf(const std::string& name) {
  const auto found = std::find(kColourNames.begin(), kColourNames.end(), name);
  return found == kColourNames.end() ? ColourBy::Piece
                                     : static_cast<ColourBy>(found - kColourNames.begin());
}

}  // namespace

QString MainWindow::Impl::lessonsFile() const {
  // Pictures and scenarios change nothing that is stored.
  if (settings.file().isEmpty() || !start.keepLayout) return {};
  return QFileInfo(settings.file()).path() + QStringLiteral("/lessons.json");
}

void MainWindow::Impl::connectLessons() {
  connect(&lessons, &LessonSession::stepShown, this, [this] {
    if (source == LayoutSource::Lesson) followLessonStep();
  });
  connect(&lessons, &LessonSession::changed, this, [this] {
    if (source == LayoutSource::Lesson) refreshParts();
  });
  connect(lessonPane, &LessonPane::lessonChosen, this,
          [this](const QString& name) { openLessonOf(name); });
  connect(lessonPane, &LessonPane::experimentRequested, this, [this] { openLesson(); });
  connect(lessonPane, &LessonPane::devicesHovered, &selection, &SelectionModel::setHovered);
  lessonPane->setExperimentBlocked(start.experiment == nullptr
                                       ? tr("This panel cannot start programs on this machine.")
                                       : QString());
}

bool MainWindow::Impl::openLessonOf(const QString& nameOrFile, int step) {
  if (const Status opened = lessons.open(nameOrFile, step); !opened) {
    showError(QString::fromStdString(opened.error().ToString()));
    return false;
  }
  if (source != LayoutSource::Lesson) setSource(LayoutSource::Lesson);
  lessonPane->setFocus();
  return true;
}

bool MainWindow::Impl::openUsualLesson() {
  for (const LessonEntry& entry : lessonEntries()) {
    const LessonRecord record = lessonRecords.of(entry.name);
    if (record.finished()) continue;
    return lessons.open(entry.name, std::max(0, record.furthest)).has_value();
  }
  return !lessonEntries().empty() && lessons.open(lessonEntries().front().name).has_value();
}

void MainWindow::Impl::chooseLessonFile() {
  const QString file = QFileDialog::getOpenFileName(&window, tr("Open a lesson"), {},
                                                    tr("Lessons (*.json);;All files (*)"));
  if (!file.isEmpty()) openLessonOf(file);
}

void MainWindow::Impl::enterLesson() {
  usualColouring = colours->colouring();
  rightDock->show();
  history->choose({});
  followLessonStep();
}

QWidget* MainWindow::Impl::makeNoRecords() {
  auto* page = new Surface(Surface::Tone::Panel, &window);
  page->setObjectName(QStringLiteral("noRecords"));
  auto* title = new QLabel(tr("A lesson has no history"), page);
  setRole(title, QStringLiteral("heading"));
  auto* detail = new QLabel(
      tr("Timeline, history and events of the cluster are here again as soon as Live is shown."),
      page);
  setRole(detail, QStringLiteral("hint"));
  auto* column = new QVBoxLayout(page);
  column->addStretch();
  for (QLabel* line : {title, detail}) {
    line->setAlignment(Qt::AlignCenter);
    line->setWordWrap(true);
    column->addWidget(line);
  }
  column->addStretch();
  return page;
}

void MainWindow::Impl::leaveLesson() {
  const QSignalBlocker quiet(colours);
  if (usualColouring) colours->setColouring(*std::exchange(usualColouring, std::nullopt));
  selection.setDevices({});
  mesh->frame({});
}

void MainWindow::Impl::followLessonStep() {
  const engine::LessonState& now = lessons.state();
  for (View* view : views) {
    if (view->id() == QString::fromStdString(now.view)) tabs->setCurrent(view->widget());
  }
  {
    // The colours of a lesson are not a setting.
    const QSignalBlocker quiet(colours);
    colours->setColouring(colourOf(now.colour));
  }
  refreshParts();  // the selection is dropped if the views do not show its devices yet
  selection.setDevices({now.selected.begin(), now.selected.end()});
  mesh->frame({now.frame.begin(), now.frame.end()});
  if (!now.tensor.empty()) openLessonTensor(kTensorTries);
}

void MainWindow::Impl::openLessonTensor(int tries) {
  auto* tensors = tabs->findChild<TensorsView*>();
  if (tries == 0 || tensors == nullptr || source != LayoutSource::Lesson) return;
  const QString name = QString::fromStdString(lessons.state().tensor);
  if (name.isEmpty()) return;
  tensors->setScope(TensorsView::Scope::Tensor);
  // The view makes its layouts on a thread.
  QTimer::singleShot(kTensorRetryMs, this, [this, tensors, name, tries] {
    const bool shown = source == LayoutSource::Lesson && tensors->openTensor(name);
    if (!shown) openLessonTensor(tries - 1);
  });
}

ShownLayout MainWindow::Impl::lessonLayout() const {
  ShownLayout layout;
  layout.source = LayoutSource::Lesson;
  layout.cluster = lessons.model().shared();
  layout.job = lessons.model().job()->name;
  layout.plan = lessons.planSummary();
  layout.state = lessons.facts();
  const auto scene = [&](const std::set<ptc::DeviceId>* devices) {
    MeshScene made = makeScene(*layout.cluster, layout.job, devices,
                               devices == nullptr ? nullptr : layout.plan.get());
    groupScene(&made, colours->grouping());
    made.isolated = colours->isolated();
    colourScene(&made, colours->colouring());
    return std::make_shared<const MeshScene>(std::move(made));
  };
  const auto drafted = lessons.draftDevices();
  layout.live = scene(nullptr);
  layout.scene = drafted ? scene(&*drafted) : layout.live;
  layout.placeJob();
  return layout;
}

bool MainWindow::Impl::isMeshEditable() const {
  if (source == LayoutSource::Lesson) return lessons.canEdit();
  return control.editBlockedReason().isEmpty() && !comparedChanges();
}

void MainWindow::Impl::setProjector(bool on) {
  setCanvasEnlarged(on);
  for (View* view : views) {
    for (QWidget* canvas : view->widget()->findChildren<QWidget*>()) {
      QEvent fonts(QEvent::FontChange);
      QCoreApplication::sendEvent(canvas, &fonts);
      canvas->update();
    }
  }
  if (on && keyCaster == nullptr) {
    keyCaster = new KeyCaster(&window);
    pointerRing = new PointerRing(&window);
  }
  if (keyCaster == nullptr) return;
  keyCaster->setActive(on);
  pointerRing->setActive(on);
}

}  // namespace tessera::ui
