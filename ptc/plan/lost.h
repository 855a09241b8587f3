// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Finds cells whose every holder is lost.

#include <vector>

#include "ptc/plan/holders.h"
#include "ptc/plan/kinds.h"
#include "ptc/plan/needs.h"
#include "ptc/plan/outline.h"

namespace tessera::ptc {

/// The devices of `lost` that are in the old layout, ascending, each once.
std::vector<DeviceId> LostDevices(const Layout& from, const std::vector<DeviceId>& lost);

/// Marks the classes of `outline` that no live device holds, and counts their tensors and bytes.
/// \pre outline.classes are those of `classes`
void CountLost(const Kinds& kinds, const Classes& classes, const Holders& holders,
               Outline& outline);

}  // namespace tessera::ptc
