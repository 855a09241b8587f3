// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What has to move between two layouts, reduced to classes: all bytes that the same devices hold
/// and the same devices need.

#include <cstdint>
#include <vector>

#include "ptc/layout.h"

namespace tessera::ptc {

/// H(u) and N(u) of PTC.md section 2 with the bytes of all u that have them.
struct MoveClass {
  int holders = 0;  // indices into MoveClasses::sets
  int needers = 0;
  std::int64_t bytes = 0;            // as they are held; they travel like that
  std::int64_t needed_bytes = 0;     // as they are needed: other than `bytes` where dtypes change
  std::int64_t converted_bytes = 0;  // of needed_bytes, those that change their dtype
};
struct MoveClasses {
  std::vector<DeviceId> devices;       // of either layout, ascending
  std::vector<std::vector<int>> sets;  // ascending positions in `devices`, no set twice
  std::vector<MoveClass> classes;      // ascending by (holders, needers), each pair once
};

/// Computed by kinds of tensors (equal cuts of equal shapes), pairs of stages and parts: the cost
/// grows with these and with the devices, not with their product.
/// Devices of `lost` hold nothing, so holders may be none.
/// \pre the layouts are of the same tensors
MoveClasses ClassifyMoves(const Layout& from, const Layout& to, const std::vector<DeviceId>& lost);

}  // namespace tessera::ptc
