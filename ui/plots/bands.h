// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// What stands on the time axis besides the samples: reconfigurations as bands, events as marks.

#include <QString>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/cluster/snapshot.h"

namespace tessera::ui {

/// One transaction from its first phase to its end. Times are wall clock of the cluster.
struct PlotBand {
  enum class Outcome { Running, Committed, Undone };  // Undone: rolled back or failed
  std::int64_t txn = 0;
  double start = 0;
  double end = 0;
  double pauseStart = 0;  // the job stood still from here
  double pauseEnd = 0;    // to here; equal where it never did
  Outcome outcome = Outcome::Committed;
  QString label;    // "0.31 s"; "now" while it runs
  QString tooltip;  // "Change 3: 2 × 2 × 1 → 4 × 2 × 1, pause 0.31 s, committed"
  friend bool operator==(const PlotBand&, const PlotBand&) = default;
};

/// A transaction that runs now, and when this panel first saw it.
struct RunningBand {
  const engine::TxnStatus& txn;
  double since = 0;
  double now = 0;
};

/// The bands of `job`, ascending in time.
std::vector<PlotBand> bandsOf(const std::vector<engine::HistoryEntry>& entries,
                              const std::string& job,
                              const std::optional<RunningBand>& running = std::nullopt);

struct PlotMark {
  enum class Shape { Dot, Plus, Triangle, Cross };
  double time = 0;
  Shape shape = Shape::Dot;
  QString text;
  friend bool operator==(const PlotMark&, const PlotMark&) = default;
};

/// The mark of an event, by its severity and what it tells; nothing for events that a band shows
/// already or that only developers read.
std::optional<PlotMark> markOf(const engine::Event& event);

}  // namespace tessera::ui
