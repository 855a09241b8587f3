// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Questions before an act that cannot be undone. A change that can be rolled back needs no
/// confirmation.

#include <optional>
#include <string>

#include "app/commands/command.h"

namespace tessera::app {

/// Asks "QUESTION? [y/N]" on stderr, unless --yes is given.
/// \return nullopt to continue, else the exit code: kFailed after any answer but y or yes; kUsage
///     if stdin or stderr is not a terminal, or with --json, with an error that names --yes
std::optional<int> askBefore(const Invocation& call, const std::string& question);

}  // namespace tessera::app
