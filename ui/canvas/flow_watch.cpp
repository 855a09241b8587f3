// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/canvas/flow_watch.h"

#include <algorithm>
#include <set>

namespace tessera::ui {

bool FlowWatch::mark(MeshScene* scene, std::int64_t now) {
  decltype(m_seen) seen;
  bool changed = false;
  std::set<ptc::DeviceId> waiting, served;
  for (auto& flow : scene->flows) {
    if (!flow.live) continue;
    const std::pair key(flow.from, flow.to);
    const auto before = m_seen.find(key);
    const bool same = before != m_seen.end() && before->second.done == flow.done;
    seen[key] = same ? before->second : Seen{flow.done, now};
    const bool stalled = now - seen[key].since >= kStallAfter;
    changed |= stalled && !flow.stalled;
    flow.stalled |= stalled;
    (flow.stalled ? waiting : served).insert(flow.to);
  }
  m_seen = std::move(seen);
  if (waiting.empty()) return changed;
  for (auto& node : scene->nodes) {
    for (auto& cell : node.cells) {
      if (cell.state == MeshScene::Cell::State::Receiving && waiting.contains(cell.id) &&
          !served.contains(cell.id)) {
        cell.state = MeshScene::Cell::State::Stalled;
      }
    }
  }
  return changed;
}

}  // namespace tessera::ui
