// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// What a misspelt word probably meant.

#include <string>
#include <string_view>
#include <vector>

namespace tessera::app {

/// How many insertions, deletions, replacements and swaps of neighbours turn `a` into `b`. Bytes
/// count, not characters. O(|a| |b|).
std::size_t editDistance(std::string_view a, std::string_view b);

/// The candidate that `word` probably meant, or an empty string: one that begins with it (from
/// two letters on), else the nearest one that differs in at most a third of its letters.
std::string closestTo(std::string_view word, const std::vector<std::string>& candidates);

/// "; did you mean CANDIDATE?", or an empty string.
std::string didYouMean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace tessera::app
