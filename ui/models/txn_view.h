// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A transaction as text and steps, for every phase.

#include <QString>
#include <array>
#include <cstdint>
#include <optional>

#include "engine/cluster/snapshot.h"

namespace tessera::ui {

/// The content of the progress panel in one phase. Equal inputs give equal views.
struct TxnView {
  enum class Tone { Running, Good, Warning, Bad };
  enum Step { kPrepare, kCopy, kPause, kTransfer, kVerify, kCommit, kResume, kNumSteps };

  /// Steps before this one are done; kNumSteps: all are.
  int step = kPrepare;
  /// Whether there is the step kCopy: the state is copied while the job trains.
  bool copiesAhead = false;
  /// Progress of the current step, 0 to 1; nothing if unknown.
  std::optional<double> progress;
  /// Whether the step is running. False during and after a roll back, and while waiting.
  bool active = false;
  /// Whether the transaction has ended.
  bool ended = false;
  Tone tone = Tone::Running;
  QString headline;  // "Reconfiguring gpt-mini: 2 × 2 × 1 → 4 × 2 × 1"
  QString sentence;  // what happens now, and the cost of cancelling
  QString numbers;   // "23.2 of 37.4 MiB · 98 MB/s · 0.2 s left"
  friend bool operator==(const TxnView&, const TxnView&) = default;
};

/// The data of a transaction that the panel keeps between snapshots.
struct TxnMemory {
  int reachedStep = 0;                // furthest step seen
  bool copiesAhead = false;           // as of TxnView
  std::int64_t bytesDone = 0;         // never decreases
  std::optional<double> rollBack;     // duration of the roll back in seconds, as seen here
  std::optional<double> transferAge;  // seconds since the transfer was first seen
};

TxnView viewOf(const engine::TxnStatus& txn, const engine::JobStatus* job, const TxnMemory& memory);
/// Returns the name of a step: "prepare", …
QString stepName(int step);
/// Returns the step of a phase; nothing for phases outside the path to the commit.
std::optional<int> stepOf(engine::TxnPhase phase);

}  // namespace tessera::ui
