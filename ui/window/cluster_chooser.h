// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// How the panel gets another cluster: it connects to a profile, starts a cluster on this machine,
/// or opens a history file.

#include <QCoreApplication>
#include <QObject>
#include <functional>
#include <optional>

#include "ptc/base/result.h"

class QWidget;

namespace tessera::ui {

class Connections;
class Settings;

class ClusterChooser : public QObject {
  Q_DECLARE_TR_FUNCTIONS(tessera::ui::MainWindow)

 public:
  struct Reactions {
    std::function<void()> rulesChanged;     // starting() is set or no longer set
    std::function<void()> stateChanged;     // what a starting cluster does
    std::function<void()> profilesChanged;  // another profile is shown, or one was edited
    std::function<void(const QString&)> showError;
    std::function<void(const QString&)> say = {};  // what goes on now, for some seconds
  };

  /// `connections` may be null: then every dialog stays closed, and nothing else is called. All
  /// arguments outlive the chooser.
  /// \param mirrors folder with the copies of histories; may be empty
  ClusterChooser(Connections* connections, Settings& settings, const QString& mirrors,
                 QWidget* window, Reactions reactions);
  /// What a cluster of this machine does that starts; nothing: none starts.
  const std::optional<QString>& starting() const { return m_starting; }

  void openDialog();
  /// Starts a local cluster and connects to it. With slow links a move takes long enough to be seen.
  void startLocal(bool slowLinks = false);
  /// Starts a simulated cluster whose job changes by itself, and connects to it.
  void watchDemo();
  /// Starts the shown cluster, which was stopped, and connects to it.
  void startAgain();
  /// Asks for its size, then starts a simulated cluster and connects to it.
  void openSimulate();
  void chooseHistoryFile();
  /// Shows this file once it is read.
  void openHistory(const QString& file);

 private:
  void connectTo(const QString& profile);
  // The callbacks of a cluster that starts: they show what it does, then connect.
  std::function<void(QString)> showsStart();
  std::function<void(Result<QString>)> connectsAfterStart();

  Connections* m_connections;
  Settings& m_settings;
  QString m_mirrors;
  QWidget* m_window;
  Reactions m_reactions;
  std::optional<QString> m_starting;
};

}  // namespace tessera::ui
