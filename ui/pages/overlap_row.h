// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// What a plan copies while the job trains, as a row of plan and apply sheet.

#include "engine/cluster/snapshot.h"
#include "ui/widgets/key_values.h"

namespace tessera::ui {

/// "while training: all but 12 MiB of gradients", with the reason and the other way as tool tip.
KeyValues::Row overlapRow(const engine::OverlapPlan& overlap);

/// "5, each with at most 64 MiB beside the state of a GPU".
/// \pre plan.in_rounds.rounds > 0
KeyValues::Row roundsRow(const engine::PlanSummary& plan);
/// Until when the change can be rolled back. `tone`: of the value where it cannot until the commit.
KeyValues::Row rollbackRow(const engine::PlanSummary& plan, const QString& tone);

}  // namespace tessera::ui
