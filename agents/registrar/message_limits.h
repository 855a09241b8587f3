// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// How many messages the registrar reads of one key. A peer with a key may still be broken or
/// hostile.

#include <chrono>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "agents/net/key_owner.h"

namespace tessera::agents {

/// \threadsafety One thread.
class MessageLimits {
 public:
  using Clock = std::chrono::steady_clock;
  struct Limit {
    double per_second = 0;
    double burst = 0;
  };
  /// Of one key. Ranks of a node meet through its agent: 8 ranks that look for 16,384 others are
  /// 131,072 messages at once.
  static constexpr Limit kClient{200, 1000};
  static constexpr Limit kNode{2000, 200'000};
  /// Of all keys together that have been revoked.
  static constexpr Limit kRevoked{20, 100};
  /// Messages above a limit that are answered.
  static constexpr Limit kAnswers{5, 5};

  /// \param owner nullptr: the key has been revoked
  /// \return whether the message is to be read
  bool Admit(const KeyOwner* owner, Clock::time_point now);
  /// Whether to tell the sender that a message is above the limit.
  bool MayAnswer(const KeyOwner& owner, Clock::time_point now);

 private:
  struct Bucket {
    double tokens = 0;
    Clock::time_point filled;
  };
  using Buckets = std::unordered_map<std::string, Bucket>;
  static bool Take(Buckets& buckets, const std::string& name, Limit limit, Clock::time_point now);

  Buckets messages_, answers_;  // by the name of the key, of which there are as many as key files
};

}  // namespace tessera::agents
