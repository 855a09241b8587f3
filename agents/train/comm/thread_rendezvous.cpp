// SPDX-License-Identifier: Apache-2.0
#include "agents/train/comm/thread_rendezvous.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tessera::agents::train {

ThreadRendezvous::~ThreadRendezvous() {
  for (const auto& [key, fd] : files_) ::close(fd);
}

Status ThreadRendezvous::Set(const std::string& key, std::span<const std::byte> value) {
  const std::lock_guard lock(mutex_);
  values_[key].assign(value.begin(), value.end());
  changed_.notify_all();
  return OkStatus();
}

Result<std::vector<std::byte>> ThreadRendezvous::Get(const std::string& key,
                                                     std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, timeout, [&] { return values_.contains(key) || abandoned_; });
  if (abandoned_) return Cancelled(fmt::format("abandoned while waiting for '{}'", key));
  const auto value = values_.find(key);
  if (value == values_.end()) {
    return Timeout(fmt::format("no rank has set '{}' within {} ms", key, timeout.count()));
  }
  return value->second;
}

Result<int> ThreadRendezvous::SharedMemory(const std::string& key, std::size_t size_bytes) {
  const std::lock_guard lock(mutex_);
  const auto cannot = [&] {
    return ResourceExhausted(fmt::format("no {} bytes of shared memory for '{}': {}", size_bytes,
                                         key, std::strerror(errno)));
  };
  auto file = files_.find(key);
  if (file == files_.end()) {
    const int fd = ::memfd_create("tessera-group", MFD_CLOEXEC);
    if (fd < 0) return cannot();
    file = files_.emplace(key, fd).first;
    if (::ftruncate(fd, static_cast<off_t>(size_bytes)) != 0) return cannot();
  }
  const int copy = ::fcntl(file->second, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) return cannot();
  return copy;
}

void ThreadRendezvous::Abandon() {
  const std::lock_guard lock(mutex_);
  abandoned_ = true;
  changed_.notify_all();
}

std::vector<std::string> ThreadRendezvous::shared() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [key, fd] : files_) names.push_back(key);
  return names;
}

bool ThreadRendezvous::has_keys() const {
  const std::lock_guard lock(mutex_);
  return !values_.empty();
}

}  // namespace tessera::agents::train
