// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Bounds the connections that a process accepts, and closes those of revoked keys.

#include <atomic>
#include <cstddef>
#include <cstdint>
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
  std::size_t silent = 0;  // that have not sent a message yet

  /// Leaves a part of the descriptors of this process (RLIMIT_NOFILE) to journals, logs, ranks and
  /// the connections that it opens itself: half of them, at most 8,192.
  static ConnectionLimits OfThisProcess();
};

/// ZeroMQ accepts every connection and closes none on request. The guard learns of connections from
/// the events of sockets (`zmq_socket_monitor`). To close a connection, it shuts down the
/// descriptor, and ZeroMQ closes the connection as if the peer had hung up.
///
/// Where a connection is too many, the newest goes. Of those that have sent nothing it is the
/// oldest: peers send a message as soon as their handshake ends, in milliseconds, so whoever opens
/// connections and says nothing displaces his own. No event tells which handshake has ended.
///
/// Connections are numbered as they are accepted. A handshake gets the next number of that count as
/// its ticket (NewTicket), which comes back with each of its messages. So a message that was read
/// late, when its descriptor belonged to a newer connection already, is recognised.
///
/// Thread-safe.
class ConnectionGuard {
 public:
  /// \param is_allowed whether the owner of this public key may be connected. Called under a lock.
  ConnectionGuard(ConnectionLimits limits, std::function<bool(std::string_view)> is_allowed);

  /// A socket that accepts connections.
  /// \param has_keys whether its peers prove keys. Others have no key that is revoked or has too
  ///     many
  int AddDoor(bool has_keys);
  /// Forgets the connections of the socket, which ZeroMQ closes.
  void RemoveDoor(int door);

  /// \param port of this end. The descriptor may belong to another socket already
  void OnAccepted(int door, int fd, std::uint16_t port);
  void OnClosed(int door, int fd);
  /// \pre OnAccepted was called for the connection
  std::uint64_t NewTicket() { return next_; }
  /// A message of the connection.
  /// \param key what it has proved; empty without encryption
  /// \param ticket of its handshake; not used without encryption
  void OnMessage(int door, int fd, std::string_view key, std::uint64_t ticket);

  /// Closes the connections whose keys are no longer allowed, and those that have not sent a
  /// message yet: nothing tells whose they are. Peers that are allowed connect again.
  void CloseRevoked();
  /// Forgets connections that ended without an event, and closes what could not be closed before.
  void Sweep();

  std::size_t num_open() const;
  /// How many connections a limit has closed.
  std::int64_t num_closed() const { return num_closed_; }

 private:
  struct Connection {
    std::uint64_t inode = 0;  // of its socket
    std::uint64_t number = 0;
    bool has_sent = false;
    bool is_closing = false;
    std::string key;
  };
  struct Door {
    bool has_keys = false;
    std::unordered_map<int, Connection> open;  // by descriptor
  };
  struct Place {
    int door = 0, fd = 0;
  };

  void Close(int fd, Connection& connection);
  void CloseAsTooMany(int fd, Connection& connection);
  void Forget(Door& door, int fd);
  void DropKey(Connection& connection);
  Connection* Find(int door, int fd);

  const ConnectionLimits limits_;
  const std::function<bool(std::string_view)> is_allowed_;
  std::atomic<std::int64_t> num_closed_{0};
  std::atomic<std::uint64_t> next_{0};  // number of a connection
  mutable std::mutex mutex_;            // for all below
  std::map<int, Door> doors_;
  std::map<std::string, std::size_t, std::less<>> of_key_;
  std::map<std::uint64_t, Place> silent_;  // by number: the oldest first
  std::size_t num_open_ = 0;
  int next_door_ = 0;
};

}  // namespace tessera::agents
