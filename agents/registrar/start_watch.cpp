// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/start_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/search/fit.h"
#include "ptc/base/counted.h"

namespace tessera::agents {
namespace {

double PartOf(const RankLoading& loading) {
  if (loading.total <= 0) return 0;
  return static_cast<double>(loading.done) / static_cast<double>(loading.total);
}

std::string HowFar(const RankLoading& loading) {
  if (loading.total == 0) return "is finding its files";
  if (loading.done == 0) {
    return fmt::format("is finding its files, {} so far", engine::BytesText(loading.total));
  }
  return fmt::format("{:.1f} % of {}", 100 * PartOf(loading), engine::BytesText(loading.total));
}

}  // namespace

std::string OpeningText(std::int32_t node, const RankLoading& loading) {
  return fmt::format("opening data: n{} {}", node, HowFar(loading));
}

StartWatch::StartWatch(const std::vector<ptc::DeviceId>& ranks, Time now) : last_progress_(now) {
  for (const ptc::DeviceId rank : ranks) rows_[rank] = {std::nullopt, now};
}

void StartWatch::Note(ptc::DeviceId rank, const RankLoading& loading, Time now) {
  const auto row = rows_.find(rank);
  if (row == rows_.end()) return;
  row->second = {loading, now};
  last_progress_ = now;
}

void StartWatch::NodeReady(std::int32_t node) {
  rows_.erase(rows_.lower_bound({node, 0}), rows_.lower_bound({node + 1, 0}));
}

std::string StartWatch::Text() const {
  std::set<std::int32_t> nodes;
  const std::pair<const ptc::DeviceId, Row>* slowest = nullptr;
  for (const auto& row : rows_) {
    if (!row.second.loads()) continue;
    nodes.insert(row.first.node);
    if (!slowest || PartOf(*row.second.loading) < PartOf(*slowest->second.loading)) slowest = &row;
  }
  if (!slowest) return {};
  std::string text = OpeningText(slowest->first.node, *slowest->second.loading);
  const std::size_t others = nodes.size() - 1;
  if (others == 0) return text;
  return fmt::format("{}; {} too", text, Counted(static_cast<std::int64_t>(others), "other node"));
}

std::optional<StartWatch::Late> StartWatch::FindLate(Time now, std::chrono::seconds limit) const {
  bool any_loads = false;
  for (const auto& [rank, row] : rows_) {
    if (!row.loads()) continue;
    any_loads = true;
    if (now - row.last_progress > limit) {
      return Late{rank, fmt::format("made no progress with its data for {} s: {}", limit.count(),
                                    HowFar(*row.loading))};
    }
  }
  if (any_loads || rows_.empty() || now - last_progress_ <= limit) return std::nullopt;
  const auto silent =
      std::ranges::find_if(rows_, [](const auto& row) { return !row.second.loading; });
  if (silent != rows_.end()) {
    return Late{silent->first,
                fmt::format("was not ready after {} s and reported no progress", limit.count())};
  }
  return Late{
      rows_.begin()->first,
      fmt::format(
          "was not ready {} s after all data were open: its process groups are not connected",
          limit.count())};
}

std::string LateText(const Membership& members, const StartWatch::Late& late) {
  const Membership::Node* node = members.Find(late.rank.node);
  return fmt::format("{}{} {}", ToString(late.rank),
                     node ? fmt::format(" on '{}'", node->peer.host()) : "", late.what);
}

}  // namespace tessera::agents
