// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The bytes that have to move between two layouts, by class. A class is all bytes that the same
/// devices hold and the same devices need.

#include <cstdint>
#include <vector>

#include "ptc/layout.h"

namespace tessera::ptc {

/// A pair of holders and needers, with the bytes of all cells that have this pair.
struct MoveClass {
  int holders = 0;  // indices into MoveClasses::sets
  int needers = 0;
  std::int64_t bytes = 0;            // in the old dtypes, in which they are sent
  std::int64_t needed_bytes = 0;     // in the new dtypes
  std::int64_t converted_bytes = 0;  // the part of needed_bytes whose dtype changes
};
struct MoveClasses {
  std::vector<DeviceId> devices;       // of both layouts, ascending
  std::vector<std::vector<int>> sets;  // ascending indices into `devices`; no set twice
  std::vector<MoveClass> classes;      // ascending by (holders, needers), each pair once
};

/// Computed by kinds of tensors (equal cuts of equal shapes), pairs of stages, and parts. The cost
/// grows with these and with the devices, not with their product. Devices of `lost` hold nothing,
/// so a class may have no holders.
/// \pre the layouts have the same tensors
MoveClasses ClassifyMoves(const Layout& from, const Layout& to, const std::vector<DeviceId>& lost);

}  // namespace tessera::ptc
