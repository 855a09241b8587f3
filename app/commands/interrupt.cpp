// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/interrupt.h"

#include <signal.h>

#include <csignal>

namespace tessera::app {
namespace {

volatile std::sig_atomic_t numSignals = 0;

extern "C" void onSignal(int) { numSignals = numSignals + 1; }

}  // namespace

void countInterrupts() {
  struct sigaction action = {};
  action.sa_handler = onSignal;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

int numInterrupts() { return numSignals; }

}  // namespace tessera::app
