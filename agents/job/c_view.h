// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Views in the form of the C interface.

#include <cstddef>
#include <deque>
#include <vector>

#include "agents/job/rank_view.h"
#include "agents/job/tessera_job.h"

namespace tessera::agents {

/// A RankView and the C struct that points into it.
class CView {
 public:
  explicit CView(RankView view);
  CView(const CView&) = delete;
  CView& operator=(const CView&) = delete;

  const tessera_view& c() const { return c_; }
  const RankView& view() const { return view_; }

 private:
  RankView view_;
  std::vector<const char*> addresses_;
  tessera_view c_{};
};

/// The current view and the one before it. A job may still hold a pointer to the view that an
/// adopt has replaced; the next adopt frees that view.
class CViews {
 public:
  explicit CViews(RankView first) { views_.emplace_back(std::move(first)); }
  /// Makes `view` the current one.
  void Push(RankView view);
  const CView& current() const { return views_.back(); }
  std::size_t num_kept() const { return views_.size(); }

 private:
  std::deque<CView> views_;  // at most two
};

}  // namespace tessera::agents
