// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What the registrar sends to all panels and command lines that watch, and what the history keeps
/// of it. The history may be unwritable for a while: nothing waits for it, and what it lacks is kept
/// in memory meanwhile.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "agents/wire/messages_fwd.h"
#include "engine/cluster/snapshot.h"
#include "engine/history/history.h"

namespace tessera::agents {

/// Has no clock, socket or thread of its own.
class Publisher {
 public:
  using Clock = std::chrono::steady_clock;
  struct World {
    /// Sends one message to all subscribers.
    std::function<void(const wire::Published& message)> send;
    /// The state with all jobs; unless `all_nodes`, without nodes that are as in the last call.
    std::function<engine::ClusterSnapshot(bool all_nodes)> state;
    std::function<double()> wall_clock;
    std::function<void(const std::string& line)> print;
  };
  /// Something is published at least this often.
  static constexpr std::chrono::seconds kLongestPause{1};
  /// Events that are kept while the history cannot be written, and records of transactions. Beyond
  /// that the oldest are lost.
  static constexpr std::size_t kMostKept = 1000;
  /// How often they are tried again.
  static constexpr std::chrono::seconds kRetry{1};

  /// \param history outlives the publisher
  Publisher(World world, engine::History& history) : world_(std::move(world)), history_(history) {}

  /// Publishes an event and records it; prints it too. An event that cannot be recorded yet is
  /// published with sequence 0.
  void AddEvent(engine::Severity severity, const std::string& source, const std::string& text);
  /// The same for an event of a node, which records the state of the node if that differs from what
  /// the history has. Changes of state without such an event are recorded when they are published.
  void AddNodeEvent(engine::Severity severity, const engine::NodeNote& now,
                    const std::string& text);
  /// Records that the nodes of the history are gone: another cluster continues it.
  void NoteNodesLeft();
  /// Whether the history says that the node has joined this cluster, and was not lost since.
  bool HasJoined(std::int32_t node);
  /// Whether `is_such` is true of any node that has joined.
  bool AnyJoined(const std::function<bool(std::int32_t node)>& is_such);
  void Publish(const engine::Sample& sample);
  /// Publishes that a user stops the cluster. Call it last: subscribers then close the connection.
  /// \param by who, as in events; may be empty
  void SayGoodbye(const std::string& by);
  /// The state has changed.
  void MarkDirty() { is_dirty_ = true; }
  /// Publishes how the state differs from what was published last, if it does.
  /// \return the state now, with the number of the last message
  const engine::ClusterSnapshot& PublishState(Clock::time_point now) { return Publish(now, false); }
  /// The same if it is marked or if nothing was published for a while: then also no difference.
  /// Writes what is kept if the history can be written again.
  void Tick(Clock::time_point now);

  /// Writes the record of a transaction, or keeps it until the history is writable.
  void Record(const engine::HistoryEntry& entry);
  /// A record that is kept, or nullptr.
  const engine::HistoryEntry* FindKept(std::int64_t transaction) const;
  /// Notes whether a write of the history succeeded.
  /// \return whether it did
  bool NoteRecorded(const Status& written);
  /// Notes whether a write of the journal succeeded; an event tells of the first of several errors.
  /// \return whether it did
  bool NoteJournaled(const Status& written);
  /// Why the history cannot be written; empty if it has everything.
  const std::string& problem() const { return problem_; }
  /// Of the last message. A subscriber that misses one asks for a snapshot.
  std::uint64_t sequence() const { return sequence_; }

 private:
  const engine::ClusterSnapshot& Publish(Clock::time_point now, bool also_nothing);
  void Add(engine::Event event);
  void Show(const engine::Event& event);  // prints and publishes
  void Keep(engine::Event event);
  bool KeepsAny() const { return !kept_events_.empty() || !kept_.empty(); }
  void WriteKept(Clock::time_point now);
  void SetProblem(const std::string& problem);
  /// What the history has of a node; nullptr if nothing.
  engine::NodeNote* Recorded(std::int32_t node);
  void RecordNode(const engine::NodeStatus& node);
  void Send(wire::Published message);

  const World world_;
  engine::History& history_;
  std::deque<engine::Event> kept_events_;
  std::int64_t events_lost_ = 0;  // since all were written
  Clock::time_point next_try_{};
  std::map<std::int64_t, engine::HistoryEntry> kept_;              // by id
  std::optional<std::map<std::int32_t, engine::NodeNote>> notes_;  // the last recorded of each node
  std::string problem_, journal_problem_;
  std::uint64_t sequence_ = 0;
  engine::ClusterSnapshot state_;  // as subscribers have it
  bool is_dirty_ = true;
  bool has_published_ = false;
  Clock::time_point last_change_{};
};

}  // namespace tessera::agents
