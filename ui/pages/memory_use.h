// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// What the memory of GPUs holds, part by part. Snapshots of the state are not in it: they are in
/// the memory of hosts.

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/cluster/holding.h"
#include "engine/cluster/snapshot.h"
#include "ui/widgets/stacked_bar.h"

namespace tessera::ui {

/// Bytes. The parts add up to the capacity, unless more is needed than there is.
struct MemoryUse {
  std::int64_t parameters = 0, optimizer = 0;
  std::int64_t gradients = 0;  // 0 while they are not known
  /// What is used beside these. While the layout of the job is not known, gradients are in it.
  std::int64_t others = 0;
  std::int64_t staging = 0;  // has arrived for the change that runs
  std::int64_t free = 0;
  bool knowsGradients = false;
  MemoryUse& operator+=(const MemoryUse& more);
  friend bool operator==(const MemoryUse&, const MemoryUse&) = default;
};

/// \param held of the present layout of the job; null: not known, or the device has no job
/// \param txn the change that runs; null: none
MemoryUse memoryOf(const engine::DeviceStatus& device, const engine::Holding* held,
                   const engine::TxnStatus* txn);
/// A device of this capacity that holds nothing but its part of a layout.
MemoryUse memoryOf(const engine::Holding& held, std::int64_t capacity);

/// The parts that are not empty, and the free memory.
std::vector<StackedBar::Segment> memorySegments(const MemoryUse& use);

}  // namespace tessera::ui
