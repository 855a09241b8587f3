// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A past transaction in words: what the history's table, its details and the plots say of it.

#include <QString>
#include <string_view>
#include <vector>

#include "engine/cluster/snapshot.h"

namespace tessera::ui {

/// "2 × 2 × 1": the mesh alone; the text itself where it is no mesh.
QString meshText(const std::string& deviceMesh);
/// "2 × 2 × 1 → 4 × 2 × 1".
QString changeText(const engine::HistoryEntry& entry);
/// "committed", "rolled back", "failed", "running".
QString resultText(const engine::HistoryEntry& entry);
/// "ZeRO on, micro-batch 4"; "ZeRO off" for the defaults.
QString optionsText(const engine::StepOptions& options);
/// "equal", "different"; a dash where one of both is not known.
QString digestsText(const engine::HistoryEntry& entry);
/// What a transaction kept and moved in all, as planned. 0 where the history does not say.
std::int64_t plannedBytes(const engine::HistoryEntry& entry);

/// Whether the job stands still in this phase of the history.
bool pausesJob(std::string_view phase);

struct PhaseTime {
  std::string phase;  // name in the history
  QString name;       // for people
  double seconds = 0;
  bool pauses = false;
  friend bool operator==(const PhaseTime&, const PhaseTime&) = default;
};
/// In the order in which a transaction goes through them; phases of another name last.
std::vector<PhaseTime> phasesOf(const engine::HistoryEntry& entry);

}  // namespace tessera::ui
