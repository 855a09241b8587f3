// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// What a history file holds, read once into memory: the panel shows it instead of a cluster.

#include <map>
#include <string>
#include <vector>

#include "engine/cluster/snapshot.h"
#include "ptc/base/result.h"

namespace tessera::app {

struct HistoryFile {
  std::vector<engine::HistoryEntry> entries;                   // newest first
  std::vector<engine::Event> events;                           // ascending
  std::map<std::string, std::vector<engine::Sample>> samples;  // by job, ascending steps
  std::string cluster;  // that it is of, else the file's name

  /// The newest rows of each kind, as many as the panel shows at most. The file is not changed.
  /// \error of engine::History::OpenReadOnly, naming the file
  static Result<HistoryFile> read(const std::string& path);
  /// A cluster without nodes: its jobs as the file knew them last.
  engine::ClusterSnapshot snapshot() const;
};

}  // namespace tessera::app
