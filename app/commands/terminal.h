// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// How this process writes: with or without colours, and errors as text or as JSON. Set once,
/// before a verb runs.

#include <cstdio>
#include <string>
#include <string_view>

#include "ptc/base/result.h"

namespace tessera::app {

enum class Paint { kBold, kGood, kWarning, kBad, kDim };

/// \param color "auto", "always" or "never". "auto" colours a terminal, unless NO_COLOR is set to
///     anything or TERM is "dumb" (https://no-color.org).
void setColor(std::string_view color);
/// From now on printError writes {"version", "error": {"code", "message", "exit_code"}}.
void setJsonErrors(bool isOn);

/// `text` in a colour on stdout, or unchanged where stdout is not coloured.
std::string paint(Paint paint, std::string_view text);
/// `text` in the colour of the state of a node, job, transaction or check that it names.
std::string paintState(std::string_view state);

/// Columns that `text` takes: characters of UTF-8, without colours.
std::size_t displayWidth(std::string_view text);

/// Columns of the terminal behind stdout; 80 where it does not say.
std::size_t terminalWidth();
/// Rows of it; 24 where it does not say.
std::size_t terminalHeight();

/// Writes what is buffered for stdout. The first failure is kept for `outputError`.
void flushOutput();
/// errno of the first failed write to stdout; 0: none. stdio forgets what it could not write, so a
/// later flush succeeds.
int outputError();

/// One line on stderr.
void printError(const Error& error, int exitCode);
/// Drops everything that is written to stdout from now on.
void muteOutput();

}  // namespace tessera::app
