// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/suggest.h"

#include <algorithm>

namespace tessera::app {

std::size_t editDistance(std::string_view a, std::string_view b) {
  // Optimal string alignment: three rows of the table are enough.
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] =
          std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::string closestTo(std::string_view word, const std::vector<std::string>& candidates) {
  constexpr std::size_t kFewestLetters = 2;
  const auto letters = std::ranges::count_if(word, [](char c) { return c != '-'; });
  if (letters >= static_cast<std::ptrdiff_t>(kFewestLetters))
    for (const std::string& candidate : candidates)
      if (candidate.starts_with(word)) return candidate;
  std::string best;
  std::size_t least = std::string_view::npos;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = editDistance(word, candidate);
    if (distance > std::max<std::size_t>(1, candidate.size() / 3) || distance >= least) continue;
    least = distance;
    best = candidate;
  }
  return least < std::max(word.size(), std::size_t{2}) ? best : std::string();
}

std::string didYouMean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string closest = closestTo(word, candidates);
  return closest.empty() ? std::string() : "; did you mean " + closest + "?";
}

}  // namespace tessera::app
