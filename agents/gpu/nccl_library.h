// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// NCCL, loaded at run time.

#include <memory>
#include <string>

#include "agents/gpu/nccl_api.h"
#include "ptc/base/result.h"

namespace tessera::agents {

/// The functions of libnccl.so.2. Immutable; one per process.
class NcclLibrary {
 public:
  /// \error kUnavailable: there is none, or it lacks a function
  static Result<std::shared_ptr<const NcclLibrary>> Get();

  const nccl::Functions& api() const { return api_; }
  int version() const { return version_; }
  /// `2.28.3`, with ` (emulated)` behind it where it is.
  std::string VersionText() const;
  /// OK also while the call is under way; otherwise `NCCL: CALL: words (code)`.
  /// \error kUnavailable
  Status Check(nccl::Code code, const char* call) const;

 private:
  NcclLibrary() = default;
  static Result<std::shared_ptr<const NcclLibrary>> Load();

  nccl::Functions api_;
  int version_ = 0;
  nccl::Emulation* emulation_ = nullptr;  // not null: nothing of NVIDIA is behind the functions
};

}  // namespace tessera::agents
