// SPDX-License-Identifier: Apache-2.0
#include "agents/sim/sim_rank.h"

#include <bit>
#include <utility>
#include <vector>

#include "agents/job/rank_session.h"
#include "engine/copy/checksum.h"

namespace tessera::agents::sim {
namespace {

constexpr int kFailed = 1 << 8;  // statuses as from wait(2)
constexpr int kKilled = 9;
constexpr Time kLongestWait = 30'000;  // for the others, in a collective

constexpr int kHub = 0;  // the rank that the others meet
constexpr char kAllThere[] = "all";

std::string KeyOf(int rank) { return fmt::format("rank/{}", rank); }

}  // namespace

SimRank::SimRank(Spec spec, World world) : spec_(std::move(spec)), world_(std::move(world)) {
  Later(world_.sim->Pick(5, 100), [this] { Begin(); });
}
SimRank::~SimRank() = default;

void SimRank::Later(Time delay, std::function<void()> then) {
  world_.sim->clock.After(
      delay, [this, alive = std::weak_ptr<const bool>(alive_), then = std::move(then)] {
        if (alive.expired() || !is_alive()) return;
        const Time rest = stopped_until_ - world_.sim->clock.now();
        if (rest > 0) return Later(rest, then);
        then();
      });
}

// ---- the agent

void SimRank::Begin() {
  if (world_.sim->is_traced()) world_.sim->Note(fmt::format("  the {} begins", process()));
  const std::string& job = spec_.id.job;
  const bool is_in_job =
      header().job_hash.load() == engine::Checksum(std::as_bytes(std::span(job))) &&
      header().epoch.load() == static_cast<std::uint64_t>(spec_.view.epoch);
  if (is_in_job) epoch_ = spec_.view.epoch;
  current_ = {spec_.view.epoch, spec_.view.attempt};
  Attach();
  if (!spec_.finishes_update) return BuildGroups(spec_.view);
  const auto unfinished = Unfinished();
  if (!unfinished) return End(kFailed);
  Update(*unfinished, [this] { End(0); });
}

void SimRank::OnAgent() {
  Later(world_.sim->Pick(20, 1000), [this] { Attach(); });
}

void SimRank::Attach() {
  if (is_attached_) return;
  world_.attach([this](bool is_accepted) {
    if (!is_alive()) return;
    if (!is_accepted) return End(kFailed);
    is_attached_ = true;
    Repeat();
  });
}

void SimRank::Repeat() {
  for (const auto& [attempt, connection] : connections_) {
    Meet(attempt);
    if (connection.is_built) ReportConnected(attempt, OkStatus());
  }
  for (const auto& [step, decision] : decided_) {
    Say([id = spec_.id, decision](const auto& handlers, auto&) { handlers.decided(id, decision); });
  }
  if (state_ == State::kWaiting) ReportPaused();
  if (state_ == State::kAdopted) {
    Say([id = spec_.id, epoch = epoch_](const auto& handlers, auto& state) {
      state.adopted = true;
      handlers.adopted(id, epoch);
    });
  }
}

void SimRank::OnConnect(const RankView& view) {
  Later(world_.sim->Pick(0, 3), [this, view] {
    const Attempt attempt{view.epoch, view.attempt};
    const auto known = connections_.find(attempt);
    if (known == connections_.end()) return BuildGroups(view);
    if (known->second.is_built) ReportConnected(attempt, OkStatus());
  });
}

void SimRank::OnAbandon(Attempt attempt) {
  Later(world_.sim->Pick(0, 3), [this, attempt] {
    abandoned_.insert(attempt);
    const auto found = connections_.find(attempt);
    if (attempt == current_ || found == connections_.end()) return;
    const Connection& connection = found->second;
    if (connection.is_built) connection.group->members.erase(connection.view.rank);
    connections_.erase(found);
  });
}

void SimRank::OnCommand(RankCommand command, std::int64_t epoch,
                        const std::optional<RankView>& view) {
  Later(world_.sim->Pick(0, 3), [this, command, epoch, view] {
    if (state_ != State::kWaiting) return;
    switch (command) {
      case RankCommand::kResume:
        return Train();
      case RankCommand::kLeave:
        return End(0);
      case RankCommand::kAdopt:
        if (!view || header().epoch.load() != static_cast<std::uint64_t>(epoch)) {
          return End(kFailed);
        }
        return Adopt(*view);
    }
  });
}

void SimRank::OnGo(std::int64_t epoch, bool stay_paused) {
  Later(world_.sim->Pick(0, 3), [this, epoch, stay_paused] {
    if (state_ != State::kAdopted || epoch_ != epoch) return;
    stay_paused ? Wait(step(), 0) : Train();
  });
}

// ---- groups

void SimRank::BuildGroups(const RankView& view) {
  const Attempt attempt{view.epoch, view.attempt};
  if (abandoned_.contains(attempt)) {
    return ReportConnected(attempt, Error{ErrorCode::kCancelled, "abandoned", {}});
  }
  Connection& connection = connections_[attempt];
  connection.view = view;
  connection.group = world_.collectives->Find(spec_.id.job, attempt, view.world);
  if (view.rank == kHub) {
    for (int rank = 0; rank < view.world; ++rank) {
      if (rank != view.rank) connection.missing.insert(rank);
    }
  } else {
    connection.missing.insert(kHub);
  }
  Meet(attempt);
  if (connection.missing.empty()) OnBuilt(attempt);
}

// The first rank looks for all others, and tells them when they are there: so the messages grow
// with the ranks, as those of a store with a barrier do.
void SimRank::Meet(Attempt attempt) {
  const Connection& connection = connections_.at(attempt);
  const int own = connection.view.rank;
  if (own != kHub) Show(attempt, KeyOf(own));
  if (connection.is_built && own == kHub) Show(attempt, kAllThere);
  for (const int rank : connection.missing) {
    Look(attempt, own == kHub ? KeyOf(rank) : kAllThere, rank);
  }
}

void SimRank::Show(Attempt attempt, const std::string& key) {
  Say([id = spec_.id, attempt, key](const auto& handlers, auto&) {
    handlers.store_set(id, attempt.epoch, attempt.attempt, key, "there");
  });
}

void SimRank::Look(Attempt attempt, const std::string& key, int rank) {
  const auto answer = [this, alive = std::weak_ptr<const bool>(alive_), attempt,
                       rank](const std::optional<std::string>& value) {
    if (alive.expired()) return;
    Later(world_.sim->Pick(0, 3),
          [this, attempt, rank, is_there = value.has_value()] { OnMet(attempt, rank, is_there); });
  };
  Say([id = spec_.id, attempt, key, answer](const auto& handlers, auto&) {
    handlers.store_get(id, attempt.epoch, attempt.attempt, key, answer);
  });
}

void SimRank::OnMet(Attempt attempt, int rank, bool is_there) {
  const auto found = connections_.find(attempt);
  if (found == connections_.end() || found->second.is_built) return;
  if (!is_there) {  // abandoned
    connections_.erase(found);
    ReportConnected(attempt, Error{ErrorCode::kCancelled, "abandoned", {}});
    if (state_ == State::kStarting) End(kFailed);
    return;
  }
  found->second.missing.erase(rank);
  if (!found->second.missing.empty()) return;
  if (found->second.view.rank == kHub) Show(attempt, kAllThere);
  Later(world_.sim->Pick(5, 100), [this, attempt] {
    const auto met = connections_.find(attempt);
    if (met != connections_.end() && !met->second.is_built) OnBuilt(attempt);
  });
}

void SimRank::OnBuilt(Attempt attempt) {
  Connection& connection = connections_.at(attempt);
  if (connection.group->is_broken) {
    connections_.erase(attempt);
    ReportConnected(attempt, Unavailable("a rank ended"));
    if (state_ == State::kStarting) End(kFailed);
    return;
  }
  connection.is_built = true;
  connection.group->members[connection.view.rank] = this;
  ReportConnected(attempt, OkStatus());
  if (state_ != State::kStarting) return;
  if (spec_.initialises) {
    world_.memory->at(epoch_) = {spec_.id.job, epoch_, 0, false};
  }
  const auto unfinished = Unfinished();
  if (!unfinished) return Wait(-1, 0);
  Update(*unfinished, [this] { Wait(-1, 0); });
}

void SimRank::ReportConnected(Attempt attempt, const Status& status) {
  Say([id = spec_.id, attempt, status](const auto& handlers, auto&) {
    handlers.connected(id, attempt.epoch, attempt.attempt, status);
  });
}

// ---- steps

std::optional<std::int64_t> SimRank::Unfinished() const {
  const std::uint64_t next = header().end.load() + 1;
  const bool is_there = epoch_ >= 0 && header().begin.load() + 1 == next &&
                        header().grads_step.load() == next && header().decision_step.load() == next;
  if (!is_there) return std::nullopt;
  return static_cast<std::int64_t>(next);
}

void SimRank::Wait(std::int64_t step, std::uint64_t request) {
  if (world_.sim->is_traced()) {
    world_.sim->Note(fmt::format("  the {} waits after step {}", process(), step));
  }
  state_ = State::kWaiting;
  paused_step_ = step;
  pause_request_ = request;
  ReportPaused();
}

void SimRank::ReportPaused() {
  Say([id = spec_.id, step = paused_step_, request = pause_request_](const auto& handlers,
                                                                     auto& state) {
    state.waits = true;
    handlers.paused(id, step, request, {});
  });
}

void SimRank::Adopt(const RankView& view) {
  const Attempt attempt{view.epoch, view.attempt};
  const auto found = connections_.find(attempt);
  if (found == connections_.end() || !found->second.is_built) return End(kFailed);
  epoch_ = view.epoch;
  current_ = attempt;
  std::erase_if(connections_, [&](const auto& entry) { return entry.first < attempt; });
  const std::int64_t known = Unfinished().value_or(step());
  if (!decided_.empty() && decided_.rbegin()->first != known) decided_.clear();
  state_ = State::kAdopted;
  Say([id = spec_.id, epoch = epoch_](const auto& handlers, auto& state) {
    state.epoch = epoch;
    state.adopted = true;
    handlers.adopted(id, epoch);
  });
}

void SimRank::Train() {
  // The ranks have paused before an update, which is made first, in either layout.
  if (const auto left = Unfinished()) return Update(*left, [this] { Train(); });
  state_ = State::kComputing;
  const engine::JobSettings& settings = *spec_.settings;
  if (settings.max_steps > 0 && step() >= settings.max_steps) {
    return Wait(step(), engine::kRequestStepsDone);
  }
  const std::uint64_t layout = header().layout_hash[engine::PieceTable::SlotOf(epoch_)].load();
  const Time time =
      world_.model->Compute(spec_.id, connections_.at(current_).view, settings, layout);
  busy_ = static_cast<double>(time) / 1000;
  Later(time, [this] { Gather(); });
}

void SimRank::Gather() {
  state_ = State::kGathering;
  const std::int64_t next = step() + 1;
  header().grads_step.store(static_cast<std::uint64_t>(next));
  const Connection& connection = connections_.at(current_);
  const std::shared_ptr<Group> group = connection.group;
  if (group->is_broken) return OnGroupBroken();
  const bool asks = next >= static_cast<std::int64_t>(header().request_step.load());
  group->arrived[connection.view.rank] = asks ? header().request.load() : 0;
  if (std::ssize(group->arrived) < group->world) {
    const std::int64_t seconds = spec_.settings->collective_timeout;
    const Time patience = seconds > 0 ? seconds * 1000 : kLongestWait;
    return Later(patience, [this, next] {
      if (state_ == State::kGathering && step() + 1 == next) OnGroupBroken();
    });
  }
  std::uint64_t pause = 0;
  for (const auto& [rank, request] : std::exchange(group->arrived, {})) {
    pause = std::max(pause, request);
  }
  for (const auto& [rank, member] : group->members) {
    const Content& theirs = member->content();
    if (member->step() + 1 != next || member->epoch_ != epoch_ ||
        member->header().timeline.load() != header().timeline.load()) {
      world_.sim->Violate(fmt::format("{} and {} meet after steps {} and {}, in epochs {} and {}",
                                      ToString(spec_.id.device), ToString(member->spec_.id.device),
                                      next - 1, member->step(), epoch_, member->epoch_));
    } else if (theirs.job != spec_.id.job || theirs.epoch != epoch_ ||
               theirs.readable() != next - 1) {
      world_.sim->Violate(fmt::format("{} trains after step {} on the state of step {}, epoch {}",
                                      ToString(member->spec_.id.device), next - 1,
                                      theirs.readable(), theirs.epoch));
    }
    member->Later(world_.sim->Pick(0, 3),
                  [member = member, next, pause] { member->OnDecision(next, pause); });
  }
}

void SimRank::OnDecision(std::int64_t next, std::uint64_t pause) {
  if (state_ != State::kGathering || step() + 1 != next) return;
  engine::ArenaHeader& words = header();
  const auto timeline = static_cast<std::int64_t>(words.timeline.load());
  const double loss = world_.model->Loss(*spec_.settings, next, timeline);
  const std::int64_t tokens = world_.model->Tokens(*spec_.settings);
  words.decision_step.store(0);
  words.decision_clip.store(std::bit_cast<std::uint64_t>(1.0));
  words.decision_skip.store(0);
  words.decision_pause.store(pause);
  words.decision_loss.store(std::bit_cast<std::uint64_t>(loss));
  words.decision_norm2.store(std::bit_cast<std::uint64_t>(1.0));
  words.decision_tokens.store(static_cast<std::uint64_t>(tokens));
  words.decision_step.store(static_cast<std::uint64_t>(next));
  const Time now = world_.sim->clock.now();
  const double seconds = static_cast<double>(now - std::exchange(last_decision_, now)) / 1000;
  const RankDecision decision{
      next, loss, 1.0, tokens, 1.0, false, pause, seconds, 0, world_.sim->wall_clock(), busy_};
  decided_.insert_or_assign(next, decision);
  world_.steps->Knows(process(), spec_.id.job, next);
  world_.steps->Made(spec_.id.job, next, timeline);
  if (world_.sim->on_decision) world_.sim->on_decision(spec_.id.job, epoch_);
  if (decided_.size() > RankSession::kMaxRepeated) {
    world_.steps->Forgets(process(), spec_.id.job, decided_.begin()->first);
    decided_.erase(decided_.begin());
  }
  Say([id = spec_.id, decision](const auto& handlers, auto&) { handlers.decided(id, decision); });
  const bool waits = pause != engine::kRequestNoData && (pause & engine::kRequestBeforeUpdate) != 0;
  if (waits) return Wait(step(), pause);
  Update(next, [this, next, pause] { pause != 0 ? Wait(next, pause) : Train(); });
}

void SimRank::Update(std::int64_t next, std::function<void()> then) {
  const std::uint64_t hold = header().hold.load();
  if (hold != 0 && static_cast<std::uint64_t>(next) >= hold) {
    state_ = State::kHeld;
    return Later(5, [this, next, then = std::move(then)] { Update(next, then); });
  }
  state_ = State::kUpdating;
  header().begin.store(static_cast<std::uint64_t>(next));
  content().is_torn = true;
  Later(world_.model->Update(), [this, next, then = std::move(then)] {
    Content& state = content();
    state.is_torn = false;
    // The gradients are of this very step.
    state.version = state.version == next - 1 ? next : Content::kRubbish;
    header().end.store(static_cast<std::uint64_t>(next));
    then();
  });
}

void SimRank::OnGroupBroken() {
  if (state_ != State::kGathering) return;
  Later(world_.sim->Pick(1, 500), [this] { End(kFailed); });
}

// ---- the end

void SimRank::Kill() {
  if (is_alive()) End(kKilled);
}

void SimRank::End(int status) {
  if (world_.sim->is_traced()) {
    world_.sim->Note(fmt::format("  the {} ends with {}", process(), status));
  }
  state_ = State::kEnded;
  for (auto& [attempt, connection] : connections_) {
    Group& group = *connection.group;
    group.members.erase(connection.view.rank);
    group.is_broken = true;
    for (const auto& [rank, member] : group.members) {
      if (member->current_ == attempt) member->OnGroupBroken();
    }
  }
  world_.steps->Ended(process());
  world_.ended(status);
}

}  // namespace tessera::agents::sim
