// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The kernel's end of the FUSE protocol over a socket pair: raw requests, raw replies. One thread.

#include <linux/fuse.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::test {

class FakeKernel {
 public:
  FakeKernel();
  /// Closes the kernel's end.
  ~FakeKernel();
  FakeKernel(const FakeKernel&) = delete;
  FakeKernel& operator=(const FakeKernel&) = delete;

  /// The server's end; the server closes it.
  int server_end() const { return server_; }
  void Close();

  struct Reply {
    int error = 0;  // errno, 0: none
    std::string body = {};
    /// The body as one of the structures of linux/fuse.h.
    template <typename T>
    T As() const {
      T value{};
      body.copy(reinterpret_cast<char*>(&value), sizeof value);
      return value;
    }
  };

  /// Sends a request without waiting.
  /// \return its number
  std::uint64_t Send(std::uint32_t opcode, std::uint64_t node, std::string_view body);
  /// Waits up to 10 s for the reply to a request. Keeps replies to other requests.
  Reply Receive(std::uint64_t number);
  Reply Call(std::uint32_t opcode, std::uint64_t node, std::string_view body) {
    return Receive(Send(opcode, node, body));
  }

  fuse_init_out Init();
  Reply Lookup(std::uint64_t folder, const std::string& name);
  Reply Open(std::uint64_t node, int flags = 0);
  /// \param folder for READDIR and READDIRPLUS instead of READ
  Reply Read(std::uint64_t node, std::uint64_t handle, std::uint64_t offset, std::uint32_t size,
             std::uint32_t opcode = FUSE_READ);
  Reply Release(std::uint64_t node, std::uint64_t handle, std::uint32_t opcode = FUSE_RELEASE);
  void Forget(std::uint64_t node, std::uint64_t count);
  /// Looks up each component of the path; 0 if one does not exist.
  std::uint64_t Walk(std::string_view path);

 private:
  int ours_ = -1;
  int server_ = -1;
  std::uint64_t next_ = 1;
  std::map<std::uint64_t, Reply> kept_;
};

}  // namespace tessera::test
