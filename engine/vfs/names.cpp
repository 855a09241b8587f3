// SPDX-License-Identifier: Apache-2.0
#include "engine/vfs/names.h"

#include <fmt/format.h>

#include <charconv>

namespace tessera::engine::vfs {
namespace {

/// The number below `limit` that `name` spells without leading zeros.
std::optional<int> ParseRank(std::string_view name, int limit) {
  int rank = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), rank);
  const bool canonical = error == std::errc() && end == name.data() + name.size() && rank >= 0 &&
                         (name.size() == 1 || name.front() != '0');
  return canonical && rank < limit ? std::optional(rank) : std::nullopt;
}

std::vector<Child> FixedChildren(const NodeKey& folder) {
  const auto& job = folder.job;
  switch (folder.kind) {
    case NodeKind::kRoot:
      return {{"jobs", {NodeKind::kJobs}}};
    case NodeKind::kJob:
      return {{"epoch", {NodeKind::kEpoch, job}},
              {"step", {NodeKind::kStep, job}},
              {"layout.json", {NodeKind::kLayout, job}},
              {"ranks", {NodeKind::kRanks, job}},
              {"full", {NodeKind::kFull, job}}};
    case NodeKind::kRank:
    case NodeKind::kFull:
      return {
          {"model.safetensors", {NodeKind::kState, job, folder.rank, StateFile::kModel}},
          {"optimizer.safetensors", {NodeKind::kState, job, folder.rank, StateFile::kOptimizer}}};
    default:
      return {};
  }
}

/// Kind and number of the numbered folders in `folder`.
std::pair<NodeKind, int> NumberedChildren(const NodeKey& folder, const JobFacts* facts) {
  if (folder.kind == NodeKind::kData) {
    return {NodeKind::kDataRank, facts != nullptr && facts->info.has_data ? NumReaders(*facts) : 0};
  }
  return {NodeKind::kRank, facts != nullptr ? facts->info.layout.mesh().num_ranks() : 0};
}

bool HasNumbers(const NodeKey& folder) {
  return folder.kind == NodeKind::kRanks || folder.kind == NodeKind::kData;
}

}  // namespace

int NumReaders(const JobFacts& facts) {
  return static_cast<int>(facts.info.layout.mesh().shape()[ptc::Axis::kDp]);
}

NodeKey ParentOf(const NodeKey& key) {
  switch (key.kind) {
    case NodeKind::kRoot:
    case NodeKind::kJobs:
      return {};
    case NodeKind::kJob:
      return {NodeKind::kJobs};
    case NodeKind::kRank:
      return {NodeKind::kRanks, key.job};
    case NodeKind::kState:
    case NodeKind::kIncoming:
    case NodeKind::kScratch:
      return {key.rank ? NodeKind::kRank : NodeKind::kFull, key.job, key.rank};
    case NodeKind::kDataRank:
      return {NodeKind::kData, key.job};
    case NodeKind::kShare:
      return {NodeKind::kDataRank, key.job, key.rank};
    default:
      return {NodeKind::kJob, key.job};
  }
}

std::vector<Child> ChildrenOf(const NodeKey& folder, const JobFacts* facts) {
  if (!HasNumbers(folder)) {
    auto fixed = FixedChildren(folder);
    if (folder.kind == NodeKind::kJob && facts != nullptr && facts->info.has_data) {
      fixed.push_back({"data", {NodeKind::kData, folder.job}});
    }
    return fixed;
  }
  const auto [kind, count] = NumberedChildren(folder, facts);
  std::vector<Child> ranks;
  for (int r = 0; r < count; ++r) ranks.push_back({fmt::to_string(r), {kind, folder.job, r}});
  return ranks;
}

std::optional<NodeKey> ChildNamed(const NodeKey& folder, std::string_view name,
                                  const JobFacts* facts) {
  if (HasNumbers(folder)) {
    const auto [kind, count] = NumberedChildren(folder, facts);
    const auto rank = ParseRank(name, count);
    return rank ? std::optional(NodeKey{kind, folder.job, rank}) : std::nullopt;
  }
  for (Child& child : ChildrenOf(folder, facts)) {
    if (child.name == name) return std::move(child.key);
  }
  return std::nullopt;
}

ContentPtr TextAt(NodeKind kind, const JobFacts& facts) {
  if (kind == NodeKind::kLayout) return facts.layout_json;
  const std::int64_t number = kind == NodeKind::kEpoch ? facts.info.epoch : facts.info.step;
  return std::make_shared<TextContent>(fmt::format("{}\n", number));
}

}  // namespace tessera::engine::vfs
