// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A rendezvous for ranks that are threads of one process, in a probe or a test.

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>

#include "agents/train/comm/rendezvous.h"

namespace tessera::agents::train {

class ThreadRendezvous final : public Rendezvous {
 public:
  ThreadRendezvous() = default;
  ThreadRendezvous(const ThreadRendezvous&) = delete;
  ThreadRendezvous& operator=(const ThreadRendezvous&) = delete;
  ~ThreadRendezvous() override;

  Status Set(const std::string& key, std::span<const std::byte> value) override;
  Result<std::vector<std::byte>> Get(const std::string& key,
                                     std::chrono::milliseconds timeout) override;
  /// The memory is freed with the last descriptor and mapping.
  Result<int> SharedMemory(const std::string& key, std::size_t size_bytes) override;
  bool Abandoned() const override { return abandoned_; }

  /// Ends all waits, now and later.
  void Abandon();
  /// Returns the keys of the shared memory that was requested, sorted.
  std::vector<std::string> shared() const;
  /// Whether any key was set.
  bool has_keys() const;

 private:
  mutable std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  std::map<std::string, std::vector<std::byte>> values_;
  std::map<std::string, int> files_;
  std::atomic<bool> abandoned_ = false;
};

}  // namespace tessera::agents::train
