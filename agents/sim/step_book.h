// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Which processes know what was decided for a step. If all of them end before it is in the
/// history, nobody can know it any more.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace tessera::agents::sim {

/// Names the registrar's process.
inline constexpr char kRegistrar[] = "registrar";

class StepBook {
 public:
  /// \param is_recorded whether a step is in the history; null: nothing is noted
  explicit StepBook(std::function<bool(const std::string& job, std::int64_t step)> is_recorded)
      : is_recorded_(std::move(is_recorded)) {}

  void Knows(const std::string& process, const std::string& job, std::int64_t step) {
    if (is_recorded_) knowing_[{job, step}].insert(process);
  }
  void Forgets(const std::string& process, const std::string& job, std::int64_t step) {
    const auto found = knowing_.find({job, step});
    if (found == knowing_.end() || found->second.erase(process) == 0) return;
    if (!found->second.empty()) return;
    if (!is_recorded_(job, step)) lost_.insert({job, step});
    knowing_.erase(found);
  }
  void Ended(const std::string& process) {
    for (auto next = knowing_.begin(); next != knowing_.end();) {
      const Step step = next++->first;
      Forgets(process, step.first, step.second);
    }
  }
  /// The ranks have decided it in this timeline.
  void Made(const std::string& job, std::int64_t step, std::int64_t timeline) {
    if (!is_recorded_) return;
    std::int64_t& last = timelines_[{job, step}];
    last = std::max(last, timeline);
  }
  /// The last timeline in which it was decided.
  std::int64_t TimelineOf(const std::string& job, std::int64_t step) const {
    const auto found = timelines_.find({job, step});
    return found == timelines_.end() ? 0 : found->second;
  }
  /// The process has found it in a memory.
  void Found(const std::string& process, const std::string& job, std::int64_t step) {
    if (!is_recorded_) return;
    lost_.erase({job, step});
    if (!is_recorded_(job, step)) Knows(process, job, step);
  }
  bool is_lost(const std::string& job, std::int64_t step) const {
    return lost_.contains({job, step});
  }

 private:
  using Step = std::pair<std::string, std::int64_t>;  // of a job
  const std::function<bool(const std::string& job, std::int64_t step)> is_recorded_;
  std::map<Step, std::set<std::string>> knowing_;
  std::set<Step> lost_;
  std::map<Step, std::int64_t> timelines_;
};

}  // namespace tessera::agents::sim
