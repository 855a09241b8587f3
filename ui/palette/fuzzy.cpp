// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/palette/fuzzy.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace tessera::ui {
namespace {

constexpr int kLetter = 4, kWordStart = 12, kInRow = 9, kFirstLetterScore = 8, kWhole = 60;
constexpr int kNone = std::numeric_limits<int>::min() / 2;
constexpr qsizetype kMaxText = 200;

bool startsWord(const QString& text, qsizetype i) {
  if (i == 0) return true;
  const QChar before = text[i - 1], here = text[i];
  if (!here.isLetterOrNumber()) return false;
  return !before.isLetterOrNumber() || (before.isLetter() && here.isDigit()) ||
         (before.isDigit() && here.isLetter()) || (before.isLower() && here.isUpper());
}

}  // namespace

std::optional<FuzzyMatch> fuzzyMatch(const QString& pattern, const QString& text) {
  QString letters = pattern.toCaseFolded();
  letters.remove(QLatin1Char(' '));
  if (letters.isEmpty()) return FuzzyMatch{};
  const QString folded = text.left(kMaxText).toCaseFolded();
  const qsizetype n = letters.size(), m = folded.size();
  if (n > m) return std::nullopt;

  // best[i][j]: score of matching letters[0..i] with letters[i] at text[j].
  const auto index = [m](qsizetype i, qsizetype j) { return static_cast<std::size_t>(i * m + j); };
  std::vector<int> best(index(n, 0), kNone);
  std::vector<qsizetype> from(index(n, 0), -1);
  for (qsizetype i = 0; i < n; ++i) {
    int reach = kNone;  // the best of row i - 1 before j, less one a letter of distance
    qsizetype reachAt = -1;
    for (qsizetype j = i; j < m; ++j) {
      if (i > 0 && j > 0 && best[index(i - 1, j - 1)] > reach - 1) {
        reach = best[index(i - 1, j - 1)];
        reachAt = j - 1;
      } else if (reach > kNone) {
        --reach;
      }
      if (folded[j] != letters[i]) continue;
      const int own =
          kLetter + (startsWord(text, j) ? kWordStart : 0) + (j == 0 ? kFirstLetterScore : 0);
      if (i == 0) {
        best[index(i, j)] = own;
        continue;
      }
      int score = reach;
      qsizetype last = reachAt;
      if (const int row = best[index(i - 1, j - 1)]; row > kNone && row + kInRow > score) {
        score = row + kInRow;
        last = j - 1;
      }
      if (score <= kNone / 2) continue;
      best[index(i, j)] = score + own;
      from[index(i, j)] = last;
    }
  }
  qsizetype at = -1;
  for (qsizetype j = 0; j < m; ++j) {
    if (best[index(n - 1, j)] > kNone / 2 &&
        (at < 0 || best[index(n - 1, j)] > best[index(n - 1, at)])) {
      at = j;
    }
  }
  if (at < 0) return std::nullopt;
  FuzzyMatch match{best[index(n - 1, at)] + (n == m ? kWhole : 0), {}};
  for (qsizetype i = n - 1; i >= 0; --i) {
    match.at.prepend(at);
    at = from[index(i, at)];
  }
  return match;
}

}  // namespace tessera::ui
