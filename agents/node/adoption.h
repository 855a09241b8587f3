// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The commit of one transaction at a node: devices flip to the new layout, and the ranks adopt it.

#include <chrono>
#include <cstdint>
#include <optional>

#include "agents/move/device_store.h"
#include "agents/net/timers.h"
#include "agents/node/held_jobs.h"
#include "agents/node/node_links.h"
#include "agents/node/prepared_change.h"
#include "agents/node/rank_table.h"
#include "agents/node/uplink.h"

namespace tessera::agents {

/// \threadsafety The loop's thread.
class Adoption {
 public:
  /// How long a rank may take to adopt if the settings of the job do not limit it.
  static constexpr std::chrono::seconds kToAdopt{30};

  /// \pre all outlive this part
  Adoption(const PreparedChange& change, Timers& timers, DeviceStore& devices, RankTable& ranks,
           HeldJobs& jobs, const NodeLinks& links, const Uplink& uplink)
      : change_(change),
        timers_(timers),
        devices_(devices),
        ranks_(ranks),
        jobs_(jobs),
        links_(links),
        uplink_(uplink) {}

  /// Flips the devices to the new pieces, whose state is that after `step`, and lists the job in
  /// the new epoch. Idempotent: skips devices that have flipped, also to a later epoch.
  void Flip(std::int64_t step);
  /// Lists the job with what so many rounds have left of it, if the node has devices of it. It has
  /// no ranks.
  void ListLeft(int rounds);
  /// Makes the ranks adopt the new layout. Skips ranks that have adopted it.
  /// \return whether all devices have flipped; otherwise nothing was sent
  bool Send();
  /// Whether the transaction may be forgotten here: the devices have flipped, the job is in the
  /// journal, and no living rank is in an earlier epoch. Tries the journal again if it failed.
  bool Complete();
  /// Kills ranks that have not adopted in time. The commit stands, and all ranks of the job wait
  /// for them. Without them the job starts again on the new layout.
  void FailLateRanks();

 private:
  /// \return whether its row is in the journal
  bool List(std::int64_t epoch);
  /// Whether the rank of the new layout makes the update of the step after `step`.
  bool HasUpdate(const DeviceStore::Device& device, std::int64_t step) const;

  const PreparedChange& change_;
  Timers& timers_;
  DeviceStore& devices_;
  RankTable& ranks_;
  HeldJobs& jobs_;
  const NodeLinks& links_;
  const Uplink& uplink_;
  std::optional<Timers::Clock::time_point> flipped_;  // the first time
  bool is_job_journaled_ = false;                     // the row of the job in the new epoch
};

}  // namespace tessera::agents
