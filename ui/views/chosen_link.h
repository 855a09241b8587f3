// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The link that is chosen in the Links view, for the inspector.

#include <QString>
#include <utility>
#include <vector>

namespace tessera::ui {

struct ChosenLink {
  QString title;                                        // "n2 → n6"
  std::vector<std::pair<QString, QString>> facts = {};  // names and values
  friend bool operator==(const ChosenLink&, const ChosenLink&) = default;
};

}  // namespace tessera::ui
