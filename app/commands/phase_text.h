// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// What a transaction does, in words.

#include <optional>
#include <string>

#include "engine/cluster/snapshot.h"

namespace tessera::app {

/// "copying while training, step 2 of 3, at 350.0 ms a step", "round 3 of 22", or the phase itself.
/// \param stepSeconds how long a step of the job takes now; absent: unknown
std::string phaseText(const engine::TxnStatus& txn, std::optional<double> stepSeconds = {});

/// How long a step of the job takes now; nullopt if that is unknown.
std::optional<double> stepSecondsOf(const engine::ClusterSnapshot& snapshot,
                                    const std::string& job);

}  // namespace tessera::app
