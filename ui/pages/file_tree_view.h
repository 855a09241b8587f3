// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The tree of files: names, in a smaller type what they are, and sizes on the right. What is open
/// and chosen stays so when another layout takes the place of the rows.

#include <QSet>
#include <QTreeView>

#include "ui/models/file_tree_model.h"

namespace tessera::ui {

class FileTreeView : public QTreeView {
  Q_OBJECT

 public:
  /// `files` outlives the view.
  explicit FileTreeView(FileTreeModel& files, QWidget* parent = nullptr);
  /// Opens the folders of a path and chooses it; a tensor of a file too, once the file's plan is
  /// made.
  void choose(const QString& path, const QString& tensor = {});
  /// Opens a folder, or a file once its plan is made.
  void open(const QString& path);
  void setStale(bool stale);

 signals:
  /// Another row is chosen; invalid: none.
  void chosen(const QModelIndex& index);

 protected:
  void currentChanged(const QModelIndex& current, const QModelIndex& previous) override;
  void resizeEvent(QResizeEvent* event) override;
  /// The focus frames the row as a whole.
  void drawRow(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
  void drawBranches(QPainter* painter, const QRect& rect, const QModelIndex& index) const override;

 private:
  void onPlanMade(const QModelIndex& file);
  void restore();

  FileTreeModel& m_files;
  QSet<QString> m_open;      // paths
  QString m_path, m_tensor;  // of the chosen row
  bool m_restoring = false;
};

}  // namespace tessera::ui
