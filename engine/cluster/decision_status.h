// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Lost devices of a job in a snapshot of the cluster: what is left of its state, and what can be
/// done.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cluster/step_options.h"
#include "ptc/base/result.h"
#include "ptc/mesh.h"

namespace tessera::engine {

/// Where the newest complete state of a job is after it has lost devices.
enum class LossCase : std::uint8_t {
  kReplicasLive,   // the remaining devices hold all of it: no step is lost
  kSnapshot,       // parts have no live copy, and a snapshot of an earlier step is complete
  kCheckpointOnly  // parts have no copy in memory
};
/// What a job does when it has lost devices. Whatever it is, the job starts again by itself as soon
/// as its own devices are back.
enum class OnFailure : std::uint8_t {
  kAsk,     // asks, and continues after a countdown if no step is lost by that
  kShrink,  // continues at once with the devices that are left, spare ones first
  kWait     // waits for its devices
};
/// What a user may choose after a loss.
enum class LossChoice : std::uint8_t { kContinue, kWait };

std::string_view ToString(LossCase loss);         // "replicas_live", …
std::string_view ToString(OnFailure on_failure);  // "ask", …
std::string_view ToString(LossChoice choice);     // "continue", …
Result<OnFailure> ParseOnFailure(std::string_view text);
Result<LossChoice> ParseLossChoice(std::string_view text);

struct DecisionStatus {
  LossCase loss = LossCase::kReplicasLive;
  std::vector<ptc::DeviceId> lost;
  std::string reason;                  // "n1 was lost"
  std::optional<LossChoice> chosen;    // absent: a choice is needed
  std::optional<double> seconds_left;  // until the job continues by itself
  /// How the job would continue; `why_not` says why it cannot.
  std::string why_not;
  ptc::MeshShape mesh;
  std::vector<ptc::DeviceId> devices;  // rank order; empty: it cannot
  StepOptions options = {};
  std::int64_t moved_bytes = 0;
  std::optional<double> step_seconds = {};  // estimate
  std::string checkpoint = {};      // with kCheckpointOnly: the path of the one that it would load
  std::int64_t snapshot_step = 0;   // of that, or of the snapshot, and the steps after it:
  std::int64_t steps_lost = 0;
  /// Without kReplicasLive: the first tensor ranges without a live copy, and the bytes of all.
  std::vector<std::string> missing = {};
  std::int64_t missing_bytes = 0;
  bool can_continue() const { return !devices.empty(); }
  friend bool operator==(const DecisionStatus&, const DecisionStatus&) = default;
};

}  // namespace tessera::engine
