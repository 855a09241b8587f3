// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The losses of a job's model on a text.

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/vfs/state_source.h"

namespace tessera::app {

struct GroupLosses {
  std::int64_t group = 0;      // samples per group
  std::vector<double> losses;  // mean per token for each group, in the order of the job's pass
};

/// Computes the losses of the model in `state` over all of `text` in a process of tessera-train.
/// `folder` holds the parameters for it meanwhile.
/// \error kCancelled; kUnavailable with the output of the process; of writeParameters
Result<GroupLosses> groupLosses(const engine::vfs::StateView& state, const std::string& text,
                                const std::string& folder, const std::stop_token& stop);

}  // namespace tessera::app
