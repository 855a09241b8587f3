// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The words of an arena that describe one step decision, as a message.

#include "agents/wire/messages_fwd.h"
#include "engine/store/arena_format.h"

namespace tessera::agents {

/// Reads the last decision of the device's rank.
void Encode(const engine::ArenaHeader& header, wire::StepDecision* out);
/// Gives a device the decision of a step whose update its rank is to make.
void Store(const wire::StepDecision& decision, engine::ArenaHeader& header);

}  // namespace tessera::agents
