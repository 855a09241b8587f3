// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Determines the cluster that a command line refers to.

#include <string>

#include "app/commands/options.h"
#include "ptc/base/result.h"

namespace tessera::app {

/// --cluster, else $TESSERA_CLUSTER; empty if neither is given.
std::string clusterFromCommandLine(const Arguments& arguments);
/// The cluster that a verb means, by name or file: `given`, else $TESSERA_CLUSTER, else the profile
/// of `profile use`, else the only cluster that is known, else `local`. Known are the saved profiles
/// and the clusters of `up` that run; without any, the stopped clusters of `up`.
/// \error kNotFound with a remedy
Result<std::string> clusterOf(const std::string& given);

/// The profile of `profile use`; empty if none was chosen. Kept in TESSERA_HOME/current-profile.
std::string currentProfile();
/// \param name empty: forgets the choice
Status setCurrentProfile(const std::string& name);

}  // namespace tessera::app
