// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The items of the palette, and the search among them.

#include <QList>
#include <QString>
#include <functional>
#include <vector>

#include "ui/palette/fuzzy.h"

namespace tessera::ui {

struct PaletteItem {
  enum class Kind { Action, Gpu, Node, Job, Change, Event };
  Kind kind = Kind::Action;
  QString title;         // "GPU 5"
  QString detail = {};   // "n1g1, rank 5"
  QString keys = {};     // "Ctrl+Z"
  QString blocked = {};  // why it cannot run now; empty if it can
  std::function<void()> run = {};
};

struct PaletteHit {
  const PaletteItem* item = nullptr;
  FuzzyMatch match = {};  // in the title; empty if the detail matched
};

/// The letter that restricts the search to a kind: "g 5", "n 2", "j gpt", "h 12", "e lost", "a
/// undo".
QChar paletteLetter(PaletteItem::Kind kind);

/// Returns the best `limit` items, best first and events after all others; equal scores keep the
/// order of `items`. `typed` may begin with the letter of a kind and a space.
std::vector<PaletteHit> findItems(const std::vector<PaletteItem>& items, const QString& typed,
                                  std::size_t limit);

}  // namespace tessera::ui
