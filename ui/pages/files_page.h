// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The state of the jobs as files: the tree of a mount, the location of the bytes of each file, and
/// paths to copy. It works without a mount.

#include <QTimer>
#include <optional>
#include <set>

#include "ui/canvas/device_looks.h"
#include "ui/models/cluster_model.h"
#include "ui/models/file_tree_model.h"
#include "ui/models/job_states.h"
#include "ui/widgets/surface.h"

class QLabel;
class QLineEdit;
class QPushButton;
class QStackedLayout;

namespace tessera::ui {

class Connections;
class CopyLine;
class FileDetails;
class FileTreeView;

class FilesPage : public Surface {
  Q_OBJECT

 public:
  /// All arguments must outlive the page. `connections` may be null; mounts are then unknown.
  FilesPage(ClusterModel& model, ClusterCommands& commands, Connections* connections,
            QWidget* parent = nullptr);

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

  void setLooks(const DeviceLooks& looks);
  void setSelection(const std::set<ptc::DeviceId>& devices);
  /// Sets whether the other views show a draft, which has no files.
  void setDrafting(bool drafting);
  /// Sets "as of 14:02:31"; empty while the data are current.
  void setStale(const QString& asOf);
  /// Copies the path of the selected row.
  /// \pre copyBlockedReason().isEmpty()
  void copyPath();
  QString copyBlockedReason() const;

 signals:
  void devicesChosen(const std::set<tessera::ptc::DeviceId>& devices);
  void chosenChanged();
  /// Reports a completed action as one sentence.
  void said(const QString& text);

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

  ClusterModel& m_model;
  Connections* m_connections;
  JobStates m_states;
  FileTreeModel m_files;
  QTimer m_mountTimer;
  std::optional<QString> m_mount;
  bool m_drafting = false;
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
