// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A rendezvous for ranks that are threads of one process.

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>

#include "agents/job/tessera_job.h"
#include "agents/train/comm/rendezvous.h"

namespace tessera::test {

class LocalRendezvous final : public agents::train::Rendezvous {
 public:
  LocalRendezvous() = default;
  LocalRendezvous(const LocalRendezvous&) = delete;
  LocalRendezvous& operator=(const LocalRendezvous&) = delete;
  ~LocalRendezvous() override {
    for (const auto& [key, fd] : files_) ::close(fd);
  }

  Status Set(const std::string& key, std::span<const std::byte> value) override {
    const std::lock_guard lock(mutex_);
    values_[key].assign(value.begin(), value.end());
    changed_.notify_all();
    return OkStatus();
  }
  Result<std::vector<std::byte>> Get(const std::string& key,
                                     std::chrono::milliseconds timeout) override {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, timeout, [&] { return values_.contains(key) || abandoned_; });
    if (abandoned_) return Cancelled("abandoned");
    if (!values_.contains(key)) return tessera::Timeout("no key '" + key + "'");
    return values_.at(key);
  }
  Result<int> SharedMemory(const std::string& key, std::size_t size_bytes) override {
    const std::lock_guard lock(mutex_);
    auto [it, is_new] = files_.try_emplace(key, -1);
    if (is_new) {
      it->second = ::memfd_create(key.c_str(), MFD_CLOEXEC);
      if (::ftruncate(it->second, static_cast<off_t>(size_bytes)) != 0) {
        return ResourceExhausted("ftruncate");
      }
    }
    return ::dup(it->second);
  }
  bool Abandoned() const override { return abandoned_; }

  void Abandon() {
    const std::lock_guard lock(mutex_);
    abandoned_ = true;
    changed_.notify_all();
  }
  /// Names of the groups that asked for shared memory.
  std::vector<std::string> shared() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> names;
    for (const auto& [key, fd] : files_) names.push_back(key);
    return names;
  }
  bool has_keys() const {
    const std::lock_guard lock(mutex_);
    return !values_.empty();
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::vector<std::byte>> values_;
  std::map<std::string, int> files_;
  std::atomic<bool> abandoned_ = false;
};

/// A mesh of pp x dp x tp ranks as the rank library would show it, ranks spread evenly over
/// `hosts`.
class LocalMesh {
 public:
  LocalMesh(int dp, int tp, int hosts) : LocalMesh(1, dp, tp, hosts) {}
  LocalMesh(int pp, int dp, int tp, int hosts)
      : pp_(pp),
        dp_(dp),
        tp_(tp),
        hosts_(static_cast<std::size_t>(world())),
        addresses_(static_cast<std::size_t>(world()), "127.0.0.1") {
    for (int rank = 0; rank < world(); ++rank) {
      hosts_[static_cast<std::size_t>(rank)] = rank * hosts / world();
    }
  }
  int world() const { return pp_ * dp_ * tp_; }
  tessera_view View(int rank) const {
    tessera_view view{};
    view.epoch = 1;
    view.rank = rank;
    view.world = world();
    for (std::int64_t& size : view.axis_size) size = 1;
    view.axis_size[0] = pp_;
    view.axis_size[1] = dp_;
    view.axis_size[4] = tp_;
    view.axis_coord[0] = rank / (dp_ * tp_);
    view.axis_coord[1] = rank / tp_ % dp_;
    view.axis_coord[4] = rank % tp_;
    view.node_of_rank = view.host_of_rank = hosts_.data();
    view.address_of_rank = addresses_.data();
    return view;
  }

 private:
  int pp_, dp_, tp_;
  std::vector<std::int32_t> hosts_;
  std::vector<const char*> addresses_;
};

}  // namespace tessera::test
