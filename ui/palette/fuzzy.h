// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// How well a few typed letters fit a text: in order, not necessarily together.

#include <QList>
#include <QString>
#include <optional>

namespace tessera::ui {

struct FuzzyMatch {
  int score = 0;             // higher is better; comparable between texts for one pattern
  QList<qsizetype> at = {};  // positions in the text that matched, ascending
};

/// Nothing where a letter of `pattern` is missing. Spaces of the pattern and case are ignored.
/// Letters at the start of a word and letters in a row count more; a match of the whole text most.
/// An empty pattern fits everything with score 0.
std::optional<FuzzyMatch> fuzzyMatch(const QString& pattern, const QString& text);

}  // namespace tessera::ui
