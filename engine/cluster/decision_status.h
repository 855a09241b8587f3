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
#include "engine/cluster/survival.h"
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
/// Where a job gets its state from when it continues after a loss.
enum class RecoverySource : std::uint8_t { kReplicas, kSnapshot, kCheckpoint };

std::string_view ToString(LossCase loss);         // "replicas_live", …
std::string_view ToString(OnFailure on_failure);  // "ask", …
std::string_view ToString(LossChoice choice);     // "continue", …
std::string_view ToString(RecoverySource source);  // "replicas", …
Result<OnFailure> ParseOnFailure(std::string_view text);
Result<LossChoice> ParseLossChoice(std::string_view text);

/// One way in which a job could continue on the devices that can be used.
struct RecoveryWay {
  RecoverySource source = RecoverySource::kReplicas;
  ptc::MeshShape mesh;
  std::vector<ptc::DeviceId> devices;  // rank order; not empty
  StepOptions options = {};
  std::int64_t moved_bytes = 0;  // over the network, or read
  /// Estimate until the state is in place; the ranks start besides. nullopt: not known.
  std::optional<double> seconds = {};
  std::optional<double> step_seconds = {};  // estimate
  std::optional<Survival> survival = {};    // of the layout; nullopt: not known
  std::int64_t step = 0;                    // the state is that after this step
  std::int64_t steps_lost = 0;              // after it
  std::string checkpoint = {};              // with kCheckpoint: its path
  friend bool operator==(const RecoveryWay&, const RecoveryWay&) = default;
};

/// Layers [first, last] of a model.
struct LayerRange {
  std::int64_t first = 0, last = 0;
  friend bool operator==(const LayerRange&, const LayerRange&) = default;
};

struct DecisionStatus {
  LossCase loss = LossCase::kReplicasLive;
  std::vector<ptc::DeviceId> lost;
  std::string reason;                  // "n1 was lost"
  std::optional<LossChoice> chosen;    // absent: a choice is needed
  std::optional<double> seconds_left;  // until the job continues by itself
  /// How the job can continue, at most one way for each source. It takes the first one unless
  /// another is chosen. Empty: it cannot, and `why_not` says why.
  std::vector<RecoveryWay> ways = {};
  std::string why_not;
  /// Lost devices on nodes that are not there: the only ones that it may help to wait for. A node
  /// that is back without its memory has none.
  std::vector<ptc::DeviceId> awaited = {};
  /// Without kReplicasLive: the first tensor ranges without a live copy, and the bytes of all.
  std::vector<std::string> missing = {};
  std::int64_t missing_bytes = 0;
  std::vector<LayerRange> missing_layers = {};   // layers of which something is missing, ascending
  std::vector<std::string> missing_others = {};  // the first such tensors that are in no layer
  bool can_continue() const { return !ways.empty(); }
  /// \pre can_continue()
  const RecoveryWay& way() const { return ways.front(); }
  friend bool operator==(const DecisionStatus&, const DecisionStatus&) = default;
};

}  // namespace tessera::engine
