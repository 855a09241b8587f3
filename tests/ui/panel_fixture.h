// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A whole panel on a spy cluster.

#include <functional>
#include <memory>
#include <vector>

#include "tests/ui/sample_clusters.h"
#include "tests/ui/spy_commands.h"
#include "ui/main_window.h"

namespace tessera::test {

/// SmallCluster with everything a panel shows: batch, tensors, layout hash, link limit.
engine::ClusterSnapshot PanelCluster();
/// PanelCluster in the middle of going to 4 × 2 × 1.
engine::ClusterSnapshot PanelMove(engine::TxnPhase phase, const std::vector<int>& done);
/// PanelCluster after it.
engine::ClusterSnapshot PanelGrown();
/// PanelGrown after n1 was lost: the job asks how to continue.
engine::ClusterSnapshot PanelLost();
/// The same with two layers of which n1 had the only copy; a snapshot and a checkpoint are there.
engine::ClusterSnapshot PanelLostState();
std::vector<engine::Event> PanelEvents();
std::vector<engine::HistoryEntry> PanelHistory();
/// Seven minutes of them, with the pauses of PanelHistory and one by hand.
std::vector<engine::Sample> PanelSamples();

/// Delivers all posted events and expired timers, so that layouts and answers take effect.
void settle();

class Panel {
 public:
  explicit Panel(ui::WindowOptions options = {}, engine::ClusterSnapshot snapshot = PanelCluster());

  void setSnapshot(engine::ClusterSnapshot snapshot);
  /// Waits until the plan of the draft is there, at most a second.
  /// \return whether it is
  bool waitForPlan();

  ui::ClusterModel model;
  SpyCommands commands;
  std::unique_ptr<ui::MainWindow> window;
};

}  // namespace tessera::test
