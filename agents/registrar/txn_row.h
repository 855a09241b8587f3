// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The registrar's journal row of the running transaction: what a restarted registrar needs to
/// follow the register's decision.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agents/node/remains.h"
#include "engine/cluster/snapshot.h"
#include "engine/history/durable_store.h"
#include "ptc/base/result.h"
#include "ptc/layout.h"

namespace tessera::agents {

/// The keys of the two rows.
inline constexpr char kTxnKey[] = "txn", kRoundKey[] = "txn-round";

struct TxnRow {
  std::int64_t id = 0;
  std::string job;
  std::int64_t slot = 0, epoch = 0;
  ptc::Layout to;
  engine::StepOptions options;  // of the new layout
  bool was_paused = false;
  std::int64_t timeline = -1;  // after a commit; -1: that of the job
  double started = 0;          // wall clock
  struct Recovery {
    std::vector<ptc::DeviceId> lost;
    std::string reason;
    std::int64_t step = 0;
    std::optional<std::int64_t> steps_lost = {};  // present: it returns to a snapshot
    bool begins = false;                          // as of agents::Recovery
    std::string checkpoint = {};                  // that it reads; empty: none
  };
  std::optional<Recovery> recovery = {};  // of a job without ranks
  /// In which the state moves after the decision: the tensors of each.
  std::vector<std::vector<int>> rounds = {};
  std::optional<Remains> before = {};  // with `rounds`: where the state lies before them
};

/// A second row, of a move in rounds. It is written for each of them.
struct RoundRow {
  std::int64_t id = 0;        // of the transaction
  int round = 0;              // engine::RoundToNote
  std::string given_up = {};  // why the rounds end before this one; empty: they do not
};
/// What erases both.
inline const std::vector<engine::RowChange> kNoTxnRows = {{kTxnKey, {}}, {kRoundKey, {}}};
/// "ID ROUND [REASON]".
std::string ToText(const RoundRow& row);
/// \error kDataLoss naming the row
Result<RoundRow> ParseRoundRow(const std::string& text);

/// JSON.
std::string ToText(const TxnRow& row);
/// \error kDataLoss naming the row and what is wrong with it
Result<TxnRow> ParseTxnRow(const std::string& text);

}  // namespace tessera::agents
