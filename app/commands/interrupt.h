// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Ctrl-C as a count, for commands that end in order instead of at once.

namespace tessera::app {

/// From now on SIGINT and SIGTERM are counted. Called once.
void countInterrupts();
/// A terminal that goes away (SIGHUP) counts as well from now on.
void countHangups();
/// How many came so far. Any thread.
int numInterrupts();

}  // namespace tessera::app
