// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/applied_settings.h"

#include <QAction>
#include <QApplication>
#include <QTimer>
#include <utility>

#include "ui/actions/action_registry.h"
#include "ui/canvas/mesh_view.h"
#include "ui/lessons/lesson_session.h"
#include "ui/models/move_control.h"
#include "ui/theme.h"
#include "ui/views/colour_bar.h"

namespace tessera::ui {

AppliedSettings::AppliedSettings(Parts parts) : m_parts(std::move(parts)) {
  for (const Setting each : {Setting::ReduceMotion, Setting::Countdown, Setting::Relock})
    apply(each);
  connect(&m_parts.settings, &Settings::changed, this, &AppliedSettings::apply);
  connect(&m_parts.settings, &Settings::saveFailed, this, [this](const QString& message) {
    m_parts.showError(tr("The settings could not be saved: %1.").arg(message));
  });
  m_parts.actions.loadShortcuts(m_parts.settings);
  checkTheme();
  if (!m_parts.settings.notice().isEmpty())
    QTimer::singleShot(0, this, [this] { m_parts.showError(m_parts.settings.notice()); });
}

void AppliedSettings::adoptLooks() {
  apply(Setting::Colouring);
  apply(Setting::Grouping);
}

void AppliedSettings::storeLooks() {
  const auto store = [this](Setting setting, int choice) {
    m_parts.settings.set(setting, Settings::specOf(setting).choices[choice]);
  };
  store(Setting::Colouring, static_cast<int>(m_parts.colours.colouring()));
  store(Setting::Grouping, static_cast<int>(m_parts.colours.grouping()));
}

int AppliedSettings::choice(Setting setting) const {
  return static_cast<int>(
      Settings::specOf(setting).choices.indexOf(m_parts.settings.text(setting)));
}

void AppliedSettings::apply(Setting setting) {
  const Settings& settings = m_parts.settings;
  switch (setting) {
    case Setting::Theme: {
      const QString name = settings.text(setting);
      if (auto* application = qobject_cast<QApplication*>(QCoreApplication::instance())) {
        applyTheme(*application, name == QLatin1String("light")  ? ThemeMode::Light
                                 : name == QLatin1String("dark") ? ThemeMode::Dark
                                                                 : ThemeMode::System);
      }
      checkTheme();
      break;
    }
    case Setting::ReduceMotion:
      m_parts.lessons.setAnimated(!settings.flag(setting));
      m_parts.mesh.setReduceMotion(settings.flag(setting));
      m_parts.actions.find(QStringLiteral("view.reduceMotion"))->setChecked(settings.flag(setting));
      break;
    case Setting::Countdown:
      m_parts.control.setCountdownMs(m_parts.countdownSeconds.value_or(settings.number(setting)) *
                                     1000);
      break;
    case Setting::Relock:
      m_parts.control.setRelockMinutes(settings.number(setting));
      break;
    case Setting::Colouring:
      m_parts.colours.setColouring(static_cast<ColourBy>(choice(setting)));
      break;
    case Setting::Grouping:
      m_parts.colours.setGrouping(static_cast<GroupBy>(choice(setting)));
      break;
    case Setting::Confirm:
    case Setting::ConfirmAbove:  // read at each apply
    case Setting::Scale:
    case Setting::Language:  // read before the first window
    case Setting::Mirror:
    case Setting::MirrorSize:  // read by the owner of the mirror
    case Setting::Source:
    case Setting::Notify:  // read at each notice
      break;
  }
}

void AppliedSettings::checkTheme() {
  const QString name = m_parts.settings.text(Setting::Theme);
  for (const char* each : {"system", "light", "dark"}) {
    QString id = QString::fromLatin1(each);
    const bool on = name == id;
    id[0] = id[0].toUpper();
    m_parts.actions.find(QStringLiteral("view.theme") + id)->setChecked(on);
  }
}

}  // namespace tessera::ui
