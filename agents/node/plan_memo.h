// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Layouts, plans and long texts that every agent computes alike, computed once for the agents of
/// one process. A simulator has hundreds of them.

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "agents/node/job_row.h"
#include "engine/store/piece_table.h"
#include "ptc/base/result.h"
#include "ptc/layout_pair.h"
#include "ptc/plan/device_cells.h"
#include "ptc/plan/outline.h"

namespace tessera::agents {

/// \threadsafety One thread.
class PlanMemo {
 public:
  /// \param kept how many of each are kept; 0: each call computes
  explicit PlanMemo(std::size_t kept = 0) : most_(kept) {}
  PlanMemo(const PlanMemo&) = delete;
  PlanMemo& operator=(const PlanMemo&) = delete;

  /// As ptc::ParseLayout, ptc::ParseLayoutPair.
  Result<ptc::Layout> ParseLayout(std::string_view text);
  Result<ptc::LayoutPair> ParsePair(std::string_view from, std::string_view to);
  using OutlinePtr = std::shared_ptr<const ptc::Outline>;
  /// \param key of all that the outline depends on
  Result<OutlinePtr> Outline(const std::string& key,
                             const std::function<Result<ptc::Outline>()>& make);
  using Text = std::shared_ptr<const std::string>;
  /// An equal text that another agent holds, or this one.
  Text Share(std::string_view text);
  /// Replicas have equal tables on all their devices: their entries are kept once.
  void ShareEntries(engine::PieceTable& table);
  /// The cells of devices by what they need.
  using CellsPtr = std::shared_ptr<const ptc::DeviceCells>;
  CellsPtr NeededCells(const ptc::Layout& from, const ptc::Layout& to);
  /// As agents::ToText.
  Text RowText(const JobRow& row);

 private:
  template <typename Value>
  using Kept = std::deque<std::pair<std::string, Value>>;  // by key, the last one first
  static constexpr std::size_t kFew = 64;
  const std::size_t most_;
  Kept<ptc::Layout> layouts_;
  Kept<ptc::LayoutPair> pairs_;
  Kept<OutlinePtr> outlines_;
  Kept<Text> rows_;
  Kept<CellsPtr> cells_;
  std::multimap<std::uint64_t, std::weak_ptr<const std::string>> texts_;  // by checksum
  using WeakEntries = std::weak_ptr<const std::vector<engine::PieceEntry>>;
  std::multimap<std::pair<std::size_t, std::int64_t>, WeakEntries> entries_;  // by number and bytes
  /// With so many of them, those that nobody holds are removed.
  std::size_t sweep_texts_at_ = kFew, sweep_entries_at_ = kFew;
};

}  // namespace tessera::agents
