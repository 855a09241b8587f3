// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// What the state page says while there is no cluster to draw.

#include <QString>
#include <optional>

namespace tessera::ui {

class ClusterModel;
class StatePage;
struct StoppedCluster;

/// Whether the canvas draws the cluster; otherwise the page is shown in its place.
bool isClusterDrawn(const ClusterModel& model);

/// What the page depends on besides the cluster.
struct StateFacts {
  /// What a cluster of this machine does that starts; nothing: none starts.
  std::optional<QString> starting = {};
  bool canConnect = false;                  // the panel has connections
  const StoppedCluster* stopped = nullptr;  // of a stopped cluster; null: not known
};
/// Does nothing while the cluster is drawn.
void showClusterState(StatePage* page, const ClusterModel& model, const StateFacts& facts);

}  // namespace tessera::ui
