// SPDX-License-Identifier: Apache-2.0
#include "agents/fuse/serve.h"

#include <ctime>

namespace tessera::agents {

EndSignals::EndSignals() {
  ::sigemptyset(&signals_);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&signals_, signal);
  ::pthread_sigmask(SIG_BLOCK, &signals_, &before_);
}

EndSignals::~EndSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

bool EndSignals::Wait(std::chrono::milliseconds patience) {
  const timespec time{patience.count() / 1000, patience.count() % 1000 * 1'000'000};
  return ::sigtimedwait(&signals_, nullptr, &time) > 0;
}

void ServeUntilEnd(FileServer& server, EndSignals& signals) {
  using std::chrono::milliseconds;
  while (!signals.Wait(milliseconds(100)) && !server.WaitEnded(milliseconds(0))) {
  }
}

}  // namespace tessera::agents
