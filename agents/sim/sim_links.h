// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The connections of simulated agents to their registrar. As ZeroMQ's, they keep order; what is on
/// the way when a connection ends is lost or comes late, and an agent's socket keeps what it cannot
/// send yet.

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "agents/sim/sim_node.h"
#include "agents/sim/sim_world.h"

namespace tessera::agents::sim {

class SimLinks {
 public:
  struct World {
    SimWorld* sim = nullptr;
    std::function<SimNode&(std::int32_t number)> node;
    std::function<bool()> has_registrar;
    std::function<void(const std::string& identity, const wire::FromNode& message)> to_registrar;
    bool is_lossy = false;  // single messages are lost, come twice or late
    Time faults_end = 0;
  };
  explicit SimLinks(World world) : world_(std::move(world)) {}

  /// Adds the link of the next node.
  void Add() { links_.emplace_back(); }
  void ConnectLater(std::int32_t n, Time delay);
  void Disconnect(std::int32_t n);
  /// The agent's process has ended.
  void OnAgentEnded(std::int32_t n);
  /// The connection is lost, and comes back after `length`.
  void Cut(std::int32_t n, Time length);
  /// Nothing arrives for `length`: at the node (1), at the registrar (2), or at both (3).
  void Stall(std::int32_t n, Time length, Time where);

  /// Whether it has the form of an identity of one of the nodes.
  bool Knows(const std::string& identity) const { return NodeOf(identity).has_value(); }
  void FromNode(SimNode& node, const wire::FromNode& message);
  /// \error kUnavailable if no node with this identity is connected
  Status ToNode(const std::string& identity, const wire::ToNode& message);

 private:
  struct Link {
    Time cut_until = 0;
    bool is_connected = false;
    std::int64_t connection = 0;  // counts them
    Time arrives_at_node = 0, arrives_at_registrar = 0;
    Time node_stalls_until = 0, registrar_stalls_until = 0;  // towards them
    std::deque<wire::FromNode> waiting;
  };

  bool IsCut(const Link& link) const { return link.cut_until > world_.sim->clock.now(); }
  Link& LinkOf(std::int32_t n) { return links_[static_cast<std::size_t>(n)]; }
  std::string IdentityOf(std::int32_t n);
  /// Of an identity as IdentityOf makes it; nullopt for any other.
  std::optional<std::int32_t> NodeOf(const std::string& identity) const;
  void Connect(std::int32_t n);
  void ToRegistrar(std::int32_t n, const wire::FromNode& message);
  /// Messages arrive in order, unless the connection ends before. What `sender` has written before
  /// delays them.
  void Arrive(std::int32_t n, SimNode& sender, Time& last, const Time& stalls_until,
              const std::function<void()>& then);
  /// No request of a transaction follows its outcome.
  void CheckOrder(std::int32_t n, const wire::ToNode& message);
  template <typename Message>
  void NoteMessage(const std::string& where, const Message& message);

  const World world_;
  std::deque<Link> links_;                                    // by node
  std::set<std::pair<std::int64_t, std::int32_t>> outcomes_;  // transactions, and nodes that know
};

}  // namespace tessera::agents::sim
