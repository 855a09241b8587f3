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

/// The place of folders with numbers for names that stand in `folder`, and how many there are.
std::pair<Place, int> NumberedChildren(const NodeKey& folder, const JobFacts* facts) {
  if (folder.place == Place::kData) {
    return {Place::kDataRank, facts != nullptr && facts->info.has_data ? NumReaders(*facts) : 0};
  }
  return {Place::kRank, facts != nullptr ? facts->info.layout.mesh().num_ranks() : 0};
}

bool HasNumbers(const NodeKey& folder) {
  return folder.place == Place::kRanks || folder.place == Place::kData;
}

}  // namespace

int NumReaders(const JobFacts& facts) {
  return static_cast<int>(facts.info.layout.mesh().shape()[ptc::Axis::kDp]);
}

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
    case Place::kIncoming:
    case Place::kScratch:
      return {key.rank ? Place::kRank : Place::kFull, key.job, key.rank};
    case Place::kDataRank:
      return {Place::kData, key.job};
    case Place::kShare:
      return {Place::kDataRank, key.job, key.rank};
    default:
      return {Place::kJob, key.job};
  }
}

std::vector<Child> ChildrenOf(const NodeKey& folder, const JobFacts* facts) {
  if (!HasNumbers(folder)) {
    auto fixed = FixedChildren(folder);
    if (folder.place == Place::kJob && facts != nullptr && facts->info.has_data) {
      fixed.push_back({"data", {Place::kData, folder.job}});
    }
    return fixed;
  }
  const auto [place, count] = NumberedChildren(folder, facts);
  std::vector<Child> ranks;
  for (int r = 0; r < count; ++r) ranks.push_back({fmt::to_string(r), {place, folder.job, r}});
  return ranks;
}

std::optional<NodeKey> ChildNamed(const NodeKey& folder, std::string_view name,
                                  const JobFacts* facts) {
  if (HasNumbers(folder)) {
    const auto [place, count] = NumberedChildren(folder, facts);
    const auto rank = ParseRank(name, count);
    return rank ? std::optional(NodeKey{place, folder.job, rank}) : std::nullopt;
  }
  for (Child& child : ChildrenOf(folder, facts)) {
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
