// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The main window of the panel.

#include <QMainWindow>
#include <functional>
#include <memory>
#include <optional>

#include "ui/commands.h"
#include "ui/desktop_notice.h"
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
class LessonPane;
class LessonSession;
class MeshView;
class PlanPanel;
class ProgressPanel;
class Settings;

struct WindowOptions {
  bool readonly = false;  // Monitor mode only: cannot be switched to Operate
  bool operate = false;   // starts in Operate mode
  bool live = false;      // starts with "Live moves" on; needs `operate`
  /// Countdown between a drop and its apply in live mode; 0: none. Default: from the settings.
  std::optional<int> liveCountdownSeconds = {};
  Settings* settings = nullptr;             // outlives the window; null: nothing is stored
  bool keepLayout = true;                   // restores and stores window and dock layout
  Connections* connections = nullptr;       // outlives the window; null: no connect dialog
  ConsistencyRunner* experiment = nullptr;  // outlives the window; null: no lesson
  bool endsCluster = false;  // the cluster is stopped when the panel quits
  DataPlaces places = {};
  QString version = {};  // for the About box
  /// Shows a notice of the desktop; null: notifyDesktop().
  std::function<void(QWidget* window, const DesktopNotice& notice)> notify = {};
};

/// Shows the model, edits the draft, and sends commands. It never blocks.
class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  /// `model` and `commands` must outlive the window.
  MainWindow(ClusterModel& model, ClusterCommands& commands, WindowOptions options,
             QWidget* parent = nullptr);
  ~MainWindow() override;

  MeshView* meshView() const;
  Draft* draft() const;
  PlanPanel* planPanel() const;
  ProgressPanel* progressPanel() const;
  ActionRegistry* actions() const;
  Settings& settings() const;
  /// The palette and the guide window; null until opened first.
  CommandPalette* commandPalette() const;
  HelpWindow* helpWindow() const;
  /// The lesson window; null while closed.
  ConsistencyLesson* lesson() const;
  LessonSession& lessons() const;
  LessonPane* lessonPane() const;
  /// Opens a lesson of the program, or a file, at a step counted from 0, and shows it.
  /// \return false: it has a mistake, which is shown
  bool openLesson(const QString& nameOrFile, int step = 0);
  /// Returns whether the window position was restored from the settings.
  bool isPlaced() const;

  bool isOperating() const;
  bool isLiveMode() const;
  /// Returns whether the countdown of a drop is running.
  bool isCountingDown() const;

  /// Writes the window to a PNG file, without the cursor.
  /// \return whether the file was written
  bool grabTo(const QString& file);

 signals:
  /// The window closes and requests a restart, which a setting needs.
  void restartRequested();

 protected:
  bool event(QEvent* event) override;
  void closeEvent(QCloseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

}  // namespace tessera::ui
