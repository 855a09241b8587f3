// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/node_states.h"

#include <algorithm>
#include <utility>

namespace tessera::ui {
namespace {

std::pair<double, std::int64_t> placeOf(const NodeStates::Moment& moment) {
  return {moment.time, moment.sequence};
}

}  // namespace

bool NodeStates::add(const std::vector<engine::Event>& events) {
  bool added = false;
  for (const engine::Event& event : events) {
    if (!event.note) continue;
    std::vector<Moment>& moments = m_moments[event.note->node];
    Moment moment{event.time, event.sequence, *event.note};
    const auto at = std::ranges::lower_bound(moments, placeOf(moment), {}, placeOf);
    if (at != moments.end() && placeOf(*at) == placeOf(moment)) continue;
    moments.insert(at, std::move(moment));
    added = true;
  }
  return added;
}

const NodeStates::Moment* NodeStates::at(std::int32_t node, double time) const {
  const auto found = m_moments.find(node);
  if (found == m_moments.end()) return nullptr;
  const auto after = std::ranges::upper_bound(found->second, time, {}, &Moment::time);
  return after == found->second.begin() ? nullptr : &*(after - 1);
}

}  // namespace tessera::ui
