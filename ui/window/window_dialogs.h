// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Opens settings, palette, guide, experiment and the About box. A window that exists is raised.

#include <QObject>
#include <QPointer>
#include <functional>
#include <vector>

#include "ui/dialogs/settings_dialog.h"
#include "ui/help/help_window.h"
#include "ui/lessons/consistency_lesson.h"
#include "ui/palette/command_palette.h"

namespace tessera::ui {

class WindowDialogs : public QObject {
 public:
  struct Parts {
    Settings& settings;
    ActionRegistry& actions;
    DataPlaces places;
    QString version;
    ConsistencyRunner* experiment;                    // null: there is none
    std::function<std::vector<PaletteItem>()> items;  // of the palette
    std::function<void()> restart;                    // a setting needs it
  };

  /// All parts and the window, which owns the dialogs, outlive it.
  WindowDialogs(Parts parts, QWidget* window);
  void openSettings(SettingsDialog::Page page = SettingsDialog::General);
  void openPalette();
  /// \param page of the guide; empty: the one shown last
  void openHelp(const QString& page);
  /// \pre there is an experiment
  void openExperiment();
  void openAbout();

  // Null until opened first.
  CommandPalette* palette() const { return m_palette; }
  HelpWindow* help() const { return m_help; }
  /// Null after its window is closed, too.
  ConsistencyLesson* experiment() const { return m_experiment; }

 private:
  Parts m_parts;
  QWidget* m_window;
  CommandPalette* m_palette = nullptr;
  HelpWindow* m_help = nullptr;
  QPointer<ConsistencyLesson> m_experiment;
};

}  // namespace tessera::ui
