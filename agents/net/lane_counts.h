// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What lanes refuse, drop or request again. The lanes of an agent share one of these.

#include <atomic>
#include <cstdint>

namespace tessera::agents {

/// \threadsafety Any thread.
struct LaneCounts {
  std::atomic<std::int64_t> malformed{0};     // messages that are no requests
  std::atomic<std::int64_t> not_admitted{0};  // requests with a wrong ticket
  /// Frames of another key, or that were not requested; requests of a peer with too many of them.
  std::atomic<std::int64_t> dropped{0};
  std::atomic<std::int64_t> corrupt{0};       // frames with a wrong checksum, digest or size
  std::atomic<std::int64_t> switched{0};      // frames requested from another holder
};

}  // namespace tessera::agents
