// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// When the bytes of a plan move: rounds of messages. A pure function of its inputs, like the plan:
/// every agent computes the same schedule and compares its hash.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ptc/layout.h"
#include "ptc/plan/plan.h"
#include "ptc/topology/topology.h"

namespace tessera::ptc {

struct ScheduleOptions {
  /// Bytes that several devices of a host lack cross to it once, a slice into each of them, and go
  /// from device to device inside; where that takes longer, all is sent straight.
  bool relay = true;
  /// Most bytes of state on a device at any time. What nobody reads any more is freed after each
  /// round, but only where the budget asks for it: what is freed cannot be rolled back to.
  /// 0: no limit.
  std::int64_t memory_budget = 0;
  /// Most bytes of a message.
  std::int64_t message_bytes = std::int64_t{16} << 20U;
};

/// Elements of one tensor out of a piece of the source into a new piece of the destination.
struct Transfer {
  int tensor = 0;
  Box cell;
  Box from;                // piece of the source: an old one, or
  Box piece;               // target piece at the destination
  bool forwarded = false;  // `from` is a new piece; the cell came in an earlier round
  friend bool operator==(const Transfer&, const Transfer&) = default;
};
/// Transfers of one pair of devices that travel together.
struct Message {
  DeviceId source;
  DeviceId destination;
  /// Messages of one step of a round share no port, and no port waits longer than it must: there
  /// are as many steps as messages at the busiest port.
  int step = 0;
  std::int64_t bytes = 0;
  std::vector<Transfer> transfers = {};
  friend bool operator==(const Message&, const Message&) = default;
};
/// What may happen at once. A round begins when all that was received in those before is verified.
struct Round {
  std::vector<LocalCopy> copies;  // of cells that stay on their device
  std::vector<Message> messages;  // ordered by (step, source, destination)
  std::vector<Drop> frees;        // old pieces that nobody reads after this round
  double seconds = 0;             // of its busiest port, by the topology's bandwidths
  friend bool operator==(const Round&, const Round&) = default;
};
/// A port and all that goes through it in one direction.
struct PortLoad {
  double seconds = 0;
  std::int64_t bytes = 0;
  std::string port = {};  // "n3 out", "n0g1 in"; empty where nothing moves
  friend bool operator==(const PortLoad&, const PortLoad&) = default;
};

struct Schedule {
  std::uint64_t plan_hash = 0;
  std::vector<Drop> first_frees;  // old pieces that nobody reads at all, before the first round
  std::vector<Round> rounds;
  PortLoad busiest;                // over all rounds, the one that takes longest
  double seconds = 0;              // the sum of the rounds
  std::int64_t network_bytes = 0;  // between hosts
  std::int64_t host_bytes = 0;     // between devices of one host
  std::map<DeviceId, std::int64_t> peak_memory;
  /// xxh3-64 over a canonical encoding of all of it but the estimates of seconds.
  std::uint64_t hash = 0;
};

/// \pre `plan` is MakePlan(from, to, topology)
/// \error kResourceExhausted if the budget is too small for the order that the search finds: names
///     the device, the bytes it needs at least to go on and the budget; kInvalidArgument for
///     options below zero or messages of no bytes, and for a plan that reads from storage
Result<Schedule> MakeSchedule(const Plan& plan, const Layout& from, const Layout& to,
                              const Topology& topology, const ScheduleOptions& options);

}  // namespace tessera::ptc
