// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/palette/palette_items.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace tessera::ui {
namespace {

constexpr int kDetail = 10;
constexpr int kExact = 200;

std::optional<PaletteItem::Kind> kindOf(QChar letter) {
  using enum PaletteItem::Kind;
  for (const auto kind : {Action, Gpu, Node, Job, Change, Event}) {
    if (paletteLetter(kind) == letter) return kind;
  }
  return std::nullopt;
}

/// Returns whether `typed` is a whole word of the text: "5" of "GPU 5", "n1g1" of "n1g1, rank 5".
bool hasWord(const QString& text, const QString& typed) {
  qsizetype at = -1;
  while ((at = text.indexOf(typed, at + 1, Qt::CaseInsensitive)) >= 0) {
    const qsizetype end = at + typed.size();
    const bool starts = at == 0 || !text[at - 1].isLetterOrNumber();
    const bool ends = end == text.size() || !text[end].isLetterOrNumber();
    if (starts && ends) return true;
  }
  return false;
}

}  // namespace

QChar paletteLetter(PaletteItem::Kind kind) {
  switch (kind) {
    case PaletteItem::Kind::Action:
      return QLatin1Char('a');
    case PaletteItem::Kind::Gpu:
      return QLatin1Char('g');
    case PaletteItem::Kind::Node:
      return QLatin1Char('n');
    case PaletteItem::Kind::Job:
      return QLatin1Char('j');
    case PaletteItem::Kind::Change:
      return QLatin1Char('h');
    case PaletteItem::Kind::Event:
      return QLatin1Char('e');
  }
  return {};
}

std::vector<PaletteHit> findItems(const std::vector<PaletteItem>& items, const QString& typed,
                                  std::size_t limit) {
  QString pattern = typed.trimmed();
  std::optional<PaletteItem::Kind> only;
  if (typed.size() >= 2 && typed[1] == QLatin1Char(' ')) {
    only = kindOf(typed[0].toLower());
    if (only) pattern = typed.mid(2).trimmed();
  }
  std::vector<std::pair<int, PaletteHit>> found;
  for (const PaletteItem& item : items) {
    if (only && item.kind != *only) continue;
    int score = 0;
    PaletteHit hit{&item, {}};
    if (!pattern.isEmpty()) {
      const auto title = fuzzyMatch(pattern, item.title);
      // Scattered letters would match nearly every detail, because details are long.
      const bool inWords = item.detail.contains(pattern, Qt::CaseInsensitive);
      if (!title && !inWords) continue;
      const int inTitle = title ? title->score + (hasWord(item.title, pattern) ? kExact : 0) : -1;
      const int inDetail = inWords ? (hasWord(item.detail, pattern) ? kExact / 2 : kDetail) : -1;
      score = std::max(inTitle, inDetail);
      if (title && inTitle >= inDetail) hit.match = *title;
    }
    found.emplace_back(score, hit);
  }
  // Events come last: many repeat the name of the GPU, node or job that somebody looks for.
  const auto rank = [](const auto& each) {
    return std::pair(each.second.item->kind == PaletteItem::Kind::Event, -each.first);
  };
  std::stable_sort(found.begin(), found.end(),
                   [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  if (found.size() > limit) found.resize(limit);
  std::vector<PaletteHit> hits;
  hits.reserve(found.size());
  for (auto& [score, hit] : found) hits.push_back(std::move(hit));
  return hits;
}

}  // namespace tessera::ui
