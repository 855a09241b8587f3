// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Notices of the desktop for a user at another window: a change has ended, a job needs a decision.

#include <QCoreApplication>
#include <functional>
#include <string>

#include "ui/desktop_notice.h"

namespace tessera::engine {
struct JobStatus;
}

namespace tessera::ui {

class Settings;
struct TxnView;

class DesktopNotices {
  Q_DECLARE_TR_FUNCTIONS(tessera::ui::MainWindow)

 public:
  using Show = std::function<void(QWidget* window, const DesktopNotice& notice)>;

  /// Window and settings outlive the notices. Without `show`, notifyDesktop() shows them.
  DesktopNotices(QWidget* window, const Settings& settings, Show show);
  void tellOutcome(const TxnView& outcome);
  /// Tells once per loss that the shown job needs a decision; null: no job is shown.
  void followJob(const engine::JobStatus* job);

 private:
  /// Unless the window is the active one, or the user wants no notices.
  void tell(const DesktopNotice& notice) const;

  QWidget* m_window;
  const Settings& m_settings;
  Show m_show;
  std::string m_told;  // the loss of the last notice; empty: none
};

}  // namespace tessera::ui
