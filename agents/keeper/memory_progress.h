// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// How much of a node's memory its keeper has made. The keeper writes it to a file of the node's
/// directory; the program that starts the node waits as long as it grows.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera::agents {

struct MemoryProgress {
  std::int64_t made_bytes = 0;
  std::int64_t total_bytes = 0;
  friend bool operator==(const MemoryProgress&, const MemoryProgress&) = default;
};

/// Replaces DIRECTORY/keeper.memory. A failure is ignored: the file only informs.
void WriteMemoryProgress(const std::string& directory, const MemoryProgress& progress);
/// \return nullopt if there is no such file, or other bytes in it
std::optional<MemoryProgress> ReadMemoryProgress(const std::string& directory);

/// Decides how long to wait for nodes that start: `patience` after the last growth of their memory.
class MemoryWatch {
 public:
  using Clock = std::chrono::steady_clock;
  /// \param directories of the nodes
  MemoryWatch(std::vector<std::string> directories, Clock::duration patience,
              Clock::time_point now = Clock::now());

  /// Reads the progress of all nodes.
  /// \return whether nothing has grown for `patience`
  bool IsOver(Clock::time_point now = Clock::now());
  /// The sum over nodes at the last call of IsOver.
  const MemoryProgress& progress() const { return progress_; }

 private:
  const std::vector<std::string> directories_;
  const Clock::duration patience_;
  Clock::time_point last_growth_;
  MemoryProgress progress_;
};

}  // namespace tessera::agents
