// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The ranks of a node: their processes, and what each of them waits for.

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "agents/job/rank_protocol.h"
#include "agents/job/rank_view.h"
#include "ptc/base/result.h"
#include "ptc/mesh.h"

namespace tessera::agents {

/// Has at most one rank for each device, because two would train on the same memory and destroy the
/// state in it. While a rank runs, its device gets no other. A rank that is leaving is killed
/// before the next one is started.
///
/// Has no clock, socket or process of its own.
class RankTable {
 public:
  struct World {
    std::function<void(std::int64_t pid)> kill;
    /// Sends the command to leave, if the rank waits for a command.
    std::function<void(const RankId&)> send_leave;
    std::function<void(std::chrono::seconds, std::function<void()>)> after;
  };

  struct Pause {
    std::int64_t step = 0;
    std::uint64_t request = 0;  // without kRequestBeforeUpdate
    std::string reason;
    bool before_update = false;  // of the step after `step`, whose gradients the rank has
  };
  struct Rank {
    RankId id;
    std::int64_t pid = 0;
    Attempt started;  // the epoch and attempt that its process was started for
    std::map<Attempt, bool> connected = {};
    std::optional<Pause> paused = {};
    std::int64_t current_epoch = 0;  // of its last attach or adopt
    bool adopted = false;            // it waits for Go in current_epoch
    bool exit_expected = false;      // it was told to leave, or was killed
    std::string last_line = {};      // of stderr
    std::deque<double> busy = {};    // seconds that it computed in each of the last steps
  };

  /// A rank that does not leave by then is killed.
  static constexpr std::chrono::seconds kToLeave{5};
  /// Steps of which a rank's usual time to compute is the median.
  static constexpr std::size_t kBusySteps = 20;

  explicit RankTable(World world) : world_(std::move(world)) {}

  /// Lists a rank that an earlier agent started. Of two ranks of a device the earlier one has left,
  /// and is killed.
  void Recover(const RankId& id, std::int64_t pid, Attempt started);
  /// Lists a rank that was started. Call CheckFree before.
  void Add(const RankId& id, std::int64_t pid, Attempt started);
  /// Kills ranks of the device that are leaving.
  /// \error kFailedPrecondition naming the device, if a rank of it still runs
  Status CheckFree(ptc::DeviceId device);

  /// Tells the rank to leave, and kills it after kToLeave.
  void Retire(Rank& rank);
  void Kill(Rank& rank);
  /// Kills a rank that was to run on: its end is a failure.
  void Fail(const Rank& rank) { world_.kill(rank.pid); }
  void KillAll(const std::string& job);
  /// Notes that the process has ended.
  /// \return the rank; nullopt if the process was none, or has a successor
  std::optional<Rank> Remove(const RankId& id, std::int64_t pid);

  /// Whether the process is this rank. `group` is its process group: a shell may have started it.
  bool Is(const RankId& id, std::int64_t pid, std::int64_t group) const;
  /// nullptr if there is none.
  Rank* Find(const RankId& id);
  const Rank* Find(const RankId& id) const;
  std::map<RankId, Rank>& ranks() { return ranks_; }
  const std::map<RankId, Rank>& ranks() const { return ranks_; }
  /// The number of the job's ranks that are to run on.
  int NumRunning(const std::string& job) const;

  /// The pause of the job's ranks on these devices, with the first reason that one of them gives;
  /// nullopt while one of them is not paused, or paused after another step.
  std::optional<Pause> AllPaused(const std::string& job,
                                 std::span<const ptc::DeviceId> devices) const;
  /// Notes that the rank has made a step, and for how many seconds it computed; 0: unknown.
  void NoteStep(Rank& rank, double busy_seconds);
  /// The median of the last kBusySteps steps; 0 before there are so many.
  static double UsualBusySeconds(const Rank& rank);

 private:
  World world_;
  std::map<RankId, Rank> ranks_;
};

}  // namespace tessera::agents
