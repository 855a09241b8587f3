// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The trainer as a rank of a job, attached to the device that an agent chose for it.

#include "ptc/base/result.h"

namespace tessera::agents::train {

/// Trains until the agent sends the command to leave.
Status RunRank();

/// Makes the update that an earlier rank of this device left out after its decision, and returns.
/// Needs no other rank.
/// \error kFailedPrecondition if there is no such update
Status FinishLastUpdate();

}  // namespace tessera::agents::train
