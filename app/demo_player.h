// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Plays the demo's scenario on the real window without a user: it sends keys to the canvas, lets
/// live mode apply the draft, and measures, checks and reports the outcome.

#include <QDir>
#include <QObject>
#include <QString>
#include <QStringList>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "app/bridge.h"
#include "engine/cluster/snapshot.h"
#include "ui/main_window.h"
#include "ui/models/cluster_model.h"

namespace tessera::app {

/// The outcome of one step of the scenario.
struct PlayedStep {
  QString name;
  engine::HistoryEntry record;  // of its transaction
  std::size_t devices = 0;      // of the job afterwards
  std::int64_t stepsAfter = 0;  // steps that the job trained afterwards within the waiting time
  double seconds = 0;           // from the first key to the outcome
  QStringList wrong;            // one sentence for each failed check; empty if all passed
};

/// GUI thread only. Its arguments outlive it.
class DemoPlayer {
 public:
  DemoPlayer(ui::MainWindow& window, ui::ClusterModel& model, Bridge& bridge, QDir screenshots);

  /// Steps that a script may name.
  ///   grow    all idle devices join the job
  ///   shrink  the job keeps its first two devices
  ///   lose    n1's idle devices join; n1 is killed meanwhile, so the change must be rolled back
  static QStringList knownSteps();

  /// Plays the steps with local event loops, saves screenshots, report.json and report.txt, and
  /// prints the report.
  /// \return whether all checks passed
  bool play(const QStringList& script);

 private:
  bool wait(const std::function<bool()>& until, int milliseconds);
  void press(int key, Qt::KeyboardModifiers modifiers = Qt::NoModifier);
  void shoot(const QString& name);
  /// Moves the focus mark with arrow keys.
  /// \return whether it arrived
  bool walkTo(ptc::DeviceId device);
  /// Walks to each device and toggles it with Space.
  bool toggleAll(const std::vector<ptc::DeviceId>& devices);
  std::optional<engine::HistoryEntry> recordOf(std::int64_t txn);
  /// Idle devices of live nodes, or of `node` only.
  std::vector<ptc::DeviceId> idleDevices(std::optional<std::int32_t> node = {}) const;
  PlayedStep run(const QString& name, int number);
  void check(PlayedStep* step, const std::set<ptc::DeviceId>& wanted);
  void writeReport(const std::vector<PlayedStep>& steps) const;

  ui::MainWindow& m_window;
  ui::ClusterModel& m_model;
  Bridge& m_bridge;
  QDir m_folder;
  QStringList m_pictures;
};

}  // namespace tessera::app
