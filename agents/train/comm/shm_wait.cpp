// SPDX-License-Identifier: Apache-2.0
#include "agents/train/comm/shm_wait.h"

#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

#include "agents/train/comm/waiting.h"

namespace tessera::agents::train {
namespace {

/// How long a waiting rank sleeps before it checks again for an abort or abandonment.
constexpr timespec kLongestSleep{.tv_sec = 0, .tv_nsec = 20'000'000};

}  // namespace

void Wake(FutexWord& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

Status ShmWait::State() const {
  if (aborted_.load(std::memory_order_acquire) == 0) return OkStatus();
  return Cancelled(fmt::format("group {} was aborted", options_.name));
}

Status ShmWait::While(const FutexWord& word, std::uint32_t value) const {
  Waiting waiting(options_.limit());
  while (word.load(std::memory_order_acquire) == value) {
    TESSERA_RETURN_IF_ERROR(State());
    if (options_.abandoned && options_.abandoned()) {
      Abort();
      return Cancelled(fmt::format("group {} is no longer wanted", options_.name));
    }
    if (waiting.IsOver()) {
      Abort();
      return Timeout(fmt::format("a rank of group {} did not join within {} ms", options_.name,
                                 waiting.limit().count()));
    }
    ::syscall(SYS_futex, &word, FUTEX_WAIT, value, &kLongestSleep, nullptr, 0);
  }
  return OkStatus();
}

}  // namespace tessera::agents::train
