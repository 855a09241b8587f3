// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Packets with file descriptors over AF_UNIX SOCK_SEQPACKET sockets, and an owner of one
/// descriptor.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ptc/base/result.h"

namespace tessera::agents {

/// Owns one file descriptor; -1 is none.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) Reset(std::exchange(other.fd_, -1));
    return *this;
  }
  ~UniqueFd() { Reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int Release() { return std::exchange(fd_, -1); }
  void Reset(int fd = -1);
  /// Another descriptor of the same open file, close-on-exec; none on failure.
  UniqueFd Duplicate() const;

 private:
  int fd_ = -1;
};

inline constexpr std::size_t kMaxPacketBytes = std::size_t{128} << 10;
inline constexpr std::size_t kMaxPacketFds = 4;

struct Packet {
  std::string bytes;
  std::vector<UniqueFd> fds;
};

/// Sends one packet. Never blocks, never raises SIGPIPE.
/// \error kUnavailable if the socket's queue is full; kCancelled if the peer is gone;
///     kInvalidArgument for an empty packet, more than kMaxPacketBytes or kMaxPacketFds
Status SendPacket(int socket, std::string_view bytes, std::span<const int> fds = {});
/// Receives one packet; nullopt if none is queued. Never blocks. Descriptors are close-on-exec.
/// \error kCancelled if the peer is gone; kDataLoss if the packet was too large (it is removed from
///     the socket)
Result<std::optional<Packet>> ReceivePacket(int socket);

}  // namespace tessera::agents
