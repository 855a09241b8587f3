// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The CUDA driver of this machine, loaded at run time.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "agents/gpu/driver_api.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// A device as the driver describes it.
struct CudaDeviceInfo {
  int number = 0;
  std::string name;
  std::string uuid;  // hexadecimal, as in nvidia-smi without dashes and prefix
  std::int64_t total_bytes = 0;
  int compute_major = 0, compute_minor = 0;
  bool has_shareable_memory = false;  // memory of one process can be mapped by another
  std::vector<int> peers;             // devices whose memory it can reach directly
};

/// The functions of libcuda.so.1. Immutable; one per process.
class CudaDriver {
 public:
  /// Loads and initializes the driver at the first call; later calls have the same result.
  /// \error kUnavailable if the machine has no driver, or the driver is too old or finds no device
  static Result<std::shared_ptr<const CudaDriver>> Get();

  const cuda::Functions& api() const { return api_; }
  /// 13000 for CUDA 13.0.
  int version() const { return version_; }
  /// `13.0`, with ` (emulated)` behind it where no GPU is behind the driver.
  std::string VersionText() const;
  /// Whether this driver only emulates devices, for tests.
  bool is_emulated() const { return allow_host_access_ != nullptr; }
  /// Lets host code of this process use device memory, which only emulated devices can do.
  /// \pre is_emulated()
  void AllowHostAccess() const {
    allow_host_access_();
    has_host_access_ = true;
  }
  bool has_host_access() const { return has_host_access_; }

  /// \error kUnavailable
  Result<int> NumDevices() const;
  /// \error kUnavailable; kInvalidArgument for a number that no device has
  Result<CudaDeviceInfo> Describe(int number) const;

  /// OK for kSuccess, otherwise `CUDA: WHAT: out of memory (2)`: kResourceExhausted for memory,
  /// kUnavailable for everything else.
  Status Check(cuda::Code code, const std::string& what) const;

 private:
  CudaDriver() = default;
  static Result<std::shared_ptr<const CudaDriver>> Load();

  cuda::Functions api_;
  int version_ = 0;
  cuda::AllowHostAccess* allow_host_access_ = nullptr;
  mutable std::atomic<bool> has_host_access_ = false;
};

}  // namespace tessera::agents
