// SPDX-License-Identifier: Apache-2.0
#include "agents/net/connection_guard.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace tessera::agents {
namespace {

/// Of the socket that has this descriptor now; 0 if there is none. No two sockets have one inode.
std::uint64_t InodeOf(int fd) {
  struct stat info {};
  return ::fstat(fd, &info) == 0 && S_ISSOCK(info.st_mode) ? info.st_ino : 0;
}

/// The port of this end; 0 if the descriptor is no socket of the internet.
std::uint16_t PortOf(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  if (address.ss_family == AF_INET) {
    return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
  }
  if (address.ss_family == AF_INET6) {
    return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  }
  return 0;
}

}  // namespace

ConnectionLimits ConnectionLimits::OfThisProcess() {
  constexpr std::size_t kUsual = 1024, kMost = 1 << 20, kKept = 8192;
  rlimit limit{};
  std::size_t descriptors = kUsual;
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    descriptors = std::min<std::size_t>(limit.rlim_cur, kMost);
  }
  const std::size_t in_all = descriptors - std::min(descriptors / 2, kKept);
  return {in_all, in_all / 4, in_all / 4};
}

ConnectionGuard::ConnectionGuard(ConnectionLimits limits,
                                 std::function<bool(std::string_view)> is_allowed)
    : limits_(limits), is_allowed_(std::move(is_allowed)) {}

int ConnectionGuard::AddDoor(bool has_keys) {
  const std::lock_guard lock(mutex_);
  doors_[next_door_].has_keys = has_keys;
  return next_door_++;
}

void ConnectionGuard::RemoveDoor(int door) {
  const std::lock_guard lock(mutex_);
  const auto found = doors_.find(door);
  if (found == doors_.end()) return;
  while (!found->second.open.empty()) Forget(found->second, found->second.open.begin()->first);
  doors_.erase(found);
}

// ZeroMQ may have closed the descriptor, and something else may have it now. A copy of the
// descriptor cannot change, so it is compared.
void ConnectionGuard::Close(int fd, Connection& connection) {
  if (connection.is_closing || InodeOf(fd) != connection.inode) return;
  const int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) return;  // Sweep tries again
  if (InodeOf(copy) == connection.inode) {
    ::shutdown(copy, SHUT_RDWR);
    connection.is_closing = true;
    silent_.erase(connection.number);
  }
  ::close(copy);
}

void ConnectionGuard::CloseAsTooMany(int fd, Connection& connection) {
  ++num_closed_;
  silent_.erase(connection.number);  // also if it cannot be closed now
  Close(fd, connection);
}

void ConnectionGuard::Forget(Door& door, int fd) {
  const auto found = door.open.find(fd);
  if (found == door.open.end()) return;
  --num_open_;
  silent_.erase(found->second.number);
  DropKey(found->second);
  door.open.erase(found);
}

void ConnectionGuard::DropKey(Connection& connection) {
  const auto own = of_key_.find(connection.key);
  if (own != of_key_.end() && --own->second == 0) of_key_.erase(own);
  connection.key.clear();
}

ConnectionGuard::Connection* ConnectionGuard::Find(int door, int fd) {
  const auto of = doors_.find(door);
  if (of == doors_.end()) return nullptr;
  const auto found = of->second.open.find(fd);
  return found == of->second.open.end() ? nullptr : &found->second;
}

void ConnectionGuard::OnAccepted(int door, int fd, std::uint16_t port) {
  const std::lock_guard lock(mutex_);
  const auto of = doors_.find(door);
  const std::uint64_t inode = InodeOf(fd);
  if (of == doors_.end() || inode == 0 || PortOf(fd) != port) return;  // it has ended already
  Forget(of->second, fd);  // of before, which ended without an event
  Connection& connection = of->second.open[fd];
  connection.inode = inode;
  connection.number = next_++;
  ++num_open_;
  silent_.emplace(connection.number, Place{door, fd});
  if (num_open_ > limits_.in_all) {
    CloseAsTooMany(fd, connection);
  } else if (silent_.size() > limits_.silent) {
    const Place oldest = silent_.begin()->second;
    CloseAsTooMany(oldest.fd, *Find(oldest.door, oldest.fd));
  }
}

void ConnectionGuard::OnClosed(int door, int fd) {
  const std::lock_guard lock(mutex_);
  if (const auto of = doors_.find(door); of != doors_.end()) Forget(of->second, fd);
}

void ConnectionGuard::OnMessage(int door, int fd, std::string_view key, std::uint64_t ticket) {
  const std::lock_guard lock(mutex_);
  Connection* const connection = Find(door, fd);
  // A ticket of before: a message of an earlier connection with this descriptor.
  if (connection == nullptr || (!key.empty() && ticket <= connection->number)) return;
  if (connection->has_sent) return;
  connection->has_sent = true;
  silent_.erase(connection->number);
  if (key.empty()) return;
  connection->key = key;
  if (++of_key_[connection->key] > limits_.of_a_key) {
    CloseAsTooMany(fd, *connection);
  } else if (!is_allowed_(key)) {
    Close(fd, *connection);  // revoked while it connected
  }
}

void ConnectionGuard::CloseRevoked() {
  const std::lock_guard lock(mutex_);
  for (auto& [id, door] : doors_) {
    if (!door.has_keys) continue;
    for (auto& [fd, connection] : door.open) {
      if (connection.key.empty() || !is_allowed_(connection.key)) Close(fd, connection);
    }
  }
}

void ConnectionGuard::Sweep() {
  const std::lock_guard lock(mutex_);
  for (auto& [id, door] : doors_) {
    std::vector<int> ended;
    for (auto& [fd, connection] : door.open) {
      if (InodeOf(fd) != connection.inode) {
        ended.push_back(fd);
      } else if (!connection.key.empty() && !is_allowed_(connection.key)) {
        Close(fd, connection);
      }
    }
    for (const int fd : ended) Forget(door, fd);
  }
}

std::size_t ConnectionGuard::num_open() const {
  const std::lock_guard lock(mutex_);
  return num_open_;
}

}  // namespace tessera::agents
