// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The contents of a history file in memory. The panel shows it instead of a cluster.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/cluster/snapshot.h"
#include "ptc/base/result.h"

namespace tessera::app {

struct HistoryFile {
  std::vector<engine::HistoryEntry> entries;                   // newest first
  std::vector<engine::Event> events;                           // ascending, with the node states
  // Of the latest job of each name, ascending steps.
  std::map<std::string, std::vector<engine::Sample>> samples;
  std::optional<std::string> simulated = {};  // the hardware of a simulated cluster
  std::string cluster;  // name of the cluster that wrote it, else the file's name

  /// Reads the newest rows of each kind, up to the number that the panel shows. Does not change the
  /// file.
  /// \error of engine::History::OpenReadOnly, naming the file
  static Result<HistoryFile> read(const std::string& path);
  /// A cluster without nodes, with the last recorded state of its jobs.
  engine::ClusterSnapshot snapshot() const;
};

}  // namespace tessera::app
