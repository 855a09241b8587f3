// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Transactions of one job on a simulated cluster: the real coordinator (TransactionRun), the real
/// participants (TransactionPart), their journals and the decision register, in one process, on a
/// virtual clock, with agents that crash, links that are cut, disks that are full, and requests
/// that are refused. Which messages a restarted agent or registrar sends and answers is copied from
/// Registrar and NodeAgent.
///
/// A seed determines everything, so a failure can be repeated.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace tessera::agents::sim {

/// A deliberate error, to show that the simulation finds it.
enum class Mutation : std::uint8_t {
  kNone,
  kCommitBeforeAllVerified,
  kGoBeforeAllFollowed,
  kOutcomeBeforeRegister,  // `commit` is sent before the register holds it
  kLostPromise,            // the journal row `verified` is not durable
  kAssumedAbort,           // a node in doubt gets `abort` without a look at the register
  kEmptyTransfer,          // a transfer reports success and has copied nothing
  kEarlyFlip,              // a node flips when it has verified
  kLonelyAbort,            // a node that has verified and hears nothing cleans up
  kStaleSlot,              // a slot is used again, and its old decision counts
  kForgetfulNode,          // a restarted agent does not read its journal
  kForgetfulRegistrar,     // a restarted registrar drops the transaction
  kEndlessPatience,        // a node that is gone is waited for
  kForgottenLeaver,        // a restarted agent does not look for ranks that have left
  kSecondRank,             // a rank is started without a look at those that are leaving
};
inline constexpr Mutation kLastMutation = Mutation::kSecondRank;
std::string_view ToString(Mutation mutation);

struct SimResult {
  std::string violation;  // with the time; empty: none
  std::int64_t events = 0;
  int transactions = 0, commits = 0;
};

/// About two minutes of a cluster, of which faults happen in the first. Checked after each event:
/// - `commit` is written only after every participant has journaled `verified`;
/// - a node flips only after the register holds the commit of its transaction, and with all pieces
///   filled; it cleans up only after the register holds another decision;
/// - ranks are released only after all participants that are not silent have followed;
/// - ranks of two epochs never run at the same time, nor two processes on one device;
/// and at the end: no transaction is left, every living node is in the epoch of the job, and it has
/// a process if it is in the job's layout.
/// `trace`, if given, gets a line for each fault, phase, state and outcome.
using Trace = std::function<void(const std::string& line)>;
SimResult Simulate(std::uint64_t seed, Mutation mutation = Mutation::kNone, Trace trace = {});

}  // namespace tessera::agents::sim
