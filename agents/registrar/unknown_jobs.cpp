// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/unknown_jobs.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::agents {
namespace {
constexpr const char* kRemedy =
    "`tesseractl registrar rebuild` restores the job table from the nodes";
}  // namespace

std::set<std::string> UnknownJobs::Note(std::int32_t node, const ByJob& held) {
  std::set<std::string> changed;
  for (auto& [job, nodes] : jobs_) {
    if (!held.contains(job) && nodes.erase(node) > 0) changed.insert(job);
  }
  for (const auto& [job, what] : held) {
    Held& known = jobs_[job][node];
    if (known == what) continue;
    known = what;
    changed.insert(job);
  }
  std::erase_if(jobs_, [](const auto& entry) { return entry.second.empty(); });
  return changed;
}

std::vector<std::string> UnknownJobs::names() const {
  std::vector<std::string> names;
  for (const auto& [job, nodes] : jobs_) names.push_back(job);
  return names;
}

const std::map<std::int32_t, UnknownJobs::Held>& UnknownJobs::HoldersOf(
    const std::string& job) const {
  static const std::map<std::int32_t, Held> kNone;
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? kNone : found->second;
}

std::string UnknownJobs::TextOf(const std::string& job, std::int64_t known_epoch) const {
  std::string nodes;
  std::int64_t epoch = 0;
  for (const auto& [node, held] : HoldersOf(job)) {
    nodes += fmt::format("{}n{}", nodes.empty() ? "" : ", ", node);
    epoch = std::max(epoch, held.epoch);
  }
  const char* const verb = HoldersOf(job).size() == 1 ? "holds" : "hold";
  if (known_epoch > 0) {
    return fmt::format(
        "{} {} job '{}' at epoch {}, but this registrar has another or an older row, of epoch {}: "
        "{}",
        nodes, verb, job, epoch, known_epoch, kRemedy);
  }
  return fmt::format("{} {} job '{}' (epoch {}) that this registrar does not know: {}", nodes, verb,
                     job, epoch, kRemedy);
}

std::string UnknownJobs::OtherTextOf(const std::string& job, std::int32_t node) const {
  return fmt::format(
      "n{} holds another job '{}' (epoch {}) than this registrar, so job '{}' cannot use n{}: use "
      "other nodes; or stop job '{}', and `tesseractl registrar rebuild` restores the one of n{}",
      node, job, HoldersOf(job).at(node).epoch, job, node, job, node);
}

engine::JobStatus UnknownJobs::RowOf(const std::string& job) const {
  engine::JobStatus row;
  row.name = job;
  row.state = engine::JobState::kUnknown;
  row.reason = TextOf(job, 0);
  for (const auto& [node, held] : HoldersOf(job)) row.epoch = std::max(row.epoch, held.epoch);
  return row;
}

}  // namespace tessera::agents
