// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The trainer as a rank of a job: attached to the device that an agent chose for it.

#include "ptc/base/result.h"

namespace tessera::agents::train {

/// Trains until the job has no use for this rank any more. Returns once told to leave.
Status RunRank();

}  // namespace tessera::agents::train
