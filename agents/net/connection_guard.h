// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Bounds the connections that a process accepts, and closes those of revoked keys.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace tessera::agents {

/// How many accepted connections a process may have.
struct ConnectionLimits {
  std::size_t in_all = 0;
  std::size_t of_a_key = 0;
  std::size_t in_handshake = 0;

  /// Leaves a part of the descriptors of this process (RLIMIT_NOFILE) to journals, logs, ranks and
  /// the connections that it opens itself: half of them, at most 8,192.
  static ConnectionLimits OfThisProcess();
};

/// ZeroMQ accepts every connection and closes none on request. The guard learns of connections by
/// the events of sockets (`zmq_socket_monitor`) and shuts down the descriptor of one that is to go.
/// ZeroMQ then closes it like that of a peer which has hung up.
///
/// Where a connection is too many, the newest goes. Of those in their handshake it is the oldest:
/// an honest handshake takes milliseconds, so whoever opens connections and says nothing displaces
/// his own. No event tells which handshake has ended. A connection counts as ready with its first
/// message, or once the kernel has received as many bytes on it as a handshake has: that is how a
/// subscriber shows, who sends no messages.
///
/// Thread-safe.
class ConnectionGuard {
 public:
  /// \param is_allowed whether the owner of this public key may be connected. Called under a lock.
  ConnectionGuard(ConnectionLimits limits, std::function<bool(std::string_view)> is_allowed);

  /// A socket that accepts connections.
  /// \param has_keys whether its peers prove keys. Otherwise only the total is bounded
  int AddDoor(bool has_keys);
  /// Forgets the connections of the socket, which ZeroMQ closes.
  void RemoveDoor(int door);

  void OnAccepted(int door, int fd);
  void OnClosed(int door, int fd);
  /// A message of the connection.
  /// \param key what it has proved; empty without encryption
  void OnMessage(int door, int fd, std::string_view key);

  /// Closes the connections whose keys are no longer allowed, and those that have not sent a
  /// message yet: nothing tells whose they are. Peers that are allowed connect again.
  void CloseRevoked();
  /// Forgets connections that ended without an event.
  void ForgetEnded();

  std::size_t num_open() const;
  /// How many connections a limit has closed.
  std::int64_t num_closed() const { return num_closed_; }

 private:
  struct Connection {
    std::string peer;  // address and port, as bytes
    std::uint64_t number = 0;
    bool is_ready = false;
    bool is_closing = false;
    std::string key;  // once it has sent a message
  };
  struct Door {
    bool has_keys = false;
    std::unordered_map<int, Connection> open;  // by descriptor
  };
  struct Waiting {
    int door = 0, fd = 0;
    std::uint64_t number = 0;
  };

  void Close(int fd, Connection& connection);
  void CloseAsTooMany(int fd, Connection& connection);
  void Forget(Door& door, int fd);
  Connection* Find(int door, int fd);
  Connection* FindInHandshake(const Waiting& waiting);
  void SetReady(Connection& connection);
  void DropKey(Connection& connection);

  const ConnectionLimits limits_;
  const std::function<bool(std::string_view)> is_allowed_;
  std::atomic<std::int64_t> num_closed_{0};
  mutable std::mutex mutex_;  // for all below
  std::map<int, Door> doors_;
  std::map<std::string, std::size_t, std::less<>> of_key_;
  std::deque<Waiting> handshakes_;  // the oldest first; some have ended
  std::size_t num_open_ = 0, num_in_handshake_ = 0;
  std::uint64_t next_ = 0;
  int next_door_ = 0;
};

}  // namespace tessera::agents
