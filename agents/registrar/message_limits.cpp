// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/message_limits.h"

#include <algorithm>

namespace tessera::agents {

bool MessageLimits::Take(Buckets& buckets, const std::string& name, Limit limit,
                         Clock::time_point now) {
  const auto [found, is_new] = buckets.try_emplace(name, Bucket{limit.burst, now});
  Bucket& bucket = found->second;
  const std::chrono::duration<double> passed = now - bucket.filled;
  bucket.tokens = std::min(limit.burst, bucket.tokens + passed.count() * limit.per_second);
  bucket.filled = now;
  if (bucket.tokens < 1) return false;
  bucket.tokens -= 1;
  return true;
}

bool MessageLimits::Admit(const KeyOwner* owner, Clock::time_point now) {
  if (!owner) return Take(messages_, {}, kRevoked, now);
  return Take(messages_, owner->name, owner->role == Role::kNode ? kNode : kClient, now);
}

bool MessageLimits::MayAnswer(const KeyOwner& owner, Clock::time_point now) {
  return Take(answers_, owner.name, kAnswers, now);
}

}  // namespace tessera::agents
