// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What keeps copies of the state equal to the state over several steps: the gradients of a step
/// are kept before the ranks compute the next ones, move while they do, and the update of that step
/// is made to the copies. So only gradients move of what was copied once (ViewCopy's observation,
/// over more than one step).

#include <functional>
#include <memory>
#include <stop_token>
#include <thread>

#include "agents/move/move_context.h"
#include "engine/model/job_update.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// Copies the gradients of `change.follows` on the devices of this node to where they are kept. On
/// all cores.
/// \pre no rank of these devices computes
/// \error kCancelled; as DeviceMemory::Copy; kDataLoss if a copy differs
Status SaveGradients(const MoveContext& change, const std::stop_token& stop);

/// The update of one step of a built-in job.
struct StepUpdate {
  engine::UpdateCoefficients coefficients;
  std::int64_t step = 0;  // the state is then that after it
  bool skip = false;      // the step changes no parameter
};

/// Makes the update to the new pieces that the moves of `change` have filled, with the gradients in
/// the new pieces. Pieces that stay where they are have it from their rank. On all cores.
/// \error kCancelled; kFailedPrecondition naming a parameter without its whole optimizer state on
///     its device, or a device whose memory the host cannot use
Status UpdateCopies(const MoveContext& change, const StepUpdate& update,
                    const std::stop_token& stop);

/// One of them on a thread of its own.
class FollowRun {
 public:
  /// `done` runs once, on that thread.
  FollowRun(std::function<Status(const std::stop_token&)> work,
            std::function<void(const Status&)> done);
  /// Cancels it and waits for `done`: for as long as one range of WorkOf takes, or some thousand
  /// elements. Then the memory may be used for something else, so nobody else could wait for it.
  ~FollowRun() { thread_.request_stop(); }
  FollowRun(const FollowRun&) = delete;
  FollowRun& operator=(const FollowRun&) = delete;

 private:
  std::jthread thread_;
};

}  // namespace tessera::agents
