// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// This node's shares of views: takes them, serves them to lanes, and frees them when they are
/// released or their lease ends.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>

#include "agents/net/lanes.h"
#include "agents/net/loop.h"
#include "agents/views/disposal.h"
#include "agents/views/held_share.h"
#include "agents/views/view_copy.h"

namespace tessera::agents {

/// The default lease: a view is freed this long after its last renewal, for example after its
/// client has died.
inline constexpr std::chrono::milliseconds kViewLease{30000};

/// \threadsafety The loop's thread, except where a member allows any.
class ViewStore {
 public:
  struct Taken {
    std::int64_t bytes = 0;
    std::string path;  // readable by processes of this machine and user
  };
  struct TooLate {
    std::int64_t step = 0;  // of the update that has begun
  };
  struct Paused {
    std::int64_t step = 0;  // after which the job is paused
  };
  using Outcome = std::variant<Taken, TooLate, Paused, Error>;
  using Done = std::function<void(const Outcome&)>;

  explicit ViewStore(Loop& loop, std::chrono::milliseconds lease = kViewLease);
  /// Cancels the views that are being taken.
  ~ViewStore();

  /// Takes this node's share. Cancels an older view of the job that is still being taken.
  /// `paused_at`: the step after which all ranks of the job on this node are paused. `done` runs
  /// once, on the loop, possibly inside the call; it never runs for a view that is cancelled or
  /// released before.
  void Take(ViewTask task, std::optional<std::int64_t> paused_at, Done done);
  /// All ranks of the job on this node are paused after `step`, so a later step will not come.
  void OnPaused(const std::string& job, std::int64_t step);
  /// Renews the lease. Ignores unknown views.
  void Keep(std::uint64_t view);
  /// Frees a view, or cancels it.
  void Release(std::uint64_t view);
  /// The memory of the job changes: cancels its views that are being taken. Complete views stay.
  void GiveUp(const std::string& job);
  /// The job has ended: cancels and frees all of its views.
  void Forget(const std::string& job);

  /// Memory of all views, complete or being taken.
  std::int64_t size_bytes() const;
  /// A complete share, or nullptr. Any thread.
  std::shared_ptr<const HeldShare> Find(std::uint64_t view) const;
  /// The memory of a cell of a view: any box inside a cell of its plan. Any thread.
  /// \error kNotFound naming the view, or the cell if this node does not hold it
  Result<SourceCell> Resolve(std::uint64_t view, const LaneCell& cell) const;

 private:
  struct Taking {
    std::string job;
    std::int64_t step = 0;
    std::int64_t bytes = 0;
    Done done;
    std::unique_ptr<ViewCopy> copy;
  };
  void OnCopied(std::uint64_t view, const std::shared_ptr<const ViewTask>& task,
                Result<engine::ViewMemory> memory);
  void Finish(std::uint64_t view, const Outcome& outcome);
  void DropExpired();
  /// Removes the view. Its memory is unmapped on another thread, without a lock.
  void Drop(std::uint64_t view);

  Loop& loop_;
  const std::chrono::milliseconds lease_;
  Disposal disposal_;
  Loop::TimerId timer_ = 0;
  std::map<std::uint64_t, Taking> taking_;
  std::map<std::uint64_t, Loop::Clock::time_point> kept_until_;
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<const HeldShare>> held_;  // under mutex_
};

}  // namespace tessera::agents
