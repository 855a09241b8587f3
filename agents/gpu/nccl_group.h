// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Devices of several processes that exchange bytes by NCCL.

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "agents/gpu/cuda_device.h"
#include "agents/gpu/nccl_library.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// \threadsafety One thread at a time. Its calls may be stopped from any thread.
class NcclGroup {
 public:
  /// The devices of this process by their ranks.
  using Local = std::map<int, std::shared_ptr<const CudaDevice>>;

  /// Where the processes of a new group meet: a short string for all of them. The process that has
  /// made it has to live until all have joined.
  /// \error kUnavailable
  static Result<std::string> NewMeeting();
  /// Joins with devices of this process. Waits for all others.
  /// \pre !local.empty(); every rank in [0, num_ranks) is in exactly one process
  /// \error kUnavailable with NCCL's words; kCancelled; kInvalidArgument for a meeting that
  ///     NewMeeting has not returned
  static Result<std::unique_ptr<NcclGroup>> Join(const std::string& meeting, int num_ranks,
                                                 const Local& local, const std::stop_token& stop);
  NcclGroup(const NcclGroup&) = delete;
  NcclGroup& operator=(const NcclGroup&) = delete;
  /// Ends it without waiting for others.
  ~NcclGroup() { Abort(); }

  /// Work of one device of this process. Bytes of a device go out and come in on `queue`, after
  /// what it was given before.
  struct Transfer {
    int rank = 0;
    int peer = 0;
    std::uint64_t address = 0;
    std::int64_t bytes = 0;
    bool is_send = false;
    CudaQueue* queue = nullptr;  // of the device with this rank
  };
  /// Carries out all of them at the same time, and waits. The peers make the calls that fit, in the
  /// same order. After an error the group is of no more use.
  /// The first bytes between two devices connect them, which takes NCCL longer than most transfers.
  /// \error kUnavailable with NCCL's words or the device's; kTimeout if a peer stops; kCancelled
  Status Run(std::span<const Transfer> transfers, const std::stop_token& stop);

 private:
  struct Member {
    std::shared_ptr<const CudaDevice> device;
    nccl::Communicator communicator = nullptr;
  };
  explicit NcclGroup(std::shared_ptr<const NcclLibrary> nccl) : nccl_(std::move(nccl)) {}
  void Abort();
  Status TryRun(std::span<const Transfer> transfers, const std::stop_token& stop);
  using Deadline = std::chrono::steady_clock::time_point;
  /// Until NCCL has carried out its last calls, which is not the work on streams.
  Status WaitForCalls(const char* call, Deadline until, const std::stop_token& stop) const;
  Status WaitForStreams(std::vector<CudaQueue*> queues, Deadline until,
                        const std::stop_token& stop) const;

  const std::shared_ptr<const NcclLibrary> nccl_;
  std::map<int, Member> members_;
};

}  // namespace tessera::agents
