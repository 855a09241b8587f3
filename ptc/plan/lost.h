// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What only lost devices held.

#include <vector>

#include "ptc/plan/holders.h"
#include "ptc/plan/kinds.h"
#include "ptc/plan/needs.h"
#include "ptc/plan/outline.h"

namespace tessera::ptc {

/// Devices of the old layout among those that are lost, ascending, each once.
std::vector<DeviceId> LostDevices(const Layout& from, const std::vector<DeviceId>& lost);

/// Marks the classes of `outline` that nobody holds any more and sums up what is in them.
/// \pre outline.classes are those of `classes`
void CountLost(const Kinds& kinds, const Classes& classes, Holders& holders, Outline& outline);

}  // namespace tessera::ptc
