// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The panel's one window.

#include <QMainWindow>
#include <memory>

#include "ui/commands.h"
#include "ui/models/cluster_model.h"

namespace tessera::ui {

class ActionRegistry;
class Draft;
class MeshView;
class PlanPanel;
class ProgressPanel;

struct WindowOptions {
  bool readonly = false;         // Monitor for good: cannot be armed
  bool operate = false;          // starts armed
  bool live = false;             // starts with "Live moves" on; needs `operate`
  int liveCountdownSeconds = 3;  // between a drop and its apply in live mode; 0: at once
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

  bool isOperating() const;
  bool isLiveMode() const;
  /// Whether a drop is about to be applied.
  bool isCountingDown() const;

  /// Writes what the window shows to a PNG file, without the cursor. \return whether it was written
  bool grabTo(const QString& file);

 protected:
  bool event(QEvent* event) override;
  void closeEvent(QCloseEvent* event) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

}  // namespace tessera::ui
