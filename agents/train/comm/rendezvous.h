// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Where the ranks of one (epoch, attempt) find each other while they build their groups.

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "agents/job/tessera_job.h"
#include "ptc/base/result.h"

namespace tessera::agents::train {

/// \threadsafety Any thread.
class Rendezvous {
 public:
  virtual ~Rendezvous() = default;
  virtual Status Set(const std::string& key, std::span<const std::byte> value) = 0;
  /// Waits until the key is set. \error kTimeout; kCancelled once abandoned
  virtual Result<std::vector<std::byte>> Get(const std::string& key,
                                             std::chrono::milliseconds timeout) = 0;
  /// A zeroed shared-memory file, the same for all ranks of one host that name the same key. The
  /// caller closes the descriptor.
  virtual Result<int> SharedMemory(const std::string& key, std::size_t size_bytes) = 0;
  virtual bool Abandoned() const = 0;
};

/// The agents' rendezvous, through the rank library.
class JobRendezvous final : public Rendezvous {
 public:
  /// `job` outlives the rendezvous.
  JobRendezvous(tessera_job* job, std::int64_t epoch, std::int64_t attempt)
      : job_(job), epoch_(epoch), attempt_(attempt) {}
  Status Set(const std::string& key, std::span<const std::byte> value) override;
  Result<std::vector<std::byte>> Get(const std::string& key,
                                     std::chrono::milliseconds timeout) override;
  Result<int> SharedMemory(const std::string& key, std::size_t size_bytes) override;
  bool Abandoned() const override;

 private:
  tessera_job* job_;
  std::int64_t epoch_, attempt_;
};

}  // namespace tessera::agents::train
