// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Annotations of the time axis: changes as bands, events as marks.

#include <QString>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/cluster/snapshot.h"

namespace tessera::ui {

/// One transaction from its first phase to its end. Times are in the wall clock of the cluster.
struct PlotBand {
  enum class Outcome { Running, Committed, Undone };  // Undone: rolled back or failed
  std::int64_t txn = 0;
  double start = 0;
  double end = 0;
  double pauseStart = 0;  // start of the pause
  double pauseEnd = 0;    // end of the pause; equal to the start if there was none
  Outcome outcome = Outcome::Committed;
  QString label;    // "0.31 s"; "now" while it runs
  QString tooltip;  // "Change 3: 2 × 2 × 1 → 4 × 2 × 1, pause 0.31 s, committed"
  friend bool operator==(const PlotBand&, const PlotBand&) = default;
};

/// A running transaction, and the time when this panel first saw it.
struct RunningBand {
  const engine::TxnStatus& txn;
  double since = 0;
  double now = 0;
};

/// Returns the bands of `job`, ascending in time. `origin` tells it from earlier jobs of its name.
std::vector<PlotBand> bandsOf(const std::vector<engine::HistoryEntry>& entries,
                              const std::string& job,
                              const std::optional<RunningBand>& running = std::nullopt,
                              std::int64_t origin = 0);

struct PlotMark {
  enum class Shape { Dot, Plus, Triangle, Cross };
  double time = 0;
  Shape shape = Shape::Dot;
  QString text;
  friend bool operator==(const PlotMark&, const PlotMark&) = default;
};

/// Returns the mark of an event, by severity and content; nothing for debug events and for events
/// that a band already shows.
std::optional<PlotMark> markOf(const engine::Event& event);

}  // namespace tessera::ui
