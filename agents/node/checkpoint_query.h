// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What a node does with the folders of checkpoints for the registrar: examines, publishes and
/// removes them.

#include "agents/node/config.h"
#include "agents/wire/messages_fwd.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// Carries out a query, in the order of its fields. Blocks.
/// \error kPermissionDenied naming a path that the configuration does not allow; those of
///     engine/checkpoint/saved_folder.h. A checkpoint that is examined and cannot be loaded is no
///     error: its row says why.
Result<wire::CheckpointAnswer> AnswerCheckpointQuery(const AgentConfig& config,
                                                     const wire::CheckpointQuery& query);

}  // namespace tessera::agents
