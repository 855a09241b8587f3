// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Fuzzy match: the letters of a pattern occur in a text in order, not necessarily adjacent.

#include <QList>
#include <QString>
#include <optional>

namespace tessera::ui {

struct FuzzyMatch {
  int score = 0;             // higher is better; comparable between texts for one pattern
  QList<qsizetype> at = {};  // positions in the text that matched, ascending
};

/// Returns nothing if a letter of `pattern` is missing. Case and spaces of the pattern are ignored.
/// Letters at the start of a word and adjacent letters score higher; a match of the whole text
/// scores highest. An empty pattern matches everything with score 0.
std::optional<FuzzyMatch> fuzzyMatch(const QString& pattern, const QString& text);

}  // namespace tessera::ui
