// SPDX-License-Identifier: Apache-2.0
#include "agents/net/refused_keys.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::agents {

std::string KeyFingerprint(std::string_view public_key) {
  constexpr std::size_t kShown = 10;
  return std::string(public_key.substr(0, kShown));
}

std::string ToString(const RefusedKey& refused) {
  return fmt::format("{} from {}{}",
                     refused.key.empty() ? std::string("a connection without a key")
                                         : fmt::format("key '{}'", KeyFingerprint(refused.key)),
                     refused.address,
                     refused.count == 1 ? "" : fmt::format(", {} times", refused.count));
}

void RefusedKeys::Note(const std::string& key, const std::string& address, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  auto found = std::ranges::find(entries_, key, [](const Entry& e) { return e.refused.key; });
  if (found == entries_.end()) {
    if (entries_.size() == kMost) {
      entries_.erase(std::ranges::min_element(entries_, {}, &Entry::last));
    }
    entries_.push_back({{key, address, 0}, now});
    found = entries_.end() - 1;
  }
  found->refused.address = address;
  ++found->refused.count;
  found->last = now;
}

void RefusedKeys::Forget(const std::function<bool(const std::string& key)>& is_allowed) {
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [&](const Entry& entry) { return is_allowed(entry.refused.key); });
}

std::vector<RefusedKey> RefusedKeys::All() const {
  const std::lock_guard lock(mutex_);
  std::vector<RefusedKey> all;
  for (const Entry& entry : entries_) all.push_back(entry.refused);
  return all;
}

std::optional<RefusedKey> RefusedKeys::TakeReport(Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  if (reported_ && now - *reported_ < kReportEvery) return std::nullopt;
  const auto due = std::ranges::find_if(
      entries_, [](const Entry& entry) { return entry.refused.count >= entry.next_report; });
  if (due == entries_.end()) return std::nullopt;
  while (due->next_report <= due->refused.count) due->next_report *= 10;
  reported_ = now;
  return due->refused;
}

}  // namespace tessera::agents
