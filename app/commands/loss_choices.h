// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// What a user may choose for a job that has lost GPUs, in words.

#include <optional>
#include <string>
#include <string_view>

#include "engine/cluster/snapshot.h"
#include "ptc/base/result.h"

namespace tessera::app {

/// A choice of `txn decide`.
struct DecideWord {
  engine::LossChoice choice = engine::LossChoice::kContinue;
  std::optional<engine::RecoverySource> source = {};  // nullopt: the first way
  friend bool operator==(const DecideWord&, const DecideWord&) = default;
};
/// "continue", "snapshot", "checkpoint" or "wait".
/// \error kInvalidArgument naming the word
Result<DecideWord> parseDecideWord(std::string_view word);

/// What was lost, what happens by itself, and a table of the choices with their costs; several
/// lines. What is not known is "-".
/// \pre job.decision
std::string describeChoices(const engine::JobStatus& job);

}  // namespace tessera::app
