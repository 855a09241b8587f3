// SPDX-License-Identifier: Apache-2.0
#include "engine/vfs/names.h"

#include <fmt/format.h>

#include <charconv>

namespace tessera::engine::vfs {
namespace {

/// "0", "17": the one spelling of a number below `limit`.
std::optional<int> ParseRank(std::string_view name, int limit) {
  int rank = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), rank);
  const bool canonical = error == std::errc() && end == name.data() + name.size() && rank >= 0 &&
                         (name.size() == 1 || name.front() != '0');
  return canonical && rank < limit ? std::optional(rank) : std::nullopt;
}

std::vector<Child> FixedChildren(const NodeKey& folder) {
  const auto& job = folder.job;
  switch (folder.place) {
    case Place::kRoot:
      return {{"jobs", {Place::kJobs}}};
    case Place::kJob:
      return {{"epoch", {Place::kEpoch, job}},
              {"step", {Place::kStep, job}},
              {"layout.json", {Place::kLayout, job}},
              {"ranks", {Place::kRanks, job}},
              {"full", {Place::kFull, job}}};
    case Place::kRank:
    case Place::kFull:
      return {{"model.safetensors", {Place::kState, job, folder.rank, Part::kModel}},
              {"optimizer.safetensors", {Place::kState, job, folder.rank, Part::kOptimizer}}};
    default:
      return {};
  }
}

}  // namespace

NodeKey ParentOf(const NodeKey& key) {
  switch (key.place) {
    case Place::kRoot:
    case Place::kJobs:
      return {};
    case Place::kJob:
      return {Place::kJobs};
    case Place::kRank:
      return {Place::kRanks, key.job};
    case Place::kState:
      return {key.rank ? Place::kRank : Place::kFull, key.job, key.rank};
    default:
      return {Place::kJob, key.job};
  }
}

std::vector<Child> ChildrenOf(const NodeKey& folder, const JobFacts* facts) {
  if (folder.place != Place::kRanks) return FixedChildren(folder);
  std::vector<Child> ranks;
  for (int r = 0; facts != nullptr && r < facts->info.layout.mesh().num_ranks(); ++r) {
    ranks.push_back({fmt::to_string(r), {Place::kRank, folder.job, r}});
  }
  return ranks;
}

std::optional<NodeKey> ChildNamed(const NodeKey& folder, std::string_view name,
                                  const JobFacts* facts) {
  if (folder.place == Place::kRanks) {
    const auto rank =
        facts != nullptr ? ParseRank(name, facts->info.layout.mesh().num_ranks()) : std::nullopt;
    return rank ? std::optional(NodeKey{Place::kRank, folder.job, rank}) : std::nullopt;
  }
  for (Child& child : FixedChildren(folder)) {
    if (child.name == name) return std::move(child.key);
  }
  return std::nullopt;
}

ContentPtr TextAt(Place place, const JobFacts& facts) {
  if (place == Place::kLayout) return facts.layout_json;
  const std::int64_t number = place == Place::kEpoch ? facts.info.epoch : facts.info.step;
  return std::make_shared<TextContent>(fmt::format("{}\n", number));
}

}  // namespace tessera::engine::vfs
