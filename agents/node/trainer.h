// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The program of the built-in trainer and its environment.

#include <string>
#include <vector>

namespace tessera::agents {

/// tessera-train in the folder of this program, in an installed tree as in a build tree.
std::string TrainerPath();
/// The environment of this process, with the variables that the trainer's libraries read at load.
std::vector<std::string> TrainerEnvironment();

}  // namespace tessera::agents
