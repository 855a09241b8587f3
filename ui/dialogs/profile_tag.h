// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// What the panel keeps about a profile besides its file: a colour to tell clusters apart, and
/// whether this panel may only look.

#include <QColor>
#include <QString>
#include <QStringList>

namespace tessera::ui {

class Settings;

struct ProfileTag {
  QString color = {};  // one of tagColors(); empty: none
  bool readOnly = false;
  friend bool operator==(const ProfileTag&, const ProfileTag&) = default;

  static ProfileTag load(const Settings& settings, const QString& profile);
  void store(Settings& settings, const QString& profile) const;
};

/// Names as they are stored: "blue", "green", "amber", "red", "grey".
const QStringList& tagColors();
/// In the colours of the theme; transparent for a name that is none.
QColor tagColor(const QString& name);

}  // namespace tessera::ui
