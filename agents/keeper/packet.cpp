// SPDX-License-Identifier: Apache-2.0
#include "agents/keeper/packet.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace tessera::agents {

void UniqueFd::Reset(int fd) {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

UniqueFd UniqueFd::Duplicate() const {
  return UniqueFd(fd_ < 0 ? -1 : ::fcntl(fd_, F_DUPFD_CLOEXEC, 0));
}

Status SendPacket(int socket, std::string_view bytes, std::span<const int> fds) {
  if (bytes.empty() || bytes.size() > kMaxPacketBytes) {
    return InvalidArgument(
        fmt::format("packet of {} bytes: must be 1 to {}", bytes.size(), kMaxPacketBytes));
  }
  if (fds.size() > kMaxPacketFds) {
    return InvalidArgument(fmt::format("packet with {} descriptors: at most {} are allowed",
                                       fds.size(), kMaxPacketFds));
  }
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxPacketFds * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!fds.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(header), fds.data(), fds.size_bytes());
  }
  while (true) {
    if (::sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) return OkStatus();
    switch (errno) {
      case EINTR:
        continue;
      case EAGAIN:
      case ENOBUFS:
      case ETOOMANYREFS:
        return Unavailable("the socket's queue is full");
      case EMSGSIZE:
        return InvalidArgument(
            fmt::format("packet of {} bytes: too large for the socket", bytes.size()));
      default:
        return Cancelled(fmt::format("the peer is gone: {}", std::strerror(errno)));
    }
  }
}

Result<std::optional<Packet>> ReceivePacket(int socket) {
  thread_local std::array<char, kMaxPacketBytes> buffer;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxPacketFds * sizeof(int))> control{};
  iovec part{buffer.data(), buffer.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t size = -1;
  do {
    size = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (size < 0 && errno == EINTR);
  if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return std::optional<Packet>();
  if (size < 0) return Cancelled(fmt::format("the peer is gone: {}", std::strerror(errno)));

  Packet packet;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof fd);
      packet.fds.emplace_back(fd);
    }
  }
  if (size == 0) return Cancelled("the peer is gone");  // or an empty packet, which looks the same
  if ((message.msg_flags & MSG_TRUNC) != 0) {
    return DataLoss(fmt::format("packet of more than {} bytes", kMaxPacketBytes));
  }
  packet.bytes.assign(buffer.data(), static_cast<std::size_t>(size));
  return std::optional<Packet>(std::move(packet));
}

}  // namespace tessera::agents
