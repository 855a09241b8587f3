// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The views that one node holds its share of: taking them, serving them to lanes, and letting go
/// of them when they are released or nobody asked to keep them for a while.

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
#include "agents/node/disposal.h"
#include "agents/node/view_copy.h"

namespace tessera::agents {

/// A view is kept so long after its last renewal: a client that is gone lets go of it.
inline constexpr std::chrono::milliseconds kViewLease{30000};

/// Lives on a loop; every member is called on the loop's thread, but for those that say otherwise.
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
  /// Gives up what is being taken.
  ~ViewStore();

  /// Takes this node's share. An older view of the job that is still being taken is given up.
  /// `paused_at`: the step after which all of the job's ranks here stand. `done` runs once, on the
  /// loop, perhaps inside the call; never for a view that is given up or released before.
  void Take(ViewTask task, std::optional<std::int64_t> paused_at, Done done);
  /// All of the job's ranks here stand after `step`: a later one will not come.
  void OnPaused(const std::string& job, std::int64_t step);
  /// The client is still there. Unknown views are passed over.
  void Keep(std::uint64_t view);
  /// Frees a view, or gives it up.
  void Release(std::uint64_t view);
  /// The job's memory changes: what is being taken of it is given up. Complete views stay.
  void GiveUp(const std::string& job);
  /// The job is over: all of its views go.
  void Forget(const std::string& job);

  /// Of the views that are held or being taken.
  std::int64_t size_bytes() const;
  /// The memory of cell `cell` of a view's plan. Any thread.
  /// \error kNotFound naming the view, or the cell where this node does not hold it
  Result<SourceCell> Resolve(std::uint64_t view, std::int64_t cell) const;

 private:
  struct Held;
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
  /// Takes the view out, and lets go of its memory elsewhere, under no lock.
  void Drop(std::uint64_t view);

  Loop& loop_;
  const std::chrono::milliseconds lease_;
  Disposal disposal_;
  Loop::TimerId timer_ = 0;
  std::map<std::uint64_t, Taking> taking_;
  std::map<std::uint64_t, Loop::Clock::time_point> kept_until_;
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<const Held>> held_;  // under mutex_
};

}  // namespace tessera::agents
