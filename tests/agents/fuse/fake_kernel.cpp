// SPDX-License-Identifier: Apache-2.0
#include "tests/agents/fuse/fake_kernel.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace tessera::test {
namespace {

constexpr int kPatienceMs = 10000;
constexpr std::size_t kLargestReply = (1 << 20) + 4096;

template <typename T>
std::string_view BytesOf(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

}  // namespace

FakeKernel::FakeKernel() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return;
  ours_ = ends[0];
  server_ = ends[1];
  const int room = 4 << 20;
  ::setsockopt(server_, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof room);
  ::setsockopt(server_, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
}

FakeKernel::~FakeKernel() { Close(); }

void FakeKernel::Close() {
  if (ours_ >= 0) ::close(ours_);
  ours_ = -1;
}

std::uint64_t FakeKernel::Send(std::uint32_t opcode, std::uint64_t node, std::string_view body) {
  fuse_in_header header{};
  header.len = static_cast<std::uint32_t>(sizeof header + body.size());
  header.opcode = opcode;
  header.unique = next_++;
  header.nodeid = node;
  std::string packet(BytesOf(header));
  packet += body;
  if (::send(ours_, packet.data(), packet.size(), MSG_NOSIGNAL) < 0) kept_[header.unique] = {errno};
  return header.unique;
}

FakeKernel::Reply FakeKernel::Receive(std::uint64_t number) {
  std::vector<char> packet(kLargestReply);
  while (!kept_.contains(number)) {
    pollfd ready{ours_, POLLIN, 0};
    if (::poll(&ready, 1, kPatienceMs) <= 0) return {ETIMEDOUT};
    const ssize_t size = ::recv(ours_, packet.data(), packet.size(), 0);
    if (size < static_cast<ssize_t>(sizeof(fuse_out_header))) return {EPIPE};
    fuse_out_header header{};
    std::memcpy(&header, packet.data(), sizeof header);
    if (header.len != static_cast<std::uint32_t>(size)) return {EBADMSG};
    kept_[header.unique] = {
        -header.error,
        std::string(packet.data() + sizeof header, static_cast<std::size_t>(size) - sizeof header)};
  }
  Reply reply = std::move(kept_[number]);
  kept_.erase(number);
  return reply;
}

fuse_init_out FakeKernel::Init() {
  fuse_init_in in{};
  in.major = FUSE_KERNEL_VERSION;
  in.minor = FUSE_KERNEL_MINOR_VERSION;
  in.max_readahead = 1 << 20;
  in.flags = FUSE_ASYNC_READ | FUSE_BIG_WRITES | FUSE_AUTO_INVAL_DATA | FUSE_DO_READDIRPLUS |
             FUSE_READDIRPLUS_AUTO | FUSE_ASYNC_DIO | FUSE_PARALLEL_DIROPS | FUSE_MAX_PAGES |
             FUSE_SPLICE_READ | FUSE_SPLICE_WRITE | FUSE_SPLICE_MOVE;
  return Call(FUSE_INIT, 0, BytesOf(in)).As<fuse_init_out>();
}

FakeKernel::Reply FakeKernel::Lookup(std::uint64_t folder, const std::string& name) {
  return Call(FUSE_LOOKUP, folder, {name.c_str(), name.size() + 1});
}

FakeKernel::Reply FakeKernel::Open(std::uint64_t node, int flags) {
  fuse_open_in in{};
  in.flags = static_cast<std::uint32_t>(flags);
  return Call((flags & O_DIRECTORY) != 0 ? FUSE_OPENDIR : FUSE_OPEN, node, BytesOf(in));
}

FakeKernel::Reply FakeKernel::Read(std::uint64_t node, std::uint64_t handle, std::uint64_t offset,
                                   std::uint32_t size, std::uint32_t opcode) {
  fuse_read_in in{};
  in.fh = handle;
  in.offset = offset;
  in.size = size;
  return Call(opcode, node, BytesOf(in));
}

FakeKernel::Reply FakeKernel::Release(std::uint64_t node, std::uint64_t handle,
                                      std::uint32_t opcode) {
  fuse_release_in in{};
  in.fh = handle;
  return Call(opcode, node, BytesOf(in));
}

void FakeKernel::Forget(std::uint64_t node, std::uint64_t count) {
  fuse_forget_in in{};
  in.nlookup = count;
  Send(FUSE_FORGET, node, BytesOf(in));
}

std::uint64_t FakeKernel::Walk(std::string_view path) {
  std::uint64_t at = FUSE_ROOT_ID;
  while (!path.empty() && at != 0) {
    const auto end = std::min(path.find('/'), path.size());
    at = Lookup(at, std::string(path.substr(0, end))).As<fuse_entry_out>().nodeid;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return at;
}

}  // namespace tessera::test
