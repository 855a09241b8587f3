// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The keys whose handshakes a process has refused, so that somebody can be told.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::agents {

/// Enough of a public key to find its file, for messages.
std::string KeyFingerprint(std::string_view public_key);

struct RefusedKey {
  std::string key;      // public; empty: a peer without CURVE
  std::string address;  // of the last handshake
  std::int64_t count = 0;
};
/// "key 'rq:rM>}U?@' from 10.0.0.7, 10 times".
std::string ToString(const RefusedKey& refused);

/// Anybody can make keys, so the list and the reports are bounded.
/// \threadsafety Any thread.
class RefusedKeys {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kMost = 32;  // the one that is silent for longest is forgotten
  static constexpr std::chrono::seconds kReportEvery{30};

  void Note(const std::string& key, const std::string& address, Clock::time_point now);
  /// Forgets the keys that are allowed now.
  void Forget(const std::function<bool(const std::string& key)>& is_allowed);
  std::vector<RefusedKey> All() const;
  /// Returns a key to report: at its 1st, 10th, 100th, … handshake, one key in kReportEvery.
  std::optional<RefusedKey> TakeReport(Clock::time_point now);

 private:
  struct Entry {
    RefusedKey refused;
    Clock::time_point last;
    std::int64_t next_report = 1;  // count
  };

  mutable std::mutex mutex_;  // guards all below
  std::vector<Entry> entries_;
  std::optional<Clock::time_point> reported_;
};

}  // namespace tessera::agents
