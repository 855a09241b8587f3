// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The tree of files: names, a description in smaller type, and sizes on the right. Open folders
/// and the selection are kept when another layout replaces the rows.

#include <QSet>
#include <QTreeView>

#include "ui/models/file_tree_model.h"

namespace tessera::ui {

class FileTreeView : public QTreeView {
  Q_OBJECT

 public:
  /// `files` must outlive the view.
  explicit FileTreeView(FileTreeModel& files, QWidget* parent = nullptr);
  /// Opens the folders of a path and selects it. A tensor is selected once the plan of its file is
  /// made.
  void choose(const QString& path, const QString& tensor = {});
  /// Opens a folder, or a file once its plan is made.
  void open(const QString& path);
  void setStale(bool stale);

 signals:
  /// Another row is selected. Invalid: none.
  void chosen(const QModelIndex& index);

 protected:
  void currentChanged(const QModelIndex& current, const QModelIndex& previous) override;
  void resizeEvent(QResizeEvent* event) override;
  /// Draws the focus frame around the whole row.
  void drawRow(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
  void drawBranches(QPainter* painter, const QRect& rect, const QModelIndex& index) const override;

 private:
  void onPlanMade(const QModelIndex& file);
  void restore();

  FileTreeModel& m_files;
  QSet<QString> m_open;      // paths
  QString m_path, m_tensor;  // of the selected row
  bool m_restoring = false;
};

}  // namespace tessera::ui
