// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// How good a job's model is on text that it was not trained on.

#include <stop_token>
#include <string>

#include "engine/vfs/state_source.h"

namespace tessera::app {

/// Mean loss a token of the model of `state` over all of `text`. A process of tessera-train works
/// it out; `folder` holds the parameters for it meanwhile. \error kCancelled; kUnavailable with
/// what the process said; of writeParameters
Result<double> heldOutLoss(const engine::vfs::StateView& state, const std::string& text,
                           const std::string& folder, const std::stop_token& stop);

}  // namespace tessera::app
