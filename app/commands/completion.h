// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Completion scripts for shells, made from the option table.

#include <string>

namespace tessera::app {

/// Scripts that complete verbs, options, their choices, files, and names of jobs, profiles and
/// models. The scripts get names from `tesseractl … --names`, with a limit of two seconds.
std::string bashCompletion();
std::string zshCompletion();
std::string fishCompletion();

}  // namespace tessera::app
