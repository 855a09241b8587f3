// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The volume bound, computed from its definition without code of planner and certificate: for each
/// device and tensor, subtract every old piece from every new piece and count the remaining
/// elements.

#include <cstdint>
#include <vector>

#include "ptc/layout.h"

namespace tessera::test {

/// The least bytes that any plan between the two must move: the sum over devices of the bytes that
/// they need and do not hold. Tensors that differ only in their names are computed once. Devices of
/// `lost` hold nothing.
/// \pre the layouts have the same tensors
std::int64_t VolumeBound(const ptc::Layout& from, const ptc::Layout& to,
                         const std::vector<ptc::DeviceId>& lost = {});

}  // namespace tessera::test
