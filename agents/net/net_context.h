// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What the sockets of a process share: ZeroMQ's threads, the allowed keys, the bounds of
/// connections.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agents/net/connection_guard.h"
#include "agents/net/key_owner.h"
#include "agents/net/refused_keys.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// What ZeroMQ gives each message of a connection as `User-Id`: the key that it has proved, and the
/// ticket of its handshake.
struct Sender {
  std::string_view key;
  std::uint64_t ticket = 0;
};
std::string UserId(std::string_view key, std::uint64_t ticket);
Sender ParseUserId(std::string_view text);

/// A ZeroMQ context with its ZAP handler, which refuses peers whose public key is not in the
/// allow-list. An empty list refuses everybody. The context outlives all its sockets.
class NetContext {
 public:
  /// CURVE runs on the I/O threads, and a connection stays on one of them, so each encrypted lane
  /// needs a thread.
  explicit NetContext(int io_threads = 1,
                      ConnectionLimits limits = ConnectionLimits::OfThisProcess());
  ~NetContext();
  NetContext(const NetContext&) = delete;
  NetContext& operator=(const NetContext&) = delete;
  /// Any thread. Closes the connections of keys that are no longer allowed.
  void SetOwners(KeyOwners keys);
  /// The same for sockets that ask for no names and roles.
  void SetAllowed(const std::vector<std::string>& public_keys);
  /// Any thread. nullopt if the key is not allowed.
  std::optional<KeyOwner> OwnerOf(std::string_view public_key) const;
  /// The number of refused handshakes.
  std::int64_t num_refused() const;
  /// The keys that it has refused and that are still not allowed.
  RefusedKeys& refused_keys() const;
  /// The accepted connections of its sockets.
  ConnectionGuard& connections() const;
  void* handle() const;

  /// Lets connections() follow a server's socket, until its monitor ends.
  /// \pre the socket is not bound yet
  /// \return its door
  Result<int> Guard(void* socket, bool has_keys);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera::agents
