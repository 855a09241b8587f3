// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/lesson_desk.h"

#include <QFileDialog>
#include <QLabel>
#include <QSignalBlocker>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "ui/canvas/mesh_view.h"
#include "ui/lessons/lesson_list.h"
#include "ui/lessons/lesson_records.h"
#include "ui/lessons/lesson_session.h"
#include "ui/sentences.h"
#include "ui/theme.h"
#include "ui/views/colour_bar.h"
#include "ui/views/selection_model.h"
#include "ui/views/tensors_view.h"
#include "ui/views/view.h"
#include "ui/widgets/key_values.h"
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

LessonDesk::LessonDesk(Parts parts, Window window) : m_parts(parts), m_window(std::move(window)) {
  connect(&m_parts.lessons, &LessonSession::stepShown, this, [this] {
    if (m_window.isShown()) followStep();
  });
  connect(&m_parts.lessons, &LessonSession::changed, this, [this] {
    if (m_window.isShown()) m_window.refresh();
  });
}

bool LessonDesk::open(const QString& nameOrFile, int step) {
  if (const Status opened = m_parts.lessons.open(nameOrFile, step); !opened) {
    m_window.showError(localized(opened.error().ToString()));
    return false;
  }
  m_window.show();
  return true;
}

bool LessonDesk::openUsual() {
  const auto entries = lessonEntries();
  for (const LessonEntry& entry : entries) {
    const LessonRecord record = m_parts.records.of(entry.name);
    if (record.finished) continue;
    return m_parts.lessons.open(entry.name, std::max(0, record.furthest)).has_value();
  }
  return !entries.empty() && m_parts.lessons.open(entries.front().name).has_value();
}

void LessonDesk::chooseFile(QWidget* window) {
  const QString file = QFileDialog::getOpenFileName(window, tr("Open a lesson"), {},
                                                    tr("Lessons (*.json);;All files (*)"));
  if (!file.isEmpty()) open(file);
}

void LessonDesk::enter() {
  m_usualColouring = m_parts.colours.colouring();
  followStep();
}

void LessonDesk::leave() {
  const QSignalBlocker quiet(&m_parts.colours);
  if (m_usualColouring)
    m_parts.colours.setColouring(*std::exchange(m_usualColouring, std::nullopt));
  m_parts.selection.setDevices({});
  m_parts.mesh.frame({});
}

void LessonDesk::followStep() {
  const engine::LessonState& now = m_parts.lessons.state();
  for (View* view : m_parts.views) {
    if (view->id() == QString::fromStdString(now.view)) m_parts.tabs.setCurrent(view->widget());
  }
  {
    // The colours of a lesson are not a setting.
    const QSignalBlocker quiet(&m_parts.colours);
    m_parts.colours.setColouring(colourOf(now.colour));
  }
  m_window.refresh();  // the selection is dropped if the views do not show its devices yet
  m_parts.selection.setDevices({now.selected.begin(), now.selected.end()});
  m_parts.mesh.frame({now.frame.begin(), now.frame.end()});
  if (!now.tensor.empty()) openTensor(kTensorTries);
}

void LessonDesk::openTensor(int tries) {
  auto* tensors = m_parts.tabs.findChild<TensorsView*>();
  if (tries == 0 || tensors == nullptr || !m_window.isShown()) return;
  const QString name = QString::fromStdString(m_parts.lessons.state().tensor);
  if (name.isEmpty()) return;
  tensors->setScope(TensorsView::Scope::Tensor);
  // The view makes its layouts on a thread.
  QTimer::singleShot(kTensorRetryMs, this, [this, tensors, name, tries] {
    const bool isOpen = m_window.isShown() && tensors->openTensor(name);
    if (!isOpen) openTensor(tries - 1);
  });
}

QWidget* LessonDesk::makeNoRecords(QWidget* parent) {
  auto* page = new Surface(Surface::Tone::Panel, parent);
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

}  // namespace tessera::ui
