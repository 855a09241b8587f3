// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Questions before an act that cannot be undone. A change that can be rolled back is not asked
/// about.

#include <optional>
#include <string>

#include "app/commands/command.h"

namespace tessera::app {

/// Asks "QUESTION? [y/N]" on stderr, unless --yes is given.
/// \return nullopt to go on, else the exit code: kFailed after another answer than y or yes, kUsage
///     where stdin or stderr is no terminal, or with --json; then the error names --yes
std::optional<int> askBefore(const Invocation& call, const std::string& question);

}  // namespace tessera::app
