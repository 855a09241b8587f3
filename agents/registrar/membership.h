// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The nodes of the cluster, as their messages and their silence show them.

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "agents/net/lane_ticket.h"
#include "agents/node/peers.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "engine/cluster/snapshot.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// Has no clock, socket or thread of its own.
class Membership {
 public:
  using Clock = std::chrono::steady_clock;

  struct Node {
    std::int32_t number = 0;
    engine::NodeState state = engine::NodeState::kJoining;
    std::string identity;          // routing id of its connection; empty: it has not registered
    std::int64_t incarnation = 0;  // of its agent; 0: it has not registered
    std::int64_t keeper_pid = 0;
    Clock::time_point last_seen;
    Clock::time_point last_sent;
    bool killed = false;           // or given up, on request: dead as soon as it is silent
    std::string machine;           // nodes with equal machines share cores
    std::string version;           // of the agent
    std::string rack;              // empty: not known
    std::string nccl;              // version, if its devices can exchange cells by it
    std::string gpu, gpu_driver;   // empty: its devices are memory of the host
    std::string link_mark;         // machine, address and emulated port, for measured bandwidths
    std::string problem;           // why its agent takes no part, as it says; else empty
    Clock::time_point complained;  // when it last said so
    wire::Peer peer;
    std::optional<LaneSecret> lane_secret;  // absent: its lanes are encrypted
    std::vector<wire::NodeDevice> devices;
    std::int64_t view_bytes = 0;
    engine::NetworkFaults network;
    std::int64_t memory_available = 0;                      // of its machine; 0: unknown
    std::map<std::uint64_t, wire::HeldSnapshot> snapshots;  // by id
    std::uint64_t awaited_order = 0;               // earlier heartbeats do not know of it; 0: none
    Clock::time_point ordered;                     // when it was sent
    std::map<std::string, std::uint64_t> origins;  // of the jobs that it holds (JobRow::origin)
    std::int64_t transaction = 0;  // that it participates in, by its last heartbeat; 0: none
  };

  /// A node is lost after `lost_after` of silence.
  explicit Membership(std::chrono::seconds lost_after) : lost_after_(lost_after) {}

  /// How a node that registers differs from what was known of it.
  struct Arrival {
    bool is_new = false;          // it has never registered
    bool restarted = false;       // its agent is another process
    bool has_new_keeper = false;  // so its memory is empty
    bool was_away = false;        // it was not alive
  };
  Arrival Register(const std::string& identity, const wire::Register& message,
                   Clock::time_point now);
  /// The node that has sent a message; nullptr: it has to register first. A node that was silent
  /// registers again even if its connection was never lost: so it gets what it has missed.
  Node* Accept(const std::string& identity, const wire::FromNode& message, Clock::time_point now);
  /// The numbers of the nodes that are alive.
  std::set<std::int32_t> Alive() const;
  /// Whether a heartbeat is about the devices with which the node has registered.
  static bool Fits(const Node& node, const wire::Heartbeat& message);
  void NoteHeartbeat(Node& node, const wire::Heartbeat& message, Clock::time_point now);
  /// Lists a node that the journal names and that has not registered with this registrar. If it
  /// does not, it counts as lost like any silent node.
  void Expect(std::int32_t number, Clock::time_point now);
  /// Notes why the agent of a node takes no part. The problem is cleared when the node sends
  /// another message, or stops repeating it.
  /// \return whether it has not said so before
  bool NoteProblem(std::int32_t number, const std::string& problem, Clock::time_point now);

  struct Change {
    std::int32_t node = 0;
    engine::NodeState state = engine::NodeState::kAlive;
  };
  /// \return the nodes that have become alive, suspect, or, after too long a silence, dead or
  ///     unmanaged
  std::vector<Change> Tick(Clock::time_point now);
  /// The node is another than the last state that was published says.
  void MarkChanged(std::int32_t number) { changed_.insert(number); }
  /// The nodes that have been marked since the last call, as they are by what they report too.
  std::set<std::int32_t> TakeChanged() { return std::exchange(changed_, {}); }
  bool has_changed() const { return !changed_.empty(); }
  /// Changes whenever peers() does.
  std::int64_t peers_revision() const { return peers_revision_; }

  const std::map<std::int32_t, Node>& nodes() const { return nodes_; }
  /// nullptr if there is no such node.
  Node* Find(std::int32_t number);
  const Node* Find(std::int32_t number) const;
  /// nullptr if there is no such device.
  const wire::NodeDevice* FindDevice(ptc::DeviceId id) const;
  /// \error naming the device: it does not exist, its node has not registered or is not alive, or it
  ///     has failed
  Status CheckDevice(ptc::DeviceId id, Clock::time_point now) const;
  /// That the node of the device is known by name, and has not registered with this registrar.
  static Error NotRegistered(ptc::DeviceId id);
  /// Of all nodes that have registered.
  Peers peers() const;
  /// The same with the tickets of lanes for a transfer.
  Peers PeersFor(const LaneKey& key) const;

  /// Whether nothing is heard from the node any more.
  static bool IsSilent(const Node& node);
  /// "n1 was silent for 10 s": the least time after which a node has its state.
  std::string SilentText(const Node& node) const;
  /// How often nodes send heartbeats. In clusters of more than a thousand nodes they do so less
  /// often: else the registrar would do little else.
  std::chrono::seconds beat() const;
  /// The silence after which a node is suspect.
  std::chrono::duration<double> suspect_after() const;
  /// For the marks of measured bandwidths.
  static std::string LinkMarkOf(const wire::Register& message);

 private:
  /// An order that is not acknowledged by then was lost.
  static constexpr std::chrono::seconds kToAcknowledge{5};
  /// A problem that is not repeated for so long no longer holds.
  static constexpr std::chrono::seconds kProblem{10};

  const std::chrono::seconds lost_after_;
  std::map<std::int32_t, Node> nodes_;
  std::set<std::int32_t> changed_;
  std::int64_t peers_revision_ = 0;
};

/// Adds the tickets for a transfer over the node's lanes to a message that names the lanes. Adds
/// none if they are encrypted.
template <typename Message>
void AddTickets(const Membership::Node& node, const LaneKey& key, Message* message) {
  if (!node.lane_secret) return;
  for (int lane = 0; lane < node.peer.lanes_size(); ++lane) {
    message->add_lane_tickets(
        ToBytes(TicketOf(*node.lane_secret, key, static_cast<std::size_t>(lane))));
  }
}

}  // namespace tessera::agents
