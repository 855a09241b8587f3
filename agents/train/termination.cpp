// SPDX-License-Identifier: Apache-2.0
#include "agents/train/termination.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>

namespace tessera::agents::train {
namespace {

enum State : int { kIdle, kUpdating, kUpdatingTerminated, kTerminated };
std::atomic<int> g_state = kIdle;
static_assert(std::atomic<int>::is_always_lock_free);  // a signal handler uses it

/// Ends the process by SIGTERM, so that the parent sees the cause. Async-signal-safe.
void Die() {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  ::sigaction(SIGTERM, &action, nullptr);
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGTERM);
  ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
  ::kill(::getpid(), SIGTERM);
  for (;;) ::pause();
}

// May run on any thread. The first to change the state wins: the update or the signal.
void OnSigterm(int) {
  int state = g_state.load();
  while (true) {
    if (state == kIdle) {
      if (g_state.compare_exchange_weak(state, kTerminated)) Die();
    } else if (state == kUpdating) {
      if (g_state.compare_exchange_weak(state, kUpdatingTerminated)) return;
    } else {
      return;
    }
  }
}

}  // namespace

void InstallTermination() {
  struct sigaction action {};
  action.sa_handler = OnSigterm;
  ::sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGTERM, &action, nullptr);
}

UpdateSection::UpdateSection() {
  int state = kIdle;
  if (!g_state.compare_exchange_strong(state, kUpdating)) Die();  // a signal was first
}

UpdateSection::~UpdateSection() {
  int state = kUpdating;
  if (!g_state.compare_exchange_strong(state, kIdle)) Die();
}

}  // namespace tessera::agents::train
