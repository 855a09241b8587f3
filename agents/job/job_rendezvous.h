// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The agents' rendezvous behind the interface of agents/train/comm.

#include <cstdint>

#include "agents/job/tessera_job.h"
#include "agents/train/comm/rendezvous.h"

namespace tessera::agents {

/// The rendezvous of one attempt of a job, through the rank library.
class JobRendezvous final : public train::Rendezvous {
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

}  // namespace tessera::agents
