// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Questions before an act that cannot be undone, and before bytes move.

#include <optional>
#include <string>

#include "app/commands/command.h"

namespace tessera::app {

/// Asks "QUESTION? [y/N]" on stderr, unless --yes is given.
/// \return nullopt to continue, else the exit code: kFailed after any answer but y or yes; kUsage
///     if stdin or stderr is not a terminal, or with --json, with an error that names --yes
std::optional<int> askBefore(const Invocation& call, const std::string& question);

/// Of a verb that asks later, when it knows more: refuses at once where `askBefore` could not ask.
std::optional<int> refuseIfUnasked(const Invocation& call, const std::string& question);

/// Of an act without a way back: asks for `name` on stderr, unless --confirm NAME is given. --yes
/// does not answer it.
/// \return as askBefore; kUsage if --confirm has another name
std::optional<int> askForName(const Invocation& call, const std::string& question,
                              const std::string& name);
/// As refuseIfUnasked.
std::optional<int> refuseIfUnnamed(const Invocation& call, const std::string& name);

}  // namespace tessera::app
