// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/mesh_pair.h"

#include <QBoxLayout>
#include <QScrollBar>
#include <QSignalBlocker>

#include "ui/canvas/mesh_view.h"
#include "ui/views/selection_model.h"
#include "ui/widgets/elided_label.h"
#include "ui/widgets/key_values.h"

namespace tessera::ui {
namespace {

constexpr int kLeastHalf = 160;  // px: two meshes need no more width than one

/// A mesh below its title, as a column of `row`.
void addMeshColumn(QBoxLayout* row, ElidedLabel* title, MeshView* mesh) {
  setRole(title, QStringLiteral("heading"));
  title->setContentsMargins(24, 12, 16, 0);
  title->hide();
  auto* column = new QVBoxLayout;
  column->setSpacing(0);
  column->addWidget(title);
  column->addWidget(mesh, 1);
  row->addLayout(column, 1);
}

/// Scrolls and zooms `to` as the user does with `from`.
void lead(const MeshView* from, MeshView* to) {
  QObject::connect(from, &MeshView::zoomed, to, [to](double zoom) { to->setZoom(zoom); });
  QObject::connect(from->horizontalScrollBar(), &QScrollBar::valueChanged,
                   to->horizontalScrollBar(), &QScrollBar::setValue);
  QObject::connect(from->verticalScrollBar(), &QScrollBar::valueChanged, to->verticalScrollBar(),
                   &QScrollBar::setValue);
}

}  // namespace

MeshPair::MeshPair(SelectionModel& selection, QWidget* parent)
    : QWidget(parent),
      m_selection(selection),
      m_mesh(new MeshView(this)),
      m_row(new QBoxLayout(QBoxLayout::LeftToRight, this)),
      m_title(new ElidedLabel(this)) {
  m_row->setContentsMargins(0, 0, 0, 0);
  m_row->setSpacing(0);
  addMeshColumn(m_row, m_title, m_mesh);
  connectMesh(m_mesh);
  connect(&m_selection, &SelectionModel::devicesChanged, this, &MeshPair::follow);
  connect(&m_selection, &SelectionModel::hoveredChanged, this, [this] {
    m_mesh->setHighlighted(m_selection.hovered());
    if (m_other != nullptr) m_other->setHighlighted(m_selection.hovered());
  });
  setFocusProxy(m_mesh);
}

void MeshPair::connectMesh(MeshView* mesh) {
  connect(mesh, &MeshView::selectionChanged, this,
          [this, mesh] { m_selection.setDevices(mesh->selection()); });
  connect(mesh, &MeshView::hoveredChanged, this, [this](std::optional<ptc::DeviceId> device) {
    m_selection.setHovered(device ? Devices{*device} : Devices{});
  });
}

void MeshPair::addOther() {
  m_other = new MeshView(this);
  m_other->setObjectName(QStringLiteral("otherMeshView"));
  m_other->setAccessibleName(tr("Mesh of the other moment"));
  m_other->setReadOnly(true);
  m_otherTitle = new ElidedLabel(this);
  addMeshColumn(m_row, m_otherTitle, m_other);
  connectMesh(m_other);
  connect(m_other, &MeshView::activated, m_mesh, &MeshView::activated);
  connect(m_other, &MeshView::jobRequested, m_mesh, &MeshView::jobRequested);
  connect(m_other, &MeshView::contextMenuRequested, m_mesh, &MeshView::contextMenuRequested);
  lead(m_mesh, m_other);
  lead(m_other, m_mesh);
}

// Another view may select devices that the scene does not show; the mesh drops them for all views.
void MeshPair::follow() {
  m_mesh->setSelection(m_selection.devices());
  m_selection.setDevices(m_mesh->selection());
  const bool one = m_selection.devices().size() == 1;
  if (one) m_mesh->setCurrent(*m_selection.devices().begin());
  if (m_other == nullptr) return;
  // The other moment may lack some of them, which does not concern the selection.
  const QSignalBlocker quiet(m_other);
  m_other->setSelection(m_selection.devices());
  if (one) m_other->setCurrent(*m_selection.devices().begin());
}

bool MeshPair::isComparing() const { return m_other != nullptr && !m_other->isHidden(); }

void MeshPair::showLayout(const ShownLayout& layout) {
  const bool compares = layout.other.has_value();
  if (compares && m_other == nullptr) addOther();
  m_title->setVisible(compares);
  m_mesh->setMinimumWidth(compares ? kLeastHalf : 0);
  if (m_other != nullptr) {
    m_otherTitle->setVisible(compares);
    m_other->setVisible(compares);
    m_other->setMinimumWidth(kLeastHalf);
  }
  if (compares) {
    const OtherMoment& other = *layout.other;
    m_row->setContentsMargins(0, 0, width() % 2, 0);
    m_row->setDirection(other.isEarlier ? QBoxLayout::RightToLeft : QBoxLayout::LeftToRight);
    m_title->setText(other.shownTitle);
    m_otherTitle->setText(other.title);
    m_other->setReduceMotion(m_mesh->reducesMotion());
    m_other->setScene(*other.scene);
    m_other->setZoom(m_mesh->zoom());
  }
  m_mesh->setScene(*layout.scene);
  if (compares) follow();
}

// Halves of equal width, so that equal cells have equal sizes.
void MeshPair::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  m_row->setContentsMargins(0, 0, isComparing() ? width() % 2 : 0, 0);
}

void MeshPair::setStale(double age) {
  m_mesh->setStale(age);
  if (m_other != nullptr) m_other->setStale(age);
}

}  // namespace tessera::ui
