// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What a layout loses with a device, a node or a rack.

#include <cstdint>

#include "engine/cluster/survival.h"
#include "ptc/layout.h"
#include "ptc/plan/kinds.h"
#include "ptc/topology/topology.h"

namespace tessera::engine {

struct Exposure {
  std::int64_t device_bytes = 0;  // the most that one device holds alone
  Survival node;
  std::int64_t rack_bytes = 0;  // the most that one rack holds alone

  /// How much may be lost without losing state: 0 nothing, 1 a device, 2 a node, 3 a rack.
  int level() const;
};

/// Returns the exposure of the new layout of `kinds` with its ranks on the devices of `mesh`.
/// \pre mesh has the shape of the new layout
Exposure ExposureOf(const ptc::Kinds& kinds, const ptc::DeviceMesh& mesh,
                    const ptc::Topology& topology);
/// Returns what a layout loses with a node.
Survival SurvivalOf(const ptc::Layout& layout);

}  // namespace tessera::engine
