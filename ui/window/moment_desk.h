// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Moves through the past: playhead and moment follow each other, and new facts about the past make
/// the moment again.

#include <QCoreApplication>
#include <QObject>
#include <functional>
#include <optional>
#include <vector>

#include "ui/commands.h"

namespace tessera::ui {

class ClusterModel;
class HistoryTableModel;
class JobPlots;
class Presenter;

class MomentDesk : public QObject {
  Q_DECLARE_TR_FUNCTIONS(tessera::ui::MainWindow)

 public:
  struct Parts {
    ClusterModel& model;
    ClusterCommands& commands;
    Presenter& presenter;
    JobPlots& plots;
    HistoryTableModel& changes;
  };
  struct Window {
    std::function<void(bool past)> setPast;  // makes the past, or else Live, the source
    std::function<void()> refresh;           // the moment is another one, or has other facts
    std::function<void()> followChanges;     // the history was read again
    std::function<void()> followPinned;      // a comparison begins or ends
    std::function<void(const QString&)> showError;
  };

  /// All parts outlive it.
  MomentDesk(Parts parts, Window window);
  /// Shows this time in all views, with the playhead at it.
  /// \return false: the history does not contain this time, nothing was changed
  bool show(double time);
  /// Shows the moment when a change began, and its job.
  void showBegin(const engine::HistoryEntry& entry);
  /// The source is not the past any more.
  void leave() { placePlayhead(std::nullopt); }
  /// Compares the moment shown with those that are shown from now on, or ends that.
  void setComparing(bool compares);

 private:
  void followPlayhead();
  void placePlayhead(std::optional<double> time);
  void indexChanges();
  void noteStates(const std::vector<engine::Event>& told);

  Parts m_parts;
  Window m_window;
  bool m_isPlacing = false;  // the playhead is moved here
};

}  // namespace tessera::ui
