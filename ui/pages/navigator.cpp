// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/navigator.h"

#include <QHeaderView>
#include <QLabel>
#include <QScopedValueRollback>
#include <QStyledItemDelegate>
#include <QTreeView>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/format.h"
#include "ui/theme.h"
#include "ui/widgets/key_values.h"

namespace tessera::ui {
namespace {

constexpr int kTreeRowHeight = 24;
constexpr int kDevicesToUnfold = 64;  // of a larger cluster the nodes stay folded

/// Paints names in the text colour, states smaller and dimmed.
class TreeDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    return {QStyledItemDelegate::sizeHint(option, index).width(), kTreeRowHeight};
  }

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
    QStyledItemDelegate::initStyleOption(option, index);
    const bool name = index.column() == ClusterTreeModel::NameColumn;
    option->font = uiFont(name ? 12.5 : 11.5,
                          name && !index.parent().isValid() ? QFont::DemiBold : QFont::Normal);
    if (!name) {
      const QColor dim = Theme::current().dim;
      option->palette.setColor(QPalette::Text, dim);
      option->palette.setColor(QPalette::HighlightedText, dim);
    }
  }
};

QLabel* groupLabel(const QString& text, QWidget* parent) {
  auto* label = new QLabel(text, parent);
  label->setProperty("role", QStringLiteral("group"));
  label->setContentsMargins(8, 0, 0, 0);
  return label;
}

}  // namespace

Navigator::Navigator(const ClusterModel& model, QWidget* parent)
    : Surface(Tone::Panel, parent),
      m_tree(new QTreeView(this)),
      m_jobTitle(groupLabel(tr("JOB"), this)),
      m_job(new KeyValues(this)) {
  m_tree->setModel(&m_treeModel);
  m_tree->setItemDelegate(new TreeDelegate(m_tree));
  m_tree->setHeaderHidden(true);
  m_tree->setIndentation(14);
  m_tree->setUniformRowHeights(true);
  m_tree->setSelectionMode(QAbstractItemView::ExtendedSelection);
  m_tree->setAllColumnsShowFocus(true);
  m_tree->setFrameShape(QFrame::NoFrame);
  m_tree->setAccessibleName(tr("Cluster"));
  m_tree->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_tree->header()->setStretchLastSection(false);
  m_tree->header()->setMinimumSectionSize(20);
  // A name is never shortened; a long state is.
  m_tree->header()->setSectionResizeMode(ClusterTreeModel::NameColumn,
                                         QHeaderView::ResizeToContents);
  m_tree->header()->setSectionResizeMode(ClusterTreeModel::StateColumn, QHeaderView::Stretch);

  auto* facts = new QVBoxLayout;
  facts->setContentsMargins(8, 0, 8, 0);
  facts->addWidget(m_job);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(6, 12, 6, 12);
  column->setSpacing(6);
  column->addWidget(groupLabel(tr("CLUSTER"), this));
  column->addWidget(m_tree, 1);
  column->addSpacing(6);
  column->addWidget(m_jobTitle);
  column->addLayout(facts);
  column->addStretch();
  setMinimumWidth(200);  // "n511g7", "rank 4095" and a scroll bar

  connect(m_tree->selectionModel(), &QItemSelectionModel::selectionChanged, this,
          &Navigator::onSelectionChanged);
  connect(&m_treeModel, &QAbstractItemModel::modelAboutToBeReset, this,
          &Navigator::rememberUnfolded);
  connect(&m_treeModel, &QAbstractItemModel::modelReset, this, &Navigator::unfold);
  connect(m_tree, &QTreeView::expanded, this, &Navigator::fitTree);
  connect(m_tree, &QTreeView::collapsed, this, &Navigator::fitTree);
  refresh(model);
}

void Navigator::rememberUnfolded() {
  m_unfolded.clear();
  const QModelIndex cluster = m_treeModel.index(0, 0);
  for (int row = 0; row < m_treeModel.rowCount(cluster); ++row) {
    const QModelIndex index = m_treeModel.index(row, 0, cluster);
    if (const auto node = m_treeModel.node(index); node && m_tree->isExpanded(index)) {
      m_unfolded.insert(*node);
    }
  }
}

void Navigator::unfold() {
  m_shown.reset();  // the selection is lost, too
  const QModelIndex cluster = m_treeModel.index(0, 0);
  int devices = 0;
  for (int row = 0; row < m_treeModel.rowCount(cluster); ++row) {
    devices += m_treeModel.rowCount(m_treeModel.index(row, 0, cluster));
  }
  m_tree->setExpanded(cluster, true);
  for (int row = 0; row < m_treeModel.rowCount(cluster); ++row) {
    const QModelIndex index = m_treeModel.index(row, 0, cluster);
    const auto node = m_treeModel.node(index);
    m_tree->setExpanded(index, devices <= kDevicesToUnfold || (node && m_unfolded.contains(*node)));
  }
  fitTree();
}

void Navigator::fitTree() {
  int rows = 0;
  for (QModelIndex index = m_treeModel.index(0, 0); index.isValid();
       index = m_tree->indexBelow(index)) {
    ++rows;
  }
  m_tree->setMaximumHeight(std::max(rows, 1) * kTreeRowHeight + 4);
}

void Navigator::refresh(const ClusterModel& shown, const Draft* draft) {
  {
    // A reset clears the selection of the tree; the selection of the user must survive.
    const QScopedValueRollback<bool> silent(m_silent, true);
    if (shown.hasSnapshot()) m_treeModel.setSnapshot(shown.snapshot(), draft);
  }
  const engine::JobStatus* job = shown.job();
  m_jobTitle->setVisible(job != nullptr);
  m_job->setVisible(job != nullptr);
  if (job == nullptr) return;
  const auto known = [](bool isKnown, const QString& text) {
    return isKnown ? text : format::orUnknown(std::nullopt);
  };
  std::vector<KeyValues::Row> rows{
      {tr("Model"), known(!job->model.empty(), QString::fromStdString(job->model))},
      {tr("Tensors"), known(job->num_tensors > 0, format::count(job->num_tensors))},
      {tr("State"), known(job->state_bytes > 0, format::bytes(job->state_bytes))},
      {tr("Replicas"), format::count(job->mesh[ptc::Axis::kDp])},
      {tr("Global batch"), known(job->global_batch > 0, format::count(job->global_batch))},
  };
  if (job->max_steps > 0) rows.push_back({tr("Ends at step"), format::count(job->max_steps)});
  m_job->setRows(rows);
}

void Navigator::setSelection(const std::set<ptc::DeviceId>& devices) {
  if (devices == m_shown) return;  // to select thousands of rows takes long
  m_shown = devices;
  const QScopedValueRollback<bool> silent(m_silent, true);
  QItemSelection selection;
  QModelIndex first;
  for (const ptc::DeviceId device : devices) {
    const QModelIndex index = m_treeModel.indexOf(device);
    if (!index.isValid()) continue;
    if (!first.isValid()) first = index;
    selection.select(index, index.siblingAtColumn(ClusterTreeModel::StateColumn));
  }
  m_tree->selectionModel()->select(selection, QItemSelectionModel::ClearAndSelect);
  if (first.isValid() && !m_tree->hasFocus()) {
    m_tree->selectionModel()->setCurrentIndex(first, QItemSelectionModel::NoUpdate);
    m_tree->scrollTo(first);
  }
}

void Navigator::onSelectionChanged() {
  if (m_silent) return;
  std::set<ptc::DeviceId> devices;
  for (const QModelIndex& index : m_tree->selectionModel()->selectedRows()) {
    if (const auto device = m_treeModel.device(index)) devices.insert(*device);
    if (!m_treeModel.node(index)) continue;
    for (int row = 0; row < m_treeModel.rowCount(index); ++row) {
      devices.insert(*m_treeModel.device(m_treeModel.index(row, 0, index)));
    }
  }
  m_shown.reset();  // of a node all devices are meant
  emit selectionChosen(devices);
}

}  // namespace tessera::ui
