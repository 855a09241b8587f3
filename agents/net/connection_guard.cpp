// SPDX-License-Identifier: Apache-2.0
#include "agents/net/connection_guard.h"

#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace tessera::agents {
namespace {

/// Address and port of the peer as bytes; empty if the descriptor is no connection over TCP.
std::string PeerOf(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return {};
  if (address.ss_family != AF_INET && address.ss_family != AF_INET6) return {};
  return {reinterpret_cast<const char*>(&address), size};
}

/// Whether the peer has sent what a handshake of CurveZMQ has: a greeting of 64 bytes, HELLO of
/// 202, and INITIATE of at least 259 (rfc.zeromq.org/spec/26). Somebody who sends as many bytes of
/// something else is closed by ZeroMQ.
bool HasShakenHands(int fd) {
  constexpr std::uint64_t kHandshakeBytes = 64 + 202 + 259;
  tcp_info info{};
  socklen_t size = sizeof info;
  return ::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 &&
         info.tcpi_bytes_received >= kHandshakeBytes;
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

// ZeroMQ may have closed the descriptor, and another connection may have it now. A copy of the
// descriptor cannot change, so it is compared with the peer first.
void ConnectionGuard::Close(int fd, Connection& connection) {
  if (std::exchange(connection.is_closing, true)) return;
  if (!connection.is_ready) --num_in_handshake_;
  const int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) return;
  if (!connection.peer.empty() && PeerOf(copy) == connection.peer) ::shutdown(copy, SHUT_RDWR);
  ::close(copy);
}

void ConnectionGuard::CloseAsTooMany(int fd, Connection& connection) {
  ++num_closed_;
  Close(fd, connection);
}

void ConnectionGuard::Forget(Door& door, int fd) {
  const auto found = door.open.find(fd);
  if (found == door.open.end()) return;
  Connection& connection = found->second;
  --num_open_;
  if (!connection.is_ready && !connection.is_closing) --num_in_handshake_;
  DropKey(connection);
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

ConnectionGuard::Connection* ConnectionGuard::FindInHandshake(const Waiting& waiting) {
  Connection* connection = Find(waiting.door, waiting.fd);
  const bool is_it = connection != nullptr && connection->number == waiting.number;
  return is_it && !connection->is_ready && !connection->is_closing ? connection : nullptr;
}

void ConnectionGuard::OnAccepted(int door, int fd) {
  const std::lock_guard lock(mutex_);
  const auto of = doors_.find(door);
  if (of == doors_.end()) return;
  Forget(of->second, fd);  // ended without an event
  Connection& connection = of->second.open[fd];
  connection = {PeerOf(fd), next_++, false, false, {}};
  ++num_open_;
  ++num_in_handshake_;
  if (num_open_ > limits_.in_all) {
    CloseAsTooMany(fd, connection);
    return;
  }
  handshakes_.push_back({door, fd, connection.number});
  while (num_in_handshake_ > limits_.in_handshake || !FindInHandshake(handshakes_.front())) {
    const Waiting oldest = handshakes_.front();
    handshakes_.pop_front();
    Connection* waiting = FindInHandshake(oldest);
    if (waiting == nullptr) continue;
    if (HasShakenHands(oldest.fd)) {
      SetReady(*waiting);
    } else {
      CloseAsTooMany(oldest.fd, *waiting);
    }
  }
}

void ConnectionGuard::SetReady(Connection& connection) {
  if (std::exchange(connection.is_ready, true)) return;
  if (!connection.is_closing) --num_in_handshake_;
}

void ConnectionGuard::OnClosed(int door, int fd) {
  const std::lock_guard lock(mutex_);
  if (const auto of = doors_.find(door); of != doors_.end()) Forget(of->second, fd);
}

void ConnectionGuard::OnMessage(int door, int fd, std::string_view key) {
  const std::lock_guard lock(mutex_);
  Connection* connection = Find(door, fd);
  if (connection == nullptr) return;
  SetReady(*connection);
  if (key.empty() || connection->key == key) return;
  DropKey(*connection);
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

void ConnectionGuard::ForgetEnded() {
  const std::lock_guard lock(mutex_);
  for (auto& [id, door] : doors_) {
    std::deque<int> ended;
    for (const auto& [fd, connection] : door.open) {
      if (PeerOf(fd) != connection.peer) ended.push_back(fd);
    }
    for (const int fd : ended) Forget(door, fd);
  }
}

std::size_t ConnectionGuard::num_open() const {
  const std::lock_guard lock(mutex_);
  return num_open_;
}

}  // namespace tessera::agents
