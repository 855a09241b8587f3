// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Settings of this panel for a profile: a colour that distinguishes clusters, and a read-only
/// mark.

#include <QColor>
#include <QString>
#include <QStringList>

namespace tessera::ui {

class Settings;

struct ProfileTag {
  QString color = {};  // one of tagColors(), or empty
  bool readOnly = false;
  friend bool operator==(const ProfileTag&, const ProfileTag&) = default;

  static ProfileTag load(const Settings& settings, const QString& profile);
  void store(Settings& settings, const QString& profile) const;
};

/// The stored names: "blue", "green", "amber", "red", "grey".
const QStringList& tagColors();
/// Returns the colour in the current theme; transparent for an unknown name.
QColor tagColor(const QString& name);

}  // namespace tessera::ui
