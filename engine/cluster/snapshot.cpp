// SPDX-License-Identifier: Apache-2.0
#include "engine/cluster/snapshot.h"

#include <fmt/format.h>

#include <array>
#include <span>

namespace tessera::engine {
namespace {

constexpr std::array kNodeStates = {NodeState::kJoining,   NodeState::kAlive, NodeState::kSuspect,
                                    NodeState::kUnmanaged, NodeState::kDead,  NodeState::kLeft};
constexpr std::array kJobStates = {
    JobState::kStarting,      JobState::kRunning,         JobState::kPausing, JobState::kPaused,
    JobState::kReconfiguring, JobState::kWaitingDecision, JobState::kStopped, JobState::kFailed};
constexpr std::array kTxnPhases = {
    TxnPhase::kPlanned,       TxnPhase::kPreparing,   TxnPhase::kPrecopying, TxnPhase::kPausing,
    TxnPhase::kTransferring,  TxnPhase::kVerifying,   TxnPhase::kCommitting, TxnPhase::kResuming,
    TxnPhase::kDone,          TxnPhase::kRollingBack, TxnPhase::kRolledBack, TxnPhase::kFailed,
    TxnPhase::kNeedsDecision, TxnPhase::kInDoubt};
constexpr std::array kSeverities = {Severity::kDebug, Severity::kInfo, Severity::kWarning,
                                    Severity::kError};
constexpr std::array kVerdicts = {Check::Verdict::kOk, Check::Verdict::kWarning,
                                  Check::Verdict::kFailed, Check::Verdict::kSkipped};

/// The inverse of ToString over all values of one enum.
template <typename Enum>
Result<Enum> Parse(std::string_view text, std::span<const Enum> values, std::string_view what) {
  for (const Enum value : values) {
    if (ToString(value) == text) return value;
  }
  std::string names;
  for (const Enum value : values) {
    if (!names.empty()) names += '|';
    names += ToString(value);
  }
  return InvalidArgument(fmt::format("{} '{}' is not one of {}", what, text, names));
}

}  // namespace

std::string_view ToString(NodeState state) {
  switch (state) {
    case NodeState::kJoining:
      return "joining";
    case NodeState::kAlive:
      return "alive";
    case NodeState::kSuspect:
      return "suspect";
    case NodeState::kUnmanaged:
      return "unmanaged";
    case NodeState::kDead:
      return "dead";
    case NodeState::kLeft:
      return "left";
  }
  return "unknown";
}

std::string_view ToString(JobState state) {
  switch (state) {
    case JobState::kStarting:
      return "starting";
    case JobState::kRunning:
      return "running";
    case JobState::kPausing:
      return "pausing";
    case JobState::kPaused:
      return "paused";
    case JobState::kReconfiguring:
      return "reconfiguring";
    case JobState::kWaitingDecision:
      return "waiting_decision";
    case JobState::kStopped:
      return "stopped";
    case JobState::kFailed:
      return "failed";
  }
  return "unknown";
}

std::string_view ToString(TxnPhase phase) {
  switch (phase) {
    case TxnPhase::kPlanned:
      return "planned";
    case TxnPhase::kPreparing:
      return "preparing";
    case TxnPhase::kPrecopying:
      return "precopying";
    case TxnPhase::kPausing:
      return "pausing";
    case TxnPhase::kTransferring:
      return "transferring";
    case TxnPhase::kVerifying:
      return "verifying";
    case TxnPhase::kCommitting:
      return "committing";
    case TxnPhase::kResuming:
      return "resuming";
    case TxnPhase::kDone:
      return "done";
    case TxnPhase::kRollingBack:
      return "rolling_back";
    case TxnPhase::kRolledBack:
      return "rolled_back";
    case TxnPhase::kFailed:
      return "failed";
    case TxnPhase::kNeedsDecision:
      return "needs_decision";
    case TxnPhase::kInDoubt:
      return "in_doubt";
  }
  return "unknown";
}

std::string_view ToString(Severity severity) {
  switch (severity) {
    case Severity::kDebug:
      return "debug";
    case Severity::kInfo:
      return "info";
    case Severity::kWarning:
      return "warning";
    case Severity::kError:
      return "error";
  }
  return "unknown";
}

Result<NodeState> ParseNodeState(std::string_view text) {
  return Parse<NodeState>(text, kNodeStates, "node state");
}
Result<JobState> ParseJobState(std::string_view text) {
  return Parse<JobState>(text, kJobStates, "job state");
}
Result<TxnPhase> ParseTxnPhase(std::string_view text) {
  return Parse<TxnPhase>(text, kTxnPhases, "transaction phase");
}
Result<Severity> ParseSeverity(std::string_view text) {
  return Parse<Severity>(text, kSeverities, "severity");
}

bool IsFinal(TxnPhase phase) {
  switch (phase) {
    case TxnPhase::kDone:
    case TxnPhase::kRolledBack:
    case TxnPhase::kFailed:
      return true;
    case TxnPhase::kPlanned:
    case TxnPhase::kPreparing:
    case TxnPhase::kPrecopying:
    case TxnPhase::kPausing:
    case TxnPhase::kTransferring:
    case TxnPhase::kVerifying:
    case TxnPhase::kCommitting:
    case TxnPhase::kResuming:
    case TxnPhase::kRollingBack:
    case TxnPhase::kNeedsDecision:
    case TxnPhase::kInDoubt:
      return false;
  }
  return false;
}

std::string_view ToString(Check::Verdict verdict) {
  switch (verdict) {
    case Check::Verdict::kOk:
      return "ok";
    case Check::Verdict::kWarning:
      return "warning";
    case Check::Verdict::kFailed:
      return "failed";
    case Check::Verdict::kSkipped:
      return "skipped";
  }
  return "unknown";
}

Result<Check::Verdict> ParseVerdict(std::string_view text) {
  return Parse<Check::Verdict>(text, kVerdicts, "verdict");
}

}  // namespace tessera::engine
