// SPDX-License-Identifier: Apache-2.0
#include "agents/job/job_rendezvous.h"

#include <fmt/format.h>

#include <cstring>

namespace tessera::agents {

Status JobRendezvous::Set(const std::string& key, std::span<const std::byte> value) {
  if (tessera_store_set(job_, epoch_, attempt_, key.c_str(), value.data(), value.size()) != 0) {
    return Unavailable(fmt::format("rendezvous key '{}': {}", key, tessera_last_error()));
  }
  return OkStatus();
}

Result<std::vector<std::byte>> JobRendezvous::Get(const std::string& key,
                                                  std::chrono::milliseconds timeout) {
  void* value = nullptr;
  std::size_t size = 0;
  if (tessera_store_get(job_, epoch_, attempt_, key.c_str(), &value, &size,
                        static_cast<int>(timeout.count())) != 0) {
    if (Abandoned()) {
      return Cancelled(fmt::format("groups of epoch {} are no longer wanted", epoch_));
    }
    return Timeout(fmt::format("rendezvous key '{}': {}", key, tessera_last_error()));
  }
  std::vector<std::byte> out(size);
  if (size > 0) std::memcpy(out.data(), value, size);
  tessera_free(value);
  return out;
}

Result<int> JobRendezvous::SharedMemory(const std::string& key, std::size_t size_bytes) {
  const int fd = tessera_shared_memory(job_, epoch_, attempt_, key.c_str(), size_bytes);
  if (fd < 0) return Unavailable(fmt::format("shared memory '{}': {}", key, tessera_last_error()));
  return fd;
}

bool JobRendezvous::Abandoned() const { return tessera_abandoned(job_, epoch_, attempt_) != 0; }

}  // namespace tessera::agents
