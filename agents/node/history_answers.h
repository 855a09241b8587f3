// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Answers of the registrar that come from its history alone.

#include "agents/wire/messages_fwd.h"
#include "engine/history/history.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// \pre the request has one of history, samples, events, changes
Result<wire::Reply> AnswerFromHistory(engine::History& history, const wire::Request& request);

}  // namespace tessera::agents
