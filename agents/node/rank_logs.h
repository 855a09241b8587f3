// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The last lines that the ranks of this node have printed, for `job logs`. The agent's log has
/// them as well; these are kept by job and device, so that they can be followed from another
/// machine.

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tessera::agents {

/// \threadsafety One thread.
class RankLogs {
 public:
  static constexpr std::size_t kMostLines = 5'000;        // of a rank
  static constexpr std::size_t kMostBytes = 1 << 20;      // of a rank
  static constexpr std::size_t kMostLineBytes = 1 << 12;  // of a line; the rest is cut off
  static constexpr std::size_t kMostRanks =
      256;  // a further one replaces the log that was added to longest ago

  struct Lines {
    std::vector<std::string> lines;  // oldest first
    std::int64_t next = 0;           // the number that the coming line gets
  };

  void Add(const std::string& job, std::int32_t device, std::string line);
  /// The lines from number `from` on, at most the newest `limit` of them. Lines are numbered from 0
  /// since the agent started; those that are no longer kept are left out.
  Lines From(const std::string& job, std::int32_t device, std::int64_t from,
             std::int64_t limit) const;
  /// For another job of this name.
  void Forget(const std::string& job);

 private:
  struct Log {
    std::deque<std::string> lines;
    std::size_t bytes = 0;
    std::int64_t next = 0;
    std::int64_t last_use = 0;
  };

  std::map<std::pair<std::string, std::int32_t>, Log> logs_;
  std::int64_t uses_ = 0;
};

}  // namespace tessera::agents
