// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Counts Ctrl-C, so that commands can finish in an orderly way.

namespace tessera::app {

/// Counts SIGINT and SIGTERM from now on. Called once.
void countInterrupts();
/// Counts SIGHUP (the terminal was closed) as well from now on.
void countHangups();
/// The number of signals so far. Any thread.
int numInterrupts();

}  // namespace tessera::app
