// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Measures the constants of the cost model on this machine: passes of the built-in models with one
/// rank and with one rank per core, collectives of ranks that are threads, and the update.

#include "agents/train/comm/collective.h"
#include "engine/search/calibration.h"
#include "ptc/base/result.h"

namespace tessera::agents::train {

/// Takes a few seconds, on all cores.
/// \error what the trainer or a group returns
Result<engine::Calibration> Probe();

/// Measures groups of 2, 4 and 8 ranks (probe_links.cpp).
/// \error what a group returns
Status ProbeLinks(engine::Calibration* calibration);

}  // namespace tessera::agents::train
