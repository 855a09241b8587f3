// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Which processes know what was decided for a step. If all of them end before it is in the
/// history, nobody can know it any more.

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace tessera::agents::sim {

class StepBook {
 public:
  /// \param is_recorded whether a step is in the history
  explicit StepBook(std::function<bool(std::int64_t step)> is_recorded)
      : is_recorded_(std::move(is_recorded)) {}

  void Knows(const std::string& process, std::int64_t step) { knowing_[step].insert(process); }
  void Forgets(const std::string& process, std::int64_t step) {
    const auto found = knowing_.find(step);
    if (found == knowing_.end() || found->second.erase(process) == 0) return;
    if (!found->second.empty()) return;
    if (!is_recorded_(step)) lost_.insert(step);
    knowing_.erase(found);
  }
  void Ended(const std::string& process) {
    for (auto next = knowing_.begin(); next != knowing_.end();) {
      const std::int64_t step = next++->first;
      Forgets(process, step);
    }
  }
  bool is_lost(std::int64_t step) const { return lost_.contains(step); }

 private:
  const std::function<bool(std::int64_t step)> is_recorded_;
  std::map<std::int64_t, std::set<std::string>> knowing_;  // by step
  std::set<std::int64_t> lost_;
};

}  // namespace tessera::agents::sim
