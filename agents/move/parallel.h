// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Work of a transfer on all cores: the ranks of the job stand meanwhile.

#include <cstddef>
#include <functional>
#include <stop_token>

#include "ptc/base/result.h"

namespace tessera::agents {

/// Calls work(0) … work(count - 1) on up to as many threads as this process may use cores, and
/// waits for all of them. After a failure, or after `stop`, no further call begins.
/// \error the failure of the smallest index; kCancelled if `stop` kept a call from beginning
/// \threadsafety `work` is called by several threads at once
Status ForEachInParallel(std::size_t count, const std::stop_token& stop,
                         const std::function<Status(std::size_t)>& work);

}  // namespace tessera::agents
