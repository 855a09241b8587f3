// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The state of the jobs as files: the tree of a mount, the location of the bytes of each file, and
/// paths to copy. It works without a mount.

#include <QTimer>
#include <optional>
#include <set>

#include "ui/models/file_tree_model.h"
#include "ui/models/job_states.h"
#include "ui/views/view.h"
#include "ui/widgets/surface.h"

class QLabel;
class QLineEdit;
class QPushButton;
class QStackedLayout;

namespace tessera::ui {

class CopyLine;
class FileDetails;
class FileTreeView;

class FilesPage : public Surface, public View {
  Q_OBJECT

 public:
  /// Without connections mounts are unknown.
  FilesPage(const ViewContext& context, QWidget* parent);

  QString id() const override { return QStringLiteral("files"); }
  QString title() const override { return tr("Files"); }
  QString actionText() const override { return tr("F&iles"); }
  QString statusTip() const override {
    return tr("Show the state as files, with their paths and the location of their bytes");
  }
  QKeySequence key() const override { return QKeySequence(QStringLiteral("Ctrl+5")); }
  QWidget* widget() override { return this; }
  QWidget* focusTarget() override;
  QLineEdit* filter() override;
  QList<Command> commands() override;
  void showLayout(const ShownLayout& layout) override;
  void setStale(double age, const QString& asOf) override;

  /// The text shown instead of the page; empty while the page is shown.
  QString words() const;
  FileTreeModel& files() { return m_files; }
  FileTreeView* tree() const { return m_tree; }
  FileDetails* details() const { return m_details; }
  QLineEdit* filterEdit() const { return m_filter; }
  /// The line above the tree: the mount point, or how to mount.
  QString mountText() const;
  /// Why the tree does not show the current source; empty if it does.
  QString hintText() const;
  CopyLine* mountCommand() const { return m_command; }

  /// Copies the path of the selected row.
  /// \pre copyBlockedReason().isEmpty()
  void copyPath();
  QString copyBlockedReason() const;

 protected:
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;

 private:
  QWidget* buildHeader();
  QWidget* buildTree();
  void addTreeActions();
  void refresh();
  void refreshMount();
  void refreshHint();
  void showChosen();
  QString whyNothing() const;
  void chooseFirst();
  void applyFilter();
  void openFolder();
  bool isHere(std::int32_t node) const;

  ViewContext m_context;
  ClusterModel& m_model;
  Connections* m_connections;
  JobStates& m_states;
  ShownLayout m_layout;
  FileTreeModel m_files;
  QTimer m_mountTimer;
  std::optional<QString> m_mount;
  bool m_chosen = false;  // a first row was selected
  QString m_asOf;
  QStackedLayout* m_stack;
  QLabel *m_words, *m_mountLabel, *m_hint;
  CopyLine* m_command;
  QPushButton* m_openFolder;
  QLineEdit* m_filter;
  FileTreeView* m_tree;
  FileDetails* m_details;
};

}  // namespace tessera::ui
