// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Gives the settings to the parts of the window, at the start and whenever one changes.

#include <QCoreApplication>
#include <QObject>
#include <functional>
#include <optional>

#include "ui/settings/settings.h"

namespace tessera::ui {

class ActionRegistry;
class ColourBar;
class LessonSession;
class MeshView;
class MoveControl;

class AppliedSettings : public QObject {
  Q_DECLARE_TR_FUNCTIONS(tessera::ui::MainWindow)

 public:
  struct Parts {
    Settings& settings;
    ActionRegistry& actions;
    MoveControl& control;
    LessonSession& lessons;
    MeshView& mesh;
    ColourBar& colours;
    std::optional<int> countdownSeconds;  // instead of the setting
    std::function<void(const QString&)> showError;
  };

  /// Applies those that every window follows. All parts outlive it.
  explicit AppliedSettings(Parts parts);
  /// Applies the user's colours and frames.
  void adoptLooks();
  /// Stores the colours and frames that the views have now.
  void storeLooks();

 private:
  void apply(Setting setting);
  void checkTheme();
  /// The place of a setting's value in its list of choices.
  int choice(Setting setting) const;

  Parts m_parts;
};

}  // namespace tessera::ui
