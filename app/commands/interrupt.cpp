// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/interrupt.h"

#include <signal.h>

#include <csignal>

namespace tessera::app {
namespace {

volatile std::sig_atomic_t numSignals = 0;

extern "C" void onSignal(int) { numSignals = numSignals + 1; }

void count(int signal) {
  struct sigaction action = {};
  action.sa_handler = onSignal;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

}  // namespace

void countInterrupts() {
  count(SIGINT);
  count(SIGTERM);
}

void countHangups() { count(SIGHUP); }

int numInterrupts() { return numSignals; }

}  // namespace tessera::app
