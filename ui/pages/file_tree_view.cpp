// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/file_tree_view.h"

#include <QHeaderView>
#include <QPainter>
#include <QPainterPath>
#include <QScopedValueRollback>
#include <QStringList>
#include <QStyledItemDelegate>
#include <algorithm>

#include "ui/theme.h"

namespace tessera::ui {
namespace {

constexpr int kFileRowHeight = 24;
constexpr int kIndent = 14, kNarrowIndent = 9;
constexpr int kNarrow = 300;  // below this width only names are shown
constexpr int kFileGap = 8;

/// Paints names in the text colour, descriptions and sizes smaller and dimmed.
class FileDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  bool stale = false;

  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    return {QStyledItemDelegate::sizeHint(option, index).width(), kFileRowHeight};
  }

  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override {
    QStyledItemDelegate::paint(painter, option, index);
    if (index.column() != FileTreeModel::NameColumn) return;
    const QString detail = index.data(FileTreeModel::DetailRole).toString();
    if (detail.isEmpty()) return;
    const QFontMetrics name(uiFont(12.5));
    const int taken = 6 + name.horizontalAdvance(index.data().toString()) + kFileGap;
    const QRect room = option.rect.adjusted(taken, 0, -6, 0);
    if (QFontMetrics(uiFont(11)).horizontalAdvance(detail) > room.width()) return;
    painter->save();
    painter->setFont(uiFont(11));
    painter->setPen(Theme::current().dim);
    painter->drawText(room, Qt::AlignLeft | Qt::AlignVCenter, detail);
    painter->restore();
  }

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
    QStyledItemDelegate::initStyleOption(option, index);
    const bool name = index.column() == FileTreeModel::NameColumn;
    option->font = uiFont(name ? 12.5 : 11.5);
    option->textElideMode = Qt::ElideLeft;
    if (name && !stale) return;
    for (const auto role : {QPalette::Text, QPalette::HighlightedText}) {
      option->palette.setColor(role, Theme::current().dim);
    }
  }
};

}  // namespace

FileTreeView::FileTreeView(FileTreeModel& files, QWidget* parent)
    : QTreeView(parent), m_files(files) {
  setModel(&files);
  setItemDelegate(new FileDelegate(this));
  setObjectName(QStringLiteral("files"));
  setProperty("rowFocus", true);
  setAccessibleName(tr("Files of the jobs"));
  setUniformRowHeights(true);
  setIndentation(kIndent);
  setHeaderHidden(true);
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setSelectionMode(QAbstractItemView::SingleSelection);
  setTabKeyNavigation(false);
  header()->setStretchLastSection(false);
  header()->setMinimumSectionSize(20);
  header()->setSectionResizeMode(FileTreeModel::NameColumn, QHeaderView::Stretch);
  header()->setSectionResizeMode(FileTreeModel::SizeColumn, QHeaderView::Fixed);
  header()->resizeSection(FileTreeModel::SizeColumn, 72);
  connect(this, &QTreeView::expanded, this,
          [this](const QModelIndex& index) { m_open.insert(m_files.path(index)); });
  connect(this, &QTreeView::collapsed, this,
          [this](const QModelIndex& index) { m_open.remove(m_files.path(index)); });
  connect(&files, &QAbstractItemModel::modelReset, this, &FileTreeView::restore);
  connect(&files, &FileTreeModel::planMade, this, &FileTreeView::onPlanMade);
}

void FileTreeView::open(const QString& path) {
  m_open.insert(path);
  if (const QModelIndex at = m_files.indexOf(path); at.isValid()) {
    for (QModelIndex up = at; up.isValid(); up = up.parent()) expand(up);
  }
}

void FileTreeView::choose(const QString& path, const QString& tensor) {
  m_path = path;
  m_tensor = tensor;
  const QModelIndex at = m_files.indexOf(path);
  if (!at.isValid()) return;
  for (QModelIndex up = at.parent(); up.isValid(); up = up.parent()) expand(up);
  const QModelIndex row = tensor.isEmpty() ? at : m_files.indexOf(at, tensor);
  if (!row.isValid()) return;  // its plan is being made
  if (row != at) expand(at);
  setCurrentIndex(row);
  scrollTo(row);
}

void FileTreeView::setStale(bool stale) {
  auto* delegate = static_cast<FileDelegate*>(itemDelegate());
  if (delegate->stale == stale) return;
  delegate->stale = stale;
  viewport()->update();
}

void FileTreeView::currentChanged(const QModelIndex& current, const QModelIndex& previous) {
  QTreeView::currentChanged(current, previous);
  if (!m_restoring && current.isValid()) {
    m_path = m_files.path(current);
    m_tensor = m_files.tensor(current) ? current.siblingAtColumn(0).data().toString() : QString();
  }
  emit chosen(current);
}

void FileTreeView::onPlanMade(const QModelIndex& file) {
  const QString path = m_files.path(file);
  if (m_open.contains(path)) expand(file);
  if (path == m_path && !m_tensor.isEmpty()) {
    choose(m_path, QString(m_tensor));
    if (m_files.tensor(currentIndex())) return;
    choose(m_path);  // the new layout has no such tensor
  }
}

void FileTreeView::restore() {
  const QScopedValueRollback<bool> guard(m_restoring, true);
  QStringList paths(m_open.begin(), m_open.end());
  std::sort(paths.begin(), paths.end());  // folders before their content
  for (const QString& path : paths) {
    if (const QModelIndex at = m_files.indexOf(path); at.isValid()) expand(at);
  }
  if (!m_path.isEmpty()) choose(QString(m_path), QString(m_tensor));
}

void FileTreeView::resizeEvent(QResizeEvent* event) {
  setIndentation(width() < kNarrow ? kNarrowIndent : kIndent);
  QTreeView::resizeEvent(event);
}

void FileTreeView::drawRow(QPainter* painter, const QStyleOptionViewItem& option,
                           const QModelIndex& index) const {
  QTreeView::drawRow(painter, option, index);
  if (!hasFocus() || index != currentIndex().siblingAtColumn(0)) return;
  painter->setPen(Theme::current().accent);
  painter->setBrush(Qt::NoBrush);
  painter->drawRect(option.rect.adjusted(0, 0, -1, -1));
}

void FileTreeView::drawBranches(QPainter* painter, const QRect& rect,
                                const QModelIndex& index) const {
  if (!model()->hasChildren(index)) return;
  const Theme& theme = Theme::current();
  const QPointF middle(rect.right() - indentation() / 2.0 + 1, rect.center().y() + 0.5);
  QPainterPath arrow;
  if (isExpanded(index)) {
    arrow.addPolygon(QPolygonF{
        {middle + QPointF(-3.5, -2), middle + QPointF(3.5, -2), middle + QPointF(0, 2.5)}});
  } else {
    arrow.addPolygon(QPolygonF{
        {middle + QPointF(-2, -3.5), middle + QPointF(2.5, 0), middle + QPointF(-2, 3.5)}});
  }
  painter->save();
  painter->setRenderHint(QPainter::Antialiasing);
  painter->fillPath(arrow, theme.dim);
  painter->restore();
}

}  // namespace tessera::ui
