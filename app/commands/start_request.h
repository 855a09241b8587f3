// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The request that `job start` sends. The panel makes it from the same words.

#include <functional>
#include <stop_token>

#include "agents/wire/messages_fwd.h"
#include "app/commands/options.h"
#include "app/commands/script.h"
#include "ptc/base/result.h"

namespace tessera::app {

/// Returns what a script has; may take seconds.
using Describe = std::function<Result<DescribedScript>(const Script& script, std::stop_token stop)>;

/// Reads the words and options of `job start`, and the files that they name.
/// \error kInvalidArgument naming the option or setting; those of the files and of `describe`
Result<wire::StartJobRequest> readStartRequest(const Arguments& arguments,
                                               const Describe& describe = describeScript,
                                               const std::stop_token& stop = {});

}  // namespace tessera::app
