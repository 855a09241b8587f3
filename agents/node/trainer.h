// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The built-in trainer as a program: where it is, and in what environment it runs.

#include <string>
#include <vector>

namespace tessera::agents {

/// tessera-train beside this program, so that an installed and a built tree both find their own.
std::string TrainerPath();
/// This process's environment with what the trainer's libraries read when they are loaded.
std::vector<std::string> TrainerEnvironment();

}  // namespace tessera::agents
