// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Suggests candidates for misspelt words.

#include <string>
#include <string_view>
#include <vector>

namespace tessera::app {

/// The least number of insertions, deletions, replacements and swaps of neighbouring bytes that
/// turn `a` into `b`. O(|a| |b|).
std::size_t editDistance(std::string_view a, std::string_view b);

/// Returns the first candidate that begins with `word`, if `word` has at least two letters.
/// Otherwise returns the candidate with the least editDistance, if that is at most a third of its
/// length. Returns an empty string if there is no such candidate.
std::string closestTo(std::string_view word, const std::vector<std::string>& candidates);

/// "; did you mean CANDIDATE?", or an empty string.
std::string didYouMean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace tessera::app
