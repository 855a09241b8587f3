// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Asking before something is done.

#include <string>

#include "app/commands/command.h"

namespace tessera::app {

/// Whether somebody can be asked: a terminal on both ends, and no --json.
bool canAsk(const Invocation& call);
/// "QUESTION? [y/N] " \return whether the answer was y or yes
bool confirmed(const std::string& question);

}  // namespace tessera::app
