// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The transaction that runs, at the registrar.

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agents/checkpoint/stored_state.h"
#include "agents/move/state_digests.h"
#include "agents/net/timers.h"
#include "agents/node/repetition.h"
#include "agents/registrar/crash_guard.h"
#include "agents/registrar/job.h"
#include "agents/registrar/planner.h"
#include "agents/registrar/start_watch.h"
#include "agents/registrar/transaction_run.h"
#include "agents/registrar/transfer_count.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "engine/cluster/snapshot.h"
#include "engine/history/history.h"
#include "engine/transfer/progress.h"

namespace tessera::agents {

/// State that a client hands in, or that a checkpoint holds. The transaction reads it instead of
/// moving the present state.
struct HandIn {
  std::int64_t step = 0;  // the job continues after this step
  wire::HandInSource source;
  std::optional<StoredState> checkpoint = {};  // present: `source` is not used
};

/// A transaction that continues a job which has lost devices, or begins one from a checkpoint.
struct Recovery {
  std::vector<ptc::DeviceId> lost;
  std::int64_t step = 0;  // the state is the one after this step
  std::string reason;
  /// Present: the job returns to a snapshot or a checkpoint, and all its devices count as lost.
  std::optional<std::int64_t> steps_lost = {};
  wire::ViewReply snapshot = {};               // its shares
  std::string digest = {};                     // of the snapshot
  std::optional<StoredState> checkpoint = {};  // present: there is no snapshot
  bool begins = false;                         // the job has not run before
};

/// Where a transaction comes from.
struct TxnOrigin {
  std::string request_id = {};
  std::string requester = {};
  std::int64_t at_step = 0;
  bool unrecorded = false;
  bool verify_full = false;
  std::optional<HandIn> hand_in = {};
  std::optional<Recovery> recovery = {};
};

/// The transaction that runs.
struct Txn {
  Txn(Planned what, Timers::Clock::time_point now)
      : planned(std::move(what)), phase_began(now), progress(planned.plan.bytes.moved(), now) {}
  std::int64_t id = 0;
  std::string job;
  Planned planned;
  std::int64_t slot = 0, epoch = 0, at_step = 0;
  std::int64_t timeline = 0;  // of the job once it is committed
  std::optional<HandIn> hand_in;
  std::optional<Recovery> recovery;
  std::optional<ptc::Layout> from;  // absent after a restart of the registrar
  bool verify_full = false;         // all state is read in the pause
  bool replicas_differ = false;     // a recovery has found that, and goes on
  bool was_paused = false;          // and stays so
  std::int64_t copied_step = 0;     // after which the state is copied while ranks compute; 0: none
  int leg = 1;                      // of that copy
  double keeping = 0;               // seconds that ranks have waited in it for their gradients
  wire::StepDecision followed;      // of copied_step, after the first leg
  /// Whether devices of different nodes are asked to meet, once that is decided, and the nodes
  /// whose devices have.
  std::optional<bool> may_exchange;
  std::set<std::int32_t> exchanging;
  wire::StepDecision pending;  // before whose update the ranks pause; without a step: after one
  std::map<std::int32_t, std::int64_t> gradients;  // bytes of them that have moved, by node
  std::optional<Remains> before;                   // with rounds: where the state lies before them
  int noted_round = 0;                             // engine::RoundToNote, in the journal
  bool cancelled = false;                          // by a user
  std::int64_t throttle = 0;                       // bytes per second and node; 0: no limit
  std::unique_ptr<TransactionRun> run;
  std::shared_ptr<const wire::ToNode> prepare;  // its message, with the peers of this revision
  std::int64_t peers_revision = -1;
  engine::HistoryEntry entry;
  Timers::Clock::time_point phase_began;
  std::optional<StartWatch> start_watch;  // while it prepares
  std::optional<Timers::Clock::time_point> paused_since, pause_deadline;
  Repetition repeats;  // of the requests of this phase
  double pause = 0;
  TransferCount count;
  std::int64_t moved_before = 0;  // of `count`: what has to move again
  engine::Progress progress;
  std::int64_t checksums_equal = 0;
  std::map<std::int32_t, StateDigests> digests;    // by node
  std::map<std::int32_t, std::string> no_digests;  // why a node has none
  /// While ranks continue and only digests are missing.
  std::optional<Timers::Clock::time_point> digests_deadline;
  bool resumed = false;  // so in the phase `resuming`, whose time has ended
  struct LostRank {
    std::string reason;
    RankEnd end;
  };
  std::map<ptc::DeviceId, LostRank> lost_ranks;

  /// Ranks go on: what they have waited counts as pause.
  void EndPause(Timers::Clock::time_point now) {
    if (paused_since) pause += std::chrono::duration<double>(now - *paused_since).count();
    paused_since.reset();
  }
  /// Whether the old state is still complete and in place: ranks start, or train until the pause.
  bool IsBeforeTransfer() const {
    using engine::TxnPhase;
    const TxnPhase phase = run->phase();
    return phase == TxnPhase::kPlanned || phase == TxnPhase::kPreparing ||
           phase == TxnPhase::kPrecopying || phase == TxnPhase::kPausing;
  }
  /// Whether the ranks of the job make steps meanwhile.
  bool TrainsOn() const { return !was_paused && !recovery && IsBeforeTransfer(); }
  std::int64_t gradients_done() const {
    std::int64_t bytes = 0;
    for (const auto& [node, moved] : gradients) bytes += moved;
    return bytes;
  }
  /// The checkpoint that it reads, or nullptr.
  const StoredState* checkpoint() const {
    if (recovery && recovery->checkpoint) return &*recovery->checkpoint;
    return hand_in && hand_in->checkpoint ? &*hand_in->checkpoint : nullptr;
  }
  /// Whether the transfer itself reads or receives all state, so that digests are known before the
  /// decision.
  bool reads_all() const {
    const bool follows = run && run->machine().follows();
    return verify_full || hand_in || (recovery && recovery->steps_lost) || follows;
  }
};

/// "no step lost: n1 was lost".
std::string CostOf(const Recovery& recovery);
/// Its row of the snapshot.
engine::TxnStatus StatusOf(const Txn& txn, Timers::Clock::time_point now);
/// The message that begins it at the nodes.
wire::ToNode PrepareMessage(const Txn& txn, const Job& job, const Peers& peers);
/// What the reports of the nodes say together.
struct StateComparison {
  std::string difference;  // between before and after; empty: none
  std::vector<GroupDifference> differing_before, differing_after;  // replicas
};
/// Adds up the digests of all nodes, notes them in the record, and compares replicas and sides.
/// \pre all nodes have reported
StateComparison CompareStates(Txn& txn);
/// Replicas of the old layout that differ, of the nodes that have read theirs so far.
std::vector<GroupDifference> DifferingBefore(const Txn& txn);

}  // namespace tessera::agents
