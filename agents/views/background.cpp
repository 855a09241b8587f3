// SPDX-License-Identifier: Apache-2.0
#include "agents/views/background.h"

#include <sys/resource.h>

namespace tessera::agents {

void RunInBackground() {
  constexpr int kNice = 10;  // a tenth of the weight of a usual thread
  // On Linux the value belongs to the calling thread. Without it the work is only more noticeable.
  static_cast<void>(::setpriority(PRIO_PROCESS, 0, kNice));
}

}  // namespace tessera::agents
