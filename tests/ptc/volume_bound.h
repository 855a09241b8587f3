// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The volume bound, straight from its definition and with nothing of planner and certificate: for
/// each device and tensor, subtract every old piece from every new one and count what is left.

#include <cstdint>
#include <vector>

#include "ptc/layout.h"

namespace tessera::test {

/// Least bytes that any plan between the two must bring to devices that lack them: the sum over
/// devices of what they need and do not hold. Tensors that are told apart by their names only are
/// looked at once. Devices of `lost` hold nothing. \pre the layouts are of the same tensors
std::int64_t VolumeBound(const ptc::Layout& from, const ptc::Layout& to,
                         const std::vector<ptc::DeviceId>& lost = {});

}  // namespace tessera::test
