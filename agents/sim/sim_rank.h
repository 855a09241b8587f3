// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The process of a simulated rank: attaches to its agent, meets the other ranks, trains, pauses,
/// adopts and leaves as the built-in trainer does, with the words of a real arena.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "agents/job/rank_links.h"
#include "agents/job/rank_view.h"
#include "agents/sim/collectives.h"
#include "agents/sim/device_memory.h"
#include "agents/sim/sim_model.h"
#include "agents/sim/sim_world.h"
#include "agents/sim/step_book.h"

namespace tessera::agents::sim {

/// Survives its agent, and repeats to the next one what still holds.
class SimRank {
 public:
  /// How it was started.
  struct Spec {
    RankId id;
    std::int64_t pid = 0;
    RankView view;
    bool initialises = false;
    bool finishes_update = false;  // makes one update, and ends
    std::shared_ptr<const engine::JobSettings> settings;
  };
  struct World {
    SimWorld* sim = nullptr;
    Collectives* collectives = nullptr;
    StepBook* steps = nullptr;
    SimModel* model = nullptr;
    DeviceMemory* memory = nullptr;
    /// A report for the agent: calls a handler, and notes in `state` what the agent's end of the
    /// link knows then.
    using Report =
        std::function<void(const RankLinks::Handlers& handlers, RankLinks::State& state)>;
    /// Delivers the report, in the order of the calls, if the rank is attached to an agent.
    std::function<void(Report report)> to_agent;
    /// Asks the agent whether it expects this process, and attaches it. Nothing happens without an
    /// agent.
    std::function<void(std::function<void(bool is_accepted)> then)> attach;
    /// The process has ended. It must not be destroyed inside.
    std::function<void(int status)> ended;
  };

  SimRank(Spec spec, World world);
  ~SimRank();
  SimRank(const SimRank&) = delete;
  SimRank& operator=(const SimRank&) = delete;

  const Spec& spec() const { return spec_; }
  /// Names it in the book of steps.
  std::string process() const {
    return fmt::format("rank {} of {}", spec_.pid, ToString(spec_.id.device));
  }
  bool is_alive() const { return state_ != State::kEnded; }
  bool is_updating() const { return state_ == State::kUpdating; }
  /// Dies at once.
  void Kill();
  /// Does nothing until `time`, as if by SIGSTOP.
  void StopUntil(Time time) { stopped_until_ = time; }
  bool is_stopped() const { return stopped_until_ > world_.sim->clock.now(); }

  /// There is a new agent.
  void OnAgent();
  void OnConnect(const RankView& view);
  void OnAbandon(Attempt attempt);
  void OnCommand(RankCommand command, std::int64_t epoch, const std::optional<RankView>& view);
  void OnGo(std::int64_t epoch, bool stay_paused);
  /// The epoch of its pieces; -1: it has none yet.
  std::int64_t epoch() const { return epoch_; }
  /// The agent is gone.
  void OnAgentGone() { is_attached_ = false; }

 private:
  enum class State : std::uint8_t {
    kStarting,
    kWaiting,
    kAdopted,
    kComputing,
    kGathering,
    kHeld,
    kUpdating,
    kEnded,
  };
  /// Groups that are being built, or are built.
  struct Connection {
    RankView view;
    std::set<int> missing;  // ranks that have not been met
    bool is_built = false;
    std::shared_ptr<Group> group;
  };
  /// Runs `then` after `delay` if the process still lives, and not while it is stopped.
  void Later(Time delay, std::function<void()> then);
  void Say(World::Report report) {
    if (is_attached_) world_.to_agent(std::move(report));
  }
  void Begin();
  void Attach();
  void Repeat();
  void BuildGroups(const RankView& view);
  void Meet(Attempt attempt);
  /// Sets a key of the store, for the other ranks to read.
  void Show(Attempt attempt, const std::string& key);
  /// Waits for a key of the store that `rank` sets.
  void Look(Attempt attempt, const std::string& key, int rank);
  void OnMet(Attempt attempt, int rank, bool is_there);
  void ReportConnected(Attempt attempt, const Status& status);
  void OnBuilt(Attempt attempt);
  /// The step whose update an earlier rank of this device left out after its decision.
  std::optional<std::int64_t> Unfinished() const;
  void Wait(std::int64_t step, std::uint64_t request);
  void ReportPaused();
  void Adopt(const RankView& view);
  void Train();
  void Gather();
  void OnDecision(std::int64_t step, std::uint64_t pause);
  void Update(std::int64_t step, std::function<void()> then);
  void OnGroupBroken();
  void End(int status);
  engine::ArenaHeader& header() const { return world_.memory->header(); }
  std::int64_t step() const { return static_cast<std::int64_t>(header().end.load()); }
  Content& content() { return world_.memory->at(epoch_); }

  const Spec spec_;
  const World world_;
  State state_ = State::kStarting;
  Time stopped_until_ = 0;
  bool is_attached_ = false;
  std::int64_t epoch_ = -1;  // of its pieces
  Attempt current_;          // whose groups it uses
  std::map<Attempt, Connection> connections_;
  std::set<Attempt> abandoned_;
  double busy_ = 0;  // seconds of the last gradients
  std::int64_t paused_step_ = 0;
  std::uint64_t pause_request_ = 0;
  std::map<std::int64_t, RankDecision> decided_;  // repeated to a new agent
  Time last_decision_ = 0;
  std::shared_ptr<const bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace tessera::agents::sim
