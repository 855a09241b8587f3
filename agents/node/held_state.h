// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Whether ranks can start again on the state that a device holds.

#include "agents/move/device_store.h"
#include "agents/node/rank_table.h"
#include "agents/wire/messages_fwd.h"
#include "ptc/base/result.h"
#include "ptc/mesh.h"

namespace tessera::agents {

/// Checks that the device holds the state after `message.step()`, or the state before that step and
/// the gradients of its update. The rank may have ended between the decision of the step and its
/// update. In that case the decision is written to the arena, for the process that makes the
/// update. Clears the requests of the agent in the arena.
/// \return whether the update is missing
/// \error kFailedPrecondition naming the device that has failed, does not hold the state, or whose
///     rank still lives
Result<bool> CheckHeldState(DeviceStore& devices, const RankTable& ranks,
                            const wire::StartJob& message, ptc::DeviceId id);

}  // namespace tessera::agents
