// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The panel's one window.

#include <QMainWindow>
#include <memory>
#include <optional>

#include "ui/commands.h"
#include "ui/dialogs/settings_dialog.h"
#include "ui/models/cluster_model.h"

namespace tessera::ui {

class ActionRegistry;
class CommandPalette;
class Connections;
class ConsistencyLesson;
class ConsistencyRunner;
class Draft;
class HelpWindow;
class MeshView;
class PlanPanel;
class ProgressPanel;
class Settings;

struct WindowOptions {
  bool readonly = false;  // Monitor for good: cannot be armed
  bool operate = false;   // starts armed
  bool live = false;      // starts with "Live moves" on; needs `operate`
  /// Between a drop and its apply in live mode, 0: at once; without it the settings say.
  std::optional<int> liveCountdownSeconds = {};
  Settings* settings = nullptr;        // outlives the window; without it nothing is kept
  bool keepLayout = true;              // restores and keeps places and sizes in the settings
  Connections* connections = nullptr;  // outlives the window; without it there is no connect dialog
  ConsistencyRunner* experiment = nullptr;  // outlives the window; without it no lesson is run
  DataPlaces places = {};
  QString version = {};  // for the About box
};

/// Shows the model, edits the draft, and sends through `commands`. Never waits.
class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  /// `model` and `commands` outlive the window.
  MainWindow(ClusterModel& model, ClusterCommands& commands, WindowOptions options,
             QWidget* parent = nullptr);
  ~MainWindow() override;

  MeshView* meshView() const;
  Draft* draft() const;
  PlanPanel* planPanel() const;
  ProgressPanel* progressPanel() const;
  ActionRegistry* actions() const;
  Settings& settings() const;
  /// The palette, once it was opened; the guide's window, once it was opened.
  CommandPalette* commandPalette() const;
  HelpWindow* helpWindow() const;
  /// The lesson's window, while it is open.
  ConsistencyLesson* lesson() const;
  /// Whether the settings knew the window's place.
  bool isPlaced() const;

  bool isOperating() const;
  bool isLiveMode() const;
  /// Whether a drop is about to be applied.
  bool isCountingDown() const;

  /// Writes what the window shows to a PNG file, without the cursor. \return whether it was written
  bool grabTo(const QString& file);

 signals:
  /// The window is closed and wants to come back: a setting needs a new start.
  void restartRequested();

 protected:
  bool event(QEvent* event) override;
  void closeEvent(QCloseEvent* event) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

}  // namespace tessera::ui
