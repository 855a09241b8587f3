// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A past transaction as text, for the history table, its details and the plots.

#include <QString>
#include <string_view>
#include <vector>

#include "engine/cluster/snapshot.h"

namespace tessera::ui {

/// "2 × 2 × 1": the mesh without devices. Returns the text unchanged if it is not a mesh.
QString meshText(const std::string& deviceMesh);
/// "2 × 2 × 1 → 4 × 2 × 1", or what differs where the mesh stays: "4 × 2 × 1, checkpoint loaded".
QString changeText(const engine::HistoryEntry& entry);
/// Why a change back to the earlier mesh would not undo this one; empty if it would.
QString undoBlockedReason(const engine::HistoryEntry& entry);
/// The same for a committed change of this kind.
QString undoBlockedReason(engine::ChangeKind kind);
/// "committed", "rolled back", "failed", "unknown", "running".
QString resultText(const engine::HistoryEntry& entry);
/// "ZeRO on, micro-batch 4"; "ZeRO off" for the defaults.
QString optionsText(const engine::StepOptions& options);
/// "equal" or "different"; a dash if one of the digests is unknown.
QString digestsText(const engine::HistoryEntry& entry);
/// Returns the planned bytes, kept and moved; 0 if the history does not contain them.
std::int64_t plannedBytes(const engine::HistoryEntry& entry);

/// Returns whether the job is paused in this phase.
bool pausesJob(std::string_view phase);

struct PhaseTime {
  std::string phase;  // name in the history
  QString name;       // for users
  double seconds = 0;
  bool pauses = false;
  friend bool operator==(const PhaseTime&, const PhaseTime&) = default;
};
/// Returns the phases in the order of a transaction; unknown phases come last.
std::vector<PhaseTime> phasesOf(const engine::HistoryEntry& entry);

/// When a change and its pause ended, by the recorded durations. Wall clock of the cluster. After a
/// loss the pause began before the change.
struct ChangeTimes {
  double end = 0;
  double pauseStart = 0;
  double pauseEnd = 0;  // equal to the start if there was none
};
ChangeTimes timesOf(const engine::HistoryEntry& entry);

}  // namespace tessera::ui
