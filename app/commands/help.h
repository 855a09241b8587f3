// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The option table as text for a terminal of 80 columns.

#include <string>
#include <string_view>

#include "app/commands/command.h"

namespace tessera::app {

/// "tesseractl job start [MODEL] [options]".
std::string usageOf(std::string_view program, const Syntax& syntax);
/// "-o, --output FILE", "    --json": for lists in which the long names are aligned.
std::string flagsOf(const OptionSpec& option);
/// The phrase of `option.help` with its default, "… (default: 4)", and a note if it can be
/// repeated.
std::string describeOption(const OptionSpec& option);

/// The text of `PROGRAM VERB --help`; `program` is empty if the verb is the program.
std::string helpOf(std::string_view program, const Syntax& syntax);
/// The text of `tesseractl --help`: all verbs in their groups.
std::string generalHelp();
/// The text of `tesseractl PREFIX --help`, where PREFIX is the first word of several verbs.
std::string helpOfPrefix(std::string_view prefix);

Command helpCommand();

}  // namespace tessera::app
