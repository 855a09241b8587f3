// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// This node's shares of views and snapshots, as the agent sees them. StoredViews has them in
/// memory.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agents/move/device_store.h"
#include "agents/node/job_row.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// \threadsafety The loop's thread. Replies run on the loop, possibly inside the call.
class NodeViews {
 public:
  /// A job whose state on this node can be copied now. Valid during the call.
  struct Job {
    const JobRow& row;
    const DeviceStore& devices;
    std::optional<std::int64_t> paused_at;  // the step after which all its ranks here are paused
  };
  using TakeReply = std::function<void(wire::ViewReport)>;
  using CompleteReply = std::function<void(wire::SnapshotReport)>;
  using SaveReply = std::function<void(wire::SaveReport)>;

  NodeViews() = default;
  NodeViews(const NodeViews&) = delete;
  NodeViews& operator=(const NodeViews&) = delete;
  virtual ~NodeViews() = default;

  /// Takes over what earlier agents of this node have left. Call it once, first. `set_aside` gets a
  /// sentence about each row that cannot be read.
  /// \error that of the journal
  virtual Status Recover(std::vector<std::string>* set_aside) = 0;

  /// Takes this node's share. Cancels an older view of the job that is still being taken. `reply`
  /// runs once, unless the view is cancelled or released before.
  virtual void Take(const wire::TakeView& message, const Job& job, TakeReply reply) = 0;
  /// Renews the lease of a view. Ignores unknown views.
  virtual void Keep(std::uint64_t view) = 0;
  /// Writes a share of a view to disk. `reply` runs for its progress, and last with `ended`, unless
  /// the view is released before.
  virtual void Save(const wire::SaveShare& message, SaveReply reply) = 0;
  /// Frees a view, or cancels it, and what is done with it.
  virtual void Release(std::uint64_t view) = 0;
  /// Makes a share of a snapshot complete. `reply` runs once, unless the share is dropped before.
  virtual void Complete(const wire::CompleteSnapshot& message, CompleteReply reply) = 0;
  /// Frees a share of a snapshot, complete or not. Ignores unknown shares.
  virtual void Drop(std::uint64_t snapshot) = 0;

  /// All ranks of the job on this node are paused after `step`, so a later step will not come.
  virtual void OnPaused(const std::string& job, std::int64_t step) = 0;
  /// The memory of the job changes: cancels its views that are being taken. Complete views stay.
  virtual void GiveUp(const std::string& job) = 0;
  /// The job has ended: cancels and frees all of its views.
  virtual void Forget(const std::string& job) = 0;

  /// Memory of all views, complete or being taken.
  virtual std::int64_t size_bytes() const = 0;
  /// The complete shares of snapshots.
  virtual void Describe(
      google::protobuf::RepeatedPtrField<wire::HeldSnapshot>* snapshots) const = 0;
};

}  // namespace tessera::agents
