// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Follows a transaction to its outcome. Ctrl-C requests a rollback and waits for it.

#include <cstdint>

#include "app/commands/command.h"
#include "app/commands/session.h"

namespace tessera::app {

/// Prints the progress of the transaction and its outcome, as text or JSON.
/// \pre countInterrupts() was called
/// \return the exit code
int followTransaction(const Invocation& call, Session& session, std::int64_t id);

}  // namespace tessera::app
