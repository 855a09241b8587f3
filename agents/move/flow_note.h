// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Why the bytes of a flow come late, or from elsewhere than planned.

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace tessera::agents {

/// \threadsafety Any thread.
class FlowNote {
 public:
  /// A part of `cell` is requested again. Holds until bytes of the cell arrive.
  void Retry(std::int64_t cell, std::string why);
  /// Another device sends what is left. Holds until the end.
  void Replace(std::string why);
  /// Bytes of `cell` have arrived.
  void Arrived(std::int64_t cell);
  /// The newest reason; empty: there is none.
  std::string text() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::int64_t, std::string> retries_;  // by cell
  std::atomic<bool> has_retries_ = false;
  std::string replaced_;
};

}  // namespace tessera::agents
