// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The newest state that the devices of a job have in common after its ranks have ended. A rank
/// updates its device in place, and only after the decision of all ranks, so the devices differ by
/// one update at most.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ptc/mesh.h"

namespace tessera::engine {

/// What an update needs besides state and gradients.
struct HeldDecision {
  std::int64_t step = 0;
  std::uint64_t clip = 0;  // the bits of a double
  bool skip = false;
  std::uint64_t loss = 0, norm2 = 0;  // likewise; with the tokens of the step, for the history
  std::int64_t tokens = 0;
  friend bool operator==(const HeldDecision&, const HeldDecision&) = default;
};

/// What is known about one device of the job.
struct HeldState {
  enum class Node : std::uint8_t {
    kThere,
    kSilent,     // not for long: it may answer in a moment
    kUnsettled,  // it still has to follow the outcome of a change
    kGone,
  };
  ptc::DeviceId device;
  Node node = Node::kGone;
  bool holds_state = false;  // the pieces of the job's present layout
  bool failed = false;
  bool has_rank = false;            // a process that may still write
  std::int64_t begin = 0, end = 0;  // the last update that was begun, and that was ended
  std::int64_t grads_step = 0;      // whose gradients are complete on the device; 0: none
  HeldDecision decision;            // the last one of its rank
};

struct LostDevice {
  ptc::DeviceId device;
  std::string why;  // "n1 was lost", "n0g2 failed"
  friend bool operator==(const LostDevice&, const LostDevice&) = default;
};

struct ConsistentCut {
  std::string waits_for;              // not empty: the rest is not known yet
  std::int64_t step = 0;              // the state is that after this step
  std::vector<ptc::DeviceId> behind;  // one step; they make the update of `step` first, with
  std::optional<HeldDecision> decision;
  std::vector<LostDevice> lost;  // their state is of no use; in the order of the devices
  friend bool operator==(const ConsistentCut&, const ConsistentCut&) = default;
};

/// A device that holds half of an update is lost, because there is no way back from there. A device
/// that is one step behind can follow if it has the gradients of that step and `can_follow`: each
/// device can then make its update alone. Otherwise it is lost as well, unless no device has made
/// that update.
ConsistentCut FindConsistentCut(std::span<const HeldState> devices, bool can_follow);

/// "n1 was lost, n0g2 failed": each reason once.
std::string ReasonOf(std::span<const LostDevice> lost);

}  // namespace tessera::engine
