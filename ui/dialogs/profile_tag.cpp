// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/dialogs/profile_tag.h"

#include "ui/settings/settings.h"
#include "ui/theme.h"

namespace tessera::ui {
namespace {

QString keyOf(const QString& profile, QLatin1String name) {
  return QStringLiteral("profile.%1/%2").arg(profile, name);
}

}  // namespace

ProfileTag ProfileTag::load(const Settings& settings, const QString& profile) {
  const QString color = settings.entry(keyOf(profile, QLatin1String("tag")));
  return {tagColors().contains(color) ? color : QString(),
          settings.entry(keyOf(profile, QLatin1String("readonly"))) == QLatin1String("true")};
}

void ProfileTag::store(Settings& settings, const QString& profile) const {
  const auto keep = [&](QLatin1String name, const QString& value) {
    if (value.isEmpty()) {
      settings.removeEntry(keyOf(profile, name));
    } else {
      settings.setEntry(keyOf(profile, name), value);
    }
  };
  keep(QLatin1String("tag"), color);
  keep(QLatin1String("readonly"), readOnly ? QStringLiteral("true") : QString());
}

const QStringList& tagColors() {
  static const QStringList names{QStringLiteral("blue"), QStringLiteral("green"),
                                 QStringLiteral("amber"), QStringLiteral("red"),
                                 QStringLiteral("grey")};
  return names;
}

QColor tagColor(const QString& name) {
  const Theme& theme = Theme::current();
  switch (tagColors().indexOf(name)) {
    case 0:
      return theme.accent;
    case 1:
      return theme.ok;
    case 2:
      return theme.warn;
    case 3:
      return theme.bad;
    case 4:
      return theme.faint;
    default:
      return Qt::transparent;
  }
}

}  // namespace tessera::ui
