// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// What the palette of the window offers: actions, GPUs, nodes, jobs, changes and events.

#include <QAbstractItemModel>
#include <QCoreApplication>
#include <functional>
#include <set>
#include <vector>

#include "engine/cluster/snapshot.h"
#include "ui/palette/palette_items.h"

namespace tessera::ui {

class ActionRegistry;
class EventTableModel;
class HistoryTableModel;

class WindowItems {
  Q_DECLARE_TR_FUNCTIONS(tessera::ui::MainWindow)

 public:
  static constexpr int kEvents = 500;  // the newest ones

  struct Parts {
    ActionRegistry& actions;
    const HistoryTableModel& changes;
    const EventTableModel& events;
  };
  /// What happens when an item is chosen.
  struct Reactions {
    std::function<void(const std::set<ptc::DeviceId>&)> chooseDevices;
    std::function<void(const QString& job)> showJob;
    std::function<void(std::int64_t txn)> showChange;
    /// \param row of the event in its model; invalid once the model has dropped it
    /// \param time wall clock of the cluster
    /// \param source "n0", a job, or "txn 3"
    std::function<void(const QModelIndex& row, double time, const QString& source)> showEvent;
  };

  /// All parts outlive it.
  WindowItems(Parts parts, Reactions reactions);
  /// In the order of the kinds; equal scores of a search keep it.
  std::vector<PaletteItem> items(const engine::ClusterSnapshot& cluster) const;

 private:
  using Items = std::vector<PaletteItem>;
  void addActions(Items* items) const;
  void addNodes(const engine::ClusterSnapshot& cluster, Items* items) const;
  void addJobs(const engine::ClusterSnapshot& cluster, Items* items) const;
  void addChanges(Items* items) const;
  void addEvents(Items* items) const;

  Parts m_parts;
  Reactions m_reactions;
};

}  // namespace tessera::ui
