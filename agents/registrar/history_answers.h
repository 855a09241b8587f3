// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Replies of the registrar that need only its history.

#include "agents/wire/messages_fwd.h"
#include "engine/history/history.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// \pre `request` has one of history, samples, events and changes
Result<wire::Reply> AnswerFromHistory(engine::History& history, const wire::Request& request);

}  // namespace tessera::agents
