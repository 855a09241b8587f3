// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Digests by cell. The reports of all holders of a cell are compared, which finds replicas that
/// differ; then one report per cell enters the digest of the collection.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ptc/cells.h"
#include "ptc/digest.h"
#include "ptc/layout.h"

namespace tessera::agents {

/// A cell of the whole collection.
struct JobCell {
  int tensor = 0;
  ptc::Box box;
  std::vector<ptc::DeviceId> holders;  // ascending
  std::vector<ptc::DeviceId> needers;  // ascending
};
/// In ascending order of (tensor, box): equal on every machine. Devices of `lost` hold nothing.
std::vector<JobCell> FindCells(const ptc::Layout& from, const ptc::Layout& to,
                               const std::vector<ptc::DeviceId>& lost = {});

/// Digests of the cells that a device holds, in the order of FindCells.
struct DeviceDigests {
  ptc::DeviceId device;
  std::vector<std::uint64_t> digests;
};

/// The digest of a collection and of each of its tensors.
struct JobDigest {
  std::uint64_t digest = 0;
  std::vector<std::uint64_t> tensors;  // by index
  std::vector<std::uint64_t> cells;    // in the order of FindCells
};
enum class CellSide { kHolders, kNeeders };
/// \error kDataLoss `tensor 'x' [0:4]: n0g0 holds digest …, n0g2 holds …` for replicas that
///     differ; kInvalidArgument for a device whose number of reported cells is wrong, or for a cell
///     without a report
Result<JobDigest> CombineDigests(const ptc::Collection& collection,
                                 const std::vector<JobCell>& cells, CellSide side,
                                 const std::vector<DeviceDigests>& reports);

}  // namespace tessera::agents
