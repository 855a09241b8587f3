// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A transaction in words and steps, for every phase there is.

#include <QString>
#include <array>
#include <cstdint>
#include <optional>

#include "engine/cluster/snapshot.h"

namespace tessera::ui {

/// What the progress panel says of one phase. Pure: equal inputs give equal views.
struct TxnView {
  enum class Tone { Running, Good, Warning, Bad };
  static constexpr int kNumSteps = 6;  // prepare, pause, transfer, verify ┃ commit, resume
  static constexpr int kCommitStep = 4;

  /// Steps before this one are done; kNumSteps: all are.
  int step = 0;
  /// Of the step under way, 0 to 1; nothing where it is not known.
  std::optional<double> progress;
  /// The step is under way (false while and after rolling back, and where nobody works on it).
  bool active = false;
  /// Nothing follows on its own.
  bool ended = false;
  Tone tone = Tone::Running;
  QString headline;  // "Reconfiguring gpt-mini: 2 × 2 × 1 → 4 × 2 × 1"
  QString sentence;  // what happens now, and what a cancel would cost
  QString numbers;   // "23.2 of 37.4 MiB · 98 MB/s · 0.2 s left"
  friend bool operator==(const TxnView&, const TxnView&) = default;
};

/// What the panel remembers of a transaction between two snapshots.
struct TxnMemory {
  int reachedStep = 0;                // furthest step seen
  std::int64_t bytesDone = 0;         // never decreases
  std::optional<double> rollBack;     // seconds that the roll back took, as seen here
  std::optional<double> transferAge;  // seconds since the transfer was first seen
};

TxnView viewOf(const engine::TxnStatus& txn, const engine::JobStatus* job, const TxnMemory& memory);
/// Name of a step: "prepare", …
QString stepName(int step);
/// The step that a phase belongs to; nothing for phases off the way to the commit.
std::optional<int> stepOf(engine::TxnPhase phase);

}  // namespace tessera::ui
