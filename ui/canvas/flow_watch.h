// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Detects stalled flows. Snapshots carry the bytes of a flow, but not the time of its last byte.

#include <cstdint>
#include <map>
#include <utility>

#include "ui/canvas/mesh_scene.h"

namespace tessera::ui {

/// A live flow is stalled after this time without a new byte, in milliseconds.
inline constexpr std::int64_t kStallAfter = 3000;

/// Stores the time of each flow's last byte.
class FlowWatch {
 public:
  /// Marks the live flows of `scene` that received nothing for kStallAfter as stalled, and the
  /// cells whose incoming flows are all stalled. Flows that no longer exist are forgotten.
  /// \param now monotonic time in milliseconds
  /// \return whether a flow is newly stalled
  bool mark(MeshScene* scene, std::int64_t now);

 private:
  struct Seen {
    std::int64_t done = 0;
    std::int64_t since = 0;
  };
  std::map<std::pair<ptc::DeviceId, ptc::DeviceId>, Seen> m_seen;
};

}  // namespace tessera::ui
