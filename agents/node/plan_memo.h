// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Layouts and plans that every agent computes alike, computed once for the agents of one process.
/// A simulator has hundreds of them.

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "ptc/base/result.h"
#include "ptc/layout_pair.h"
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

 private:
  template <typename Value>
  using Kept = std::deque<std::pair<std::string, Value>>;  // by key, the last one first
  const std::size_t most_;
  Kept<ptc::Layout> layouts_;
  Kept<ptc::LayoutPair> pairs_;
  Kept<OutlinePtr> outlines_;
};

}  // namespace tessera::agents
