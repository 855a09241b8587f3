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
/// `given`, else $TESSERA_CLUSTER, else the profile of `profile use`; empty if nothing was chosen.
std::string chosenCluster(const std::string& given);

/// The profile of `profile use`; empty if none was chosen. Kept in TESSERA_HOME/current-profile.
std::string currentProfile();
/// \param name empty: forgets the choice
Status setCurrentProfile(const std::string& name);

}  // namespace tessera::app
