// SPDX-License-Identifier: Apache-2.0
#include "agents/job/c_view.h"

#include <algorithm>
#include <string>
#include <utility>

namespace tessera::agents {

CView::CView(RankView view) : view_(std::move(view)) {
  for (const std::string& address : view_.address_of_rank) addresses_.push_back(address.c_str());
  c_.epoch = view_.epoch;
  c_.attempt = view_.attempt;
  c_.rank = view_.rank;
  c_.world = view_.world;
  std::copy(view_.axis_size.begin(), view_.axis_size.end(), c_.axis_size);
  std::copy(view_.axis_coord.begin(), view_.axis_coord.end(), c_.axis_coord);
  c_.micro_batch = view_.micro_batch;
  c_.node_of_rank = view_.node_of_rank.data();
  c_.host_of_rank = view_.host_of_rank.data();
  c_.address_of_rank = addresses_.data();
}

void CViews::Push(RankView view) {
  views_.emplace_back(std::move(view));
  if (views_.size() > 2) views_.pop_front();
}

}  // namespace tessera::agents
