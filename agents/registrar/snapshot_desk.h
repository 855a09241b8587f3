// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Decides when a snapshot of a job is taken, and follows it until all nodes hold their shares. The
/// snapshot before it stays until then.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agents/views/snapshot_row.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "engine/cluster/snapshot.h"
#include "engine/history/durable_store.h"

namespace tessera::agents {

/// Snapshots of all jobs. Has no clock, socket or thread of its own.
class SnapshotDesk {
 public:
  using Clock = std::chrono::steady_clock;
  struct World {
    /// As ViewDesk::TakeSnapshot.
    std::function<void(const std::string& job, std::function<void(Result<wire::ViewReply>)> done)>
        take;
    /// As ViewDesk::Keep.
    std::function<Status(std::uint64_t view)> renew;
    std::function<Status(std::int32_t node, const wire::ToNode& message)> send;
    std::function<void(const std::string& job, const std::string& text)> warn;
    engine::DurableStore* journal = nullptr;
    /// Whether nodes may free shares of this job that no row names: the job table knows what became
    /// of the job, and its row was not restored from nodes. `origin`: as JobRow::origin; 0:
    /// unknown. Absent: always.
    std::function<bool(const std::string& job, std::uint64_t origin)> may_free = {};
  };
  /// What is known about a job.
  struct Facts {
    std::string job;
    engine::SnapshotEvery every;
    bool runs = false;
    std::int64_t step = 0;
    std::int64_t timeline = 0;
    double step_seconds = 1;
    bool keeps = false;  // while no snapshots are taken, as Job::keeps_snapshots
  };

  struct Adoption {
    /// Step of the snapshot; nullopt if there is none, or if the desk knows it or a newer one.
    std::optional<std::int64_t> step;
    std::optional<std::int64_t> incomplete;  // step of the newest one, if nodes lack parts of it
  };

  explicit SnapshotDesk(World world) : world_(std::move(world)) {}

  /// Reads the journal. Sets a row aside that cannot be read.
  /// \error those of the journal
  Status Recover();
  /// Begins a snapshot if it is time for it. Called at each step and each second.
  void Consider(const Facts& facts, Clock::time_point now);
  /// Renews the leases of shares that are not complete, and gives up snapshots that take too long.
  void Tick(Clock::time_point now);
  void OnReport(std::int32_t node, const wire::SnapshotReport& report, Clock::time_point now);
  /// The node was lost, or its agent restarted. It counts as without shares until it reports some.
  void OnNodeGone(std::int32_t node, const std::string& why, Clock::time_point now);
  /// Notes which shares the node reports, and frees those that are of no use.
  void OnHeld(std::int32_t node,
              const google::protobuf::RepeatedPtrField<wire::HeldSnapshot>& held);
  /// Chooses the snapshot that a job whose row was restored from nodes may return to: the newest of
  /// `rows`, which nodes hold of it, that the nodes in `holders` (by id) have all of.
  /// \error of the journal
  Result<Adoption> Adopt(std::vector<SnapshotRow> rows,
                         const std::map<std::uint64_t, std::set<std::int32_t>>& holders);
  /// Drops the snapshots of a job.
  void Forget(const std::string& job);
  /// The job has returned to its newest snapshot, in a new timeline.
  void OnReturned(const std::string& job, std::int64_t timeline);

  /// The newest complete snapshot of `job` that it may return to, or nullptr.
  const SnapshotRow* Find(const std::string& job, std::int64_t timeline) const;
  /// Whether these nodes together have all of that snapshot.
  bool IsCovered(const std::string& job, const std::set<std::int32_t>& nodes) const;
  /// Lists the newest snapshot and the nodes that report shares of it. If these do not have all of
  /// it, the status has no snapshot, and names the nodes that have stopped to report theirs.
  /// \param timeline the job's; absent: lists a snapshot of another timeline too, to which the job
  ///     cannot return
  engine::SnapshotStatus StatusOf(const std::string& job,
                                  std::optional<std::int64_t> timeline = std::nullopt) const;

 private:
  /// Shares are taken, and nodes complete them.
  struct Making {
    SnapshotRow row;
    std::set<std::int32_t> nodes, waiting;
    std::int64_t bytes = 0;
    std::vector<std::uint64_t> digests;  // by tensor
  };
  struct Entry {
    std::optional<SnapshotRow> newest;
    std::optional<engine::ViewPlan> plan;  // of the newest
    std::set<std::int32_t> lacking;        // nodes of `plan` that do not report their share
    std::set<std::int32_t> unheard;        // those that have reported nothing since Recover
    bool is_taking = false;                // the nodes copy
    std::optional<Making> making;
    Clock::time_point began;                      // of the last one
    std::optional<Clock::time_point> not_before;  // after a snapshot that was given up
    engine::SnapshotStatus status;
  };
  static void SetNewest(Entry& entry, SnapshotRow row);
  /// Whether the nodes that report shares of the newest snapshot have all of it.
  /// \pre there is one
  static bool IsWhole(const Entry& entry);
  /// The node reports a share of the newest snapshot, or none.
  static void NoteShare(Entry& entry, std::int32_t node, bool has_share);
  static bool IsDue(const Entry& entry, const Facts& facts, Clock::time_point now);
  void OnTaken(const std::string& job, std::int64_t timeline, Result<wire::ViewReply> shares);
  void Finish(const std::string& job, Entry& entry, Clock::time_point now);
  void GiveUp(const std::string& job, Entry& entry, const Error& why, Clock::time_point now);
  void SendDrop(std::uint64_t id, const std::set<std::int32_t>& nodes);

  const World world_;
  std::map<std::string, Entry> entries_;  // by job
};

}  // namespace tessera::agents
