// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// What the palette can go to or do, and which of it fits what was typed.

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
  QString blocked = {};  // why it cannot be done now; empty: it can
  std::function<void()> run = {};
};

struct PaletteHit {
  const PaletteItem* item = nullptr;
  FuzzyMatch match = {};  // in the title; empty where the detail matched
};

/// The letter that restricts to a kind: "g 5", "n 2", "j gpt", "h 12", "e lost", "a undo".
QChar paletteLetter(PaletteItem::Kind kind);

/// The best `limit` items, best first; among equals in the order of `items`. `typed` may begin with
/// the letter of a kind and a space.
std::vector<PaletteHit> findItems(const std::vector<PaletteItem>& items, const QString& typed,
                                  std::size_t limit);

}  // namespace tessera::ui
