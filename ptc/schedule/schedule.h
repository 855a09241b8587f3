// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The order in which the bytes of a plan move: rounds of messages. A pure function of its inputs,
/// like the plan: every agent computes the same schedule and compares its hash.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ptc/layout.h"
#include "ptc/plan/plan.h"
#include "ptc/topology/topology.h"

namespace tessera::ptc {

struct ScheduleOptions {
  /// Whether bytes that several devices of a host lack are sent to it once, one slice to each of
  /// these devices, and exchanged inside the host. If that takes longer, everything is sent
  /// directly.
  bool relay = true;
  /// The most bytes of state on a device at any time; 0: no limit. Pieces that have no readers left
  /// are freed after each round, but only if the budget requires it, because a change that has
  /// freed pieces cannot be rolled back.
  std::int64_t memory_budget = 0;
  /// The most bytes of a message.
  std::int64_t message_bytes = std::int64_t{16} << 20U;
};

/// Elements of one tensor out of a piece of the source into a new piece of the destination.
struct Transfer {
  int tensor = 0;
  Box cell;
  Box from;                // piece of the source: an old one, or a new one if forwarded
  Box piece;               // target piece at the destination
  bool forwarded = false;  // whether the source received the cell in an earlier round
  friend bool operator==(const Transfer&, const Transfer&) = default;
};
/// Transfers between one pair of devices that are sent together.
struct Message {
  DeviceId source;
  DeviceId destination;
  /// Messages of one step share no port. A round has as many steps as the busiest port has
  /// messages, so no port waits longer than it must.
  int step = 0;
  std::int64_t bytes = 0;
  std::vector<Transfer> transfers = {};
  friend bool operator==(const Message&, const Message&) = default;
};
/// Work that may happen at the same time. A round begins after everything that earlier rounds
/// received has been verified.
struct Round {
  std::vector<LocalCopy> copies;  // of cells that stay on their device
  std::vector<Message> messages;  // ordered by (step, source, destination)
  std::vector<Drop> frees;        // old pieces without readers after this round
  double seconds = 0;             // of its busiest port, at the topology's bandwidths
  friend bool operator==(const Round&, const Round&) = default;
};
/// A port and the bytes through it in one direction.
struct PortLoad {
  double seconds = 0;
  std::int64_t bytes = 0;
  std::string port = {};  // "n3 out", "n0g1 in"; empty if nothing moves
  friend bool operator==(const PortLoad&, const PortLoad&) = default;
};

struct Schedule {
  std::uint64_t plan_hash = 0;
  std::vector<Drop> first_frees;  // old pieces without any readers, freed before the first round
  std::vector<Round> rounds;
  PortLoad busiest;                // the port that takes longest over all rounds
  double seconds = 0;              // the sum of the rounds
  std::int64_t network_bytes = 0;  // between hosts
  std::int64_t host_bytes = 0;     // between devices of one host
  std::map<DeviceId, std::int64_t> peak_memory;
  /// xxh3-64 over a canonical encoding of everything except the estimates of seconds.
  std::uint64_t hash = 0;
};

/// \pre `plan` is MakePlan(from, to, topology, …), not relayed
/// \error kResourceExhausted naming the device, the bytes that it needs at least and the budget, if
///     the budget is too small for the order that the search finds; kInvalidArgument if an option
///     is negative, if message_bytes is 0, or if the plan reads from storage
Result<Schedule> MakeSchedule(const Plan& plan, const Layout& from, const Layout& to,
                              const Topology& topology, const ScheduleOptions& options);

}  // namespace tessera::ptc
