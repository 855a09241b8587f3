// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Agents that speak the protocol of nodes and have nothing to do: what a registrar and its wire
/// cost, on one machine.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "agents/client/cluster.h"

namespace tessera::test {

/// Some threads with a share of the agents each. Every agent has a key and a connection of its own.
class ScriptedAgents {
 public:
  /// Makes `count` agents, n1 and following, and writes their keys to the folder of allowed keys.
  static Result<std::unique_ptr<ScriptedAgents>> Make(const agents::Profile& cluster,
                                                      const std::string& allowed, int count,
                                                      int devices);
  ~ScriptedAgents();

  void Connect();
  int count() const { return count_; }
  /// How many have been welcomed at least once.
  int num_welcomed() const { return counts_.welcomed; }
  /// How often agents have been welcomed.
  std::int64_t num_welcomes() const { return counts_.welcomes; }
  /// How often agents have heard that all have followed a transaction, and forgotten it.
  std::int64_t num_gone() const { return counts_.gone; }
  /// Messages from the registrar, and their bytes.
  std::int64_t num_received() const { return counts_.received; }
  std::int64_t bytes_received() const { return counts_.bytes; }

 private:
  struct Counts {
    std::atomic<int> welcomed{0};
    std::atomic<std::int64_t> welcomes{0}, gone{0}, received{0}, bytes{0};
  };
  class Agent;
  class Group;
  ScriptedAgents() = default;

  agents::Profile cluster_;
  int count_ = 0;
  Counts counts_;
  std::vector<std::unique_ptr<Group>> groups_;
};

}  // namespace tessera::test
