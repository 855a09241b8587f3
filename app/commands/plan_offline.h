// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// `plan --model …`: a plan between two layouts of a model, without a cluster.

#include "app/commands/command.h"

namespace tessera::app {

/// Options that only a plan without a cluster takes.
std::vector<OptionSpec> offlinePlanOptions();
/// Whether the call is for a model instead of a job.
bool isOfflinePlan(const Arguments& arguments);
int planOffline(const Invocation& call);

}  // namespace tessera::app
