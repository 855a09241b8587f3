// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Notices flows that have stopped: snapshots carry bytes, not how long they have stood still.

#include <cstdint>
#include <map>
#include <utility>

#include "ui/canvas/mesh_scene.h"

namespace tessera::ui {

/// A live flow without a new byte for this long is stalled. Milliseconds.
inline constexpr std::int64_t kStallAfter = 3000;

/// Remembers when each flow last brought a byte.
class FlowWatch {
 public:
  /// Marks live flows of `scene` as stalled where nothing came for kStallAfter until `now`, and
  /// cells that receive from stalled flows only. `now` is monotonic, milliseconds. Flows that are
  /// gone are forgotten. Returns whether a flow was marked that was not.
  bool mark(MeshScene* scene, std::int64_t now);

 private:
  struct Seen {
    std::int64_t done = 0;
    std::int64_t since = 0;
  };
  std::map<std::pair<ptc::DeviceId, ptc::DeviceId>, Seen> m_seen;
};

}  // namespace tessera::ui
