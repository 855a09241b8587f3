// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Values that both ends of the rank protocol share.

#include <compare>
#include <cstdint>
#include <string>

#include "engine/cluster/metrics.h"
#include "ptc/base/result.h"

namespace tessera::agents {

inline constexpr std::uint32_t kRankProtocol = 2;

/// One attempt to reach an epoch. Groups, rendezvous entries and shared memory belong to an
/// attempt.
struct Attempt {
  std::int64_t epoch = 0;
  std::int64_t attempt = 0;
  friend auto operator<=>(const Attempt&, const Attempt&) = default;
};

/// One step decision as a rank reports it. All ranks of a job report equal ones, except `seconds`
/// and what follows it.
struct RankDecision {
  std::int64_t step = 0;
  double loss = 0;
  double norm2 = 0;
  std::int64_t tokens = 0;
  double clip = 1;
  bool skip = false;
  std::uint64_t pause = 0;
  double seconds = 0;        // since the previous decision; 0: there is none
  std::int64_t dropped = 0;  // unread reports that this process has dropped so far
  double time = 0;           // wall clock at the rank, seconds since 1970; set by the session
  double busy = 0;           // seconds that the rank computed for it; 0: unknown
  engine::Metrics metrics = {};  // that the program has reported; of rank 0 only
  bool checkpoint = false;       // the program requests one; of rank 0 only
};

/// Bytes of the data that a rank reads before its groups are built.
struct RankLoading {
  std::int64_t done = 0;
  std::int64_t total = 0;  // 0: unknown
  bool is_over() const { return total > 0 && done >= total; }
};

enum class RankCommand : std::uint8_t { kResume = 1, kAdopt = 2, kLeave = 3 };

/// The codes of RankConnected: 0 for success, else 1 + the error's code.
inline std::uint32_t CodeToWire(const Status& status) {
  return status ? 0 : 1 + static_cast<std::uint32_t>(status.error().code);
}
inline Status StatusFromWire(std::uint32_t code, const std::string& message) {
  if (code == 0) return OkStatus();
  const auto last = static_cast<std::uint32_t>(kLastErrorCode);
  return Error{static_cast<ErrorCode>(code - 1 < last ? code - 1 : last), message, {}};
}

}  // namespace tessera::agents
