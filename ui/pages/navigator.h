// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The left pane: the cluster as a tree, and facts about the shown job.

#include <optional>
#include <set>

#include "ui/models/cluster_model.h"
#include "ui/models/cluster_tree_model.h"
#include "ui/widgets/surface.h"

class QLabel;
class QTreeView;

namespace tessera::ui {

class KeyValues;

class Navigator : public Surface {
  Q_OBJECT

 public:
  explicit Navigator(const ClusterModel& model, QWidget* parent = nullptr);
  /// Shows the cluster of `shown`. `draft` is null unless the source is Draft.
  void refresh(const ClusterModel& shown, const Draft* draft = nullptr);
  /// Shows a selection made in another view, without emitting a signal.
  void setSelection(const std::set<ptc::DeviceId>& devices);
  QTreeView* tree() const { return m_tree; }

 signals:
  /// The user selected these devices. A node represents all of its devices.
  void selectionChosen(const std::set<tessera::ptc::DeviceId>& devices);

 private:
  void onSelectionChanged();
  /// A reset of the tree folds it. In a small cluster all is unfolded, in a large one what was.
  void rememberUnfolded();
  void unfold();
  void fitTree();

  ClusterTreeModel m_treeModel;
  QTreeView* m_tree;
  QLabel* m_jobTitle;
  KeyValues* m_job;
  std::set<std::int32_t> m_unfolded;  // nodes, before a reset
  std::optional<std::set<ptc::DeviceId>> m_shown;  // the selection, unless the user changed it
  bool m_silent = false;
};

}  // namespace tessera::ui
