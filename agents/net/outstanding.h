// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// How many bytes wait to be sent to each peer of a socket. ZeroMQ counts messages only, and a
/// message may have 64 MiB.

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace tessera::agents {

/// \threadsafety One thread; owners may be released on any.
class Outstanding {
 public:
  /// \param most bytes that may wait for one peer
  explicit Outstanding(std::int64_t most) : most_(most) {}

  /// Counts `bytes` for the peer until the result is released.
  /// \param owner of the bytes, kept alive until then
  /// \return nullptr if something waits for the peer and more than the limit would then
  std::shared_ptr<void> Add(const std::string& peer, std::int64_t bytes,
                            std::shared_ptr<void> owner);
  std::int64_t waiting_for(const std::string& peer) const;
  std::size_t num_peers() const { return peers_.size(); }

 private:
  using Counter = std::atomic<std::int64_t>;
  static constexpr std::size_t kManyPeers = 4096;  // then those for whom nothing waits are dropped

  const std::int64_t most_;
  std::map<std::string, std::shared_ptr<Counter>> peers_;
};

}  // namespace tessera::agents
