// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Whether what a node says can be. Its key proves who it is, not that its program is right, and
/// what it says is shown to all clients: one impossible number would make them refuse the state of
/// the whole cluster.

#include "agents/wire/messages_fwd.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// \error kInvalidArgument naming the field, its value and the limit
Status CheckClaims(const wire::FromNode& message);

}  // namespace tessera::agents
