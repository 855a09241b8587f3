// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// How good a job's model is on a text.

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/vfs/state_source.h"

namespace tessera::app {

struct GroupLosses {
  std::int64_t group = 0;      // samples of one
  std::vector<double> losses;  // mean a token, group after group in the order of the job's pass
};

/// The losses of the model of `state` over all of `text`. A process of tessera-train works them
/// out; `folder` holds the parameters for it meanwhile. \error kCancelled; kUnavailable with what
/// the process said; of writeParameters
Result<GroupLosses> groupLosses(const engine::vfs::StateView& state, const std::string& text,
                                const std::string& folder, const std::stop_token& stop);

}  // namespace tessera::app
