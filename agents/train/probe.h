// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Measures the constants of the cost model on this machine: passes of the built-in models with one
/// rank and with as many as there are cores, collectives of ranks that are threads, the update.

#include "agents/train/comm/collective.h"
#include "engine/search/calibration.h"
#include "ptc/base/result.h"

namespace tessera::agents::train {

/// Takes a few seconds and, while it runs, all cores. What this build cannot measure (Gloo) keeps
/// its built-in value. \error what the trainer or a group returns
Result<engine::Calibration> Probe();

/// The part that measures groups of 2, 4 and 8 ranks (probe_links.cpp).
Status ProbeLinks(engine::Calibration* calibration);

}  // namespace tessera::agents::train
