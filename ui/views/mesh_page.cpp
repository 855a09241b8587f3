// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/mesh_page.h"

#include "ui/actions/menus.h"
#include "ui/canvas/mesh_view.h"
#include "ui/pages/state_page.h"
#include "ui/views/mesh_pair.h"
#include "ui/views/selection_model.h"

namespace tessera::ui {

MeshPage::MeshPage(const ViewContext& context, QWidget* parent)
    : QStackedWidget(parent),
      m_selection(context.selection),
      m_rulesChanged(context.rulesChanged),
      m_pair(new MeshPair(context.selection, this)),
      m_mesh(m_pair->mesh()),
      m_state(new StatePage(this)) {
  addWidget(m_pair);
  addWidget(m_state);
  connect(m_mesh, &MeshView::axisRequested, this, &MeshPage::toggleAxis);
  connect(&m_selection, &SelectionModel::axisChanged, this, [this] {
    m_mesh->setGroupAxis(m_selection.axis());
    if (m_rulesChanged) m_rulesChanged();
  });
}

void MeshPage::toggleAxis(ptc::Axis axis) {
  m_selection.setAxis(m_selection.axis() == axis ? std::nullopt : std::optional(axis));
}

void MeshPage::setClusterShown(bool shown) {
  setCurrentWidget(shown ? static_cast<QWidget*>(m_pair) : m_state);
}

QWidget* MeshPage::picture() {
  if (currentWidget() != m_pair || m_pair->isComparing()) return currentWidget();
  return m_mesh->viewport();
}

QWidget* MeshPage::focusTarget() { return m_mesh; }

void MeshPage::showLayout(const ShownLayout& layout) { m_pair->showLayout(layout); }

void MeshPage::setStale(double age, const QString&) { m_pair->setStale(age); }

QList<View::Command> MeshPage::commands() {
  const auto zoom = [this](const char* id, const QString& text, const QString& tip,
                           const char* icon, const char* key, std::function<void()> run) {
    return Command{ActionRegistry::Spec{.id = QLatin1String(id),
                                        .menu = Menus::view(),
                                        .text = text,
                                        .statusTip = tip,
                                        .submenu = Menus::zoom(),
                                        .icon = QLatin1String(icon),
                                        .shortcuts = {QKeySequence(QLatin1String(key))},
                                        .canvasKey = true},
                   std::move(run)};
  };
  QList<Command> all{zoom("view.zoomIn", tr("&Zoom In"), tr("Draw the mesh larger"), "zoom-in", "+",
                          [this] { m_mesh->setZoom(m_mesh->zoom() * 1.25); }),
                     zoom("view.zoomOut", tr("Zoom &Out"), tr("Draw the mesh smaller"), "zoom-out",
                          "-", [this] { m_mesh->setZoom(m_mesh->zoom() / 1.25); }),
                     zoom("view.fit", tr("&Fit All"), tr("Show the whole mesh"), "fit", "0",
                          [this] { m_mesh->setZoom(1.0); })};
  return all + groupCommands();
}

QList<View::Command> MeshPage::groupCommands() {
  struct Entry {
    ptc::Axis axis;
    const char* id;
    QString text;
    const char* key;
  };
  const Entry entries[] = {{ptc::Axis::kTp, "view.groupTp", tr("tp: Tensor Parallel"), "T"},
                           {ptc::Axis::kDp, "view.groupDp", tr("dp: Data Parallel"), "D"},
                           {ptc::Axis::kPp, "view.groupPp", tr("pp: Pipeline"), "P"},
                           {ptc::Axis::kEp, "view.groupEp", tr("ep: Experts"), "E"},
                           {ptc::Axis::kCp, "view.groupCp", tr("cp: Context"), "C"}};
  QList<Command> all;
  for (const Entry& entry : entries) {
    ActionRegistry::Spec spec;
    spec.id = QLatin1String(entry.id);
    spec.menu = Menus::view();
    spec.submenu = tr("Communication Groups");
    spec.text = entry.text;
    spec.statusTip =
        tr("Light up the GPUs with which the GPU under the pointer, or the current "
           "one, communicates along this axis");
    spec.shortcuts = {QKeySequence(QLatin1String(entry.key))};
    spec.canvasKey = true;
    spec.checkable = true;
    spec.checked = [this, axis = entry.axis] { return m_selection.axis() == axis; };
    all << Command{std::move(spec), [this, axis = entry.axis] { toggleAxis(axis); }};
  }
  return all;
}

}  // namespace tessera::ui
