// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/publisher.h"

#include <fmt/format.h>

#include <utility>

#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "agents/wire/utf8.h"
#include "engine/cluster/snapshot_change.h"

namespace tessera::agents {

void Publisher::Send(wire::Published message) {
  message.set_sequence(++sequence_);
  world_.send(message);
}

void Publisher::AddEvent(engine::Severity severity, const std::string& source,
                         const std::string& text) {
  Add({0, world_.wall_clock(), severity, source, text});
}

void Publisher::Add(engine::Event event) {
  // Behind kept ones, because their numbers ascend in time.
  if (KeepsAny() || !NoteRecorded(history_.AddEvent(event))) Keep(event);
  Show(event);
}

void Publisher::Show(const engine::Event& event) {
  world_.print(fmt::format("{} {}: {}", ToString(event.severity), event.source, event.text));
  wire::Published message;
  Encode(event, message.mutable_event());
  Send(std::move(message));
}

void Publisher::Keep(engine::Event event) {
  kept_events_.push_back(std::move(event));
  if (kept_events_.size() <= kMostKept) return;
  kept_events_.pop_front();
  ++events_lost_;
}

void Publisher::WriteKept(Clock::time_point now) {
  if (!KeepsAny() || now < next_try_) return;
  next_try_ = now + kRetry;
  for (; !kept_events_.empty(); kept_events_.pop_front()) {
    const Status written = history_.AddEvent(kept_events_.front());
    if (!written) return SetProblem(written.error().ToString());
  }
  for (; !kept_.empty(); kept_.erase(kept_.begin())) {
    const Status written = history_.PutTransaction(kept_.begin()->second);
    if (!written) return SetProblem(written.error().ToString());
  }
  SetProblem({});
  if (const std::int64_t lost = std::exchange(events_lost_, 0); lost > 0) {
    AddEvent(engine::Severity::kWarning, "history",
             fmt::format("{} earlier events are lost: at most {} are kept while it cannot be "
                         "written",
                         lost, kMostKept));
  }
}

engine::NodeNote* Publisher::Recorded(std::int32_t node) {
  if (!notes_) {
    notes_.emplace();
    engine::EventQuery query;
    query.notes = true;
    const auto events = history_.Events(query);
    if (events) {
      for (const engine::Event& event : *events) (*notes_)[event.note->node] = *event.note;
    }
  }
  const auto found = notes_->find(node);
  return found == notes_->end() ? nullptr : &found->second;
}

void Publisher::AddNodeEvent(engine::Severity severity, const engine::NodeNote& now,
                             const std::string& text) {
  engine::Event event{0, world_.wall_clock(), severity, fmt::format("n{}", now.node), text};
  const engine::NodeNote* const known = Recorded(now.node);
  if (!known || *known != now) event.note = (*notes_)[now.node] = now;
  Add(std::move(event));
}

void Publisher::NoteNodesLeft() {
  static_cast<void>(Recorded(0));  // reads the notes
  for (const auto& [node, note] : std::map(*notes_)) {
    if (note.state == engine::NodeState::kLeft) continue;
    AddNodeEvent(engine::Severity::kDebug, {node, engine::NodeState::kLeft, {}},
                 "ended with the cluster that had this name before");
  }
}

bool Publisher::HasJoined(std::int32_t node) {
  const engine::NodeNote* const known = Recorded(node);
  return known && known->state != engine::NodeState::kLeft &&
         known->state != engine::NodeState::kDead;
}

bool Publisher::AnyJoined(const std::function<bool(std::int32_t node)>& is_such) {
  static_cast<void>(Recorded(0));  // reads the notes
  return std::ranges::any_of(
      *notes_, [&](const auto& entry) { return HasJoined(entry.first) && is_such(entry.first); });
}

// A node begins to be silent, joins or returns with an event of its own.
void Publisher::RecordNode(const engine::NodeStatus& node) {
  const engine::NodeNote now = NoteOf(node);
  const engine::NodeNote* const known = Recorded(node.node);
  if (!known || *known == now || now.state != engine::NodeState::kAlive) return;
  if (known->state != now.state) {
    return AddNodeEvent(engine::Severity::kInfo, now, "is heard again");
  }
  std::string failed;
  for (const std::int32_t device : now.failed) failed += fmt::format(" g{}", device);
  AddNodeEvent(engine::Severity::kDebug, now,
               failed.empty() ? "no GPU counts as failed" : "failed GPUs:" + failed);
}

void Publisher::Publish(const engine::Sample& sample) {
  wire::Published message;
  Encode(sample, message.mutable_sample());
  Send(std::move(message));
}

void Publisher::SayGoodbye(const std::string& by) {
  wire::Published message;
  message.mutable_goodbye()->set_by(Utf8(by));
  message.mutable_goodbye()->set_time(world_.wall_clock());
  Send(std::move(message));
}

const engine::ClusterSnapshot& Publisher::Publish(Clock::time_point now, bool also_nothing) {
  is_dirty_ = false;
  engine::ClusterSnapshot rows = world_.state(!std::exchange(has_published_, true));
  for (const engine::NodeStatus& node : rows.nodes) RecordNode(node);
  rows.sequence = static_cast<std::int64_t>(sequence_) + 1;
  const engine::SnapshotChange change = Advance(state_, std::move(rows));
  if (!change.differs && !also_nothing) {
    state_.sequence = static_cast<std::int64_t>(sequence_);
    return state_;
  }
  last_change_ = now;
  wire::Published message;
  Encode(change, message.mutable_change());
  Send(std::move(message));
  return state_;
}

void Publisher::Tick(Clock::time_point now) {
  WriteKept(now);
  const bool is_old = now - last_change_ > kLongestPause;
  if (is_dirty_ || is_old) Publish(now, is_old);
}

void Publisher::Record(const engine::HistoryEntry& entry) {
  if (NoteRecorded(history_.PutTransaction(entry))) {
    kept_.erase(entry.id);
    return;
  }
  kept_[entry.id] = entry;
  if (kept_.size() > kMostKept) kept_.erase(kept_.begin());
}

const engine::HistoryEntry* Publisher::FindKept(std::int64_t transaction) const {
  const auto found = kept_.find(transaction);
  return found == kept_.end() ? nullptr : &found->second;
}

bool Publisher::NoteJournaled(const Status& written) {
  const std::string problem = written ? std::string() : written.error().ToString();
  if (problem != journal_problem_ && !problem.empty()) {
    AddEvent(engine::Severity::kError, "registrar", "journal: " + problem);
  }
  journal_problem_ = problem;
  return written.has_value();
}

bool Publisher::NoteRecorded(const Status& written) {
  if (!written) {
    SetProblem(written.error().ToString());
  } else if (!KeepsAny()) {
    SetProblem({});
  }
  return written.has_value();
}

void Publisher::SetProblem(const std::string& problem) {
  const bool begins = problem_.empty() && !problem.empty();
  if (problem_.empty() != problem.empty()) is_dirty_ = true;
  if (!problem_.empty() && problem.empty()) world_.print("history: written again");
  problem_ = problem;
  if (!begins) return;
  // It is kept as well, so that writing is tried again without a job that trains.
  engine::Event event{0, world_.wall_clock(), engine::Severity::kError, "history",
                      fmt::format("cannot be written: {}; events wait in memory", problem)};
  Keep(event);
  Show(event);
}

}  // namespace tessera::agents
