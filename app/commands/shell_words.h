// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Words for a POSIX shell.

#include <string>
#include <string_view>
#include <vector>

namespace tessera::app {

/// `text` between single quotes.
std::string shellQuoted(std::string_view text);
/// The words as one line, quoted where they need it.
std::string shellLine(const std::vector<std::string>& words);

}  // namespace tessera::app
