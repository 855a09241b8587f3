// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The agent's log: a file of limited size, and a few older files beside it.

#include <cstdint>
#include <string>

#include "ptc/base/result.h"

namespace tessera::agents {

/// FILE is the newest, then FILE.1 … FILE.4.
/// \threadsafety One thread.
class LogFile {
 public:
  static constexpr std::int64_t kMaxBytes = 10'000'000;
  static constexpr int kFiles = 5;

  /// Appends stdout and stderr of this process to `path` from now on.
  /// \error kUnavailable naming the file
  static Result<LogFile> Redirect(std::string path, std::int64_t max_bytes = kMaxBytes);
  /// Starts a new file if the newest has reached its size, and deletes the oldest. To be called
  /// regularly.
  /// \error kUnavailable; the old file then remains in use
  Status RotateIfFull();

 private:
  LogFile(std::string path, std::int64_t max_bytes)
      : path_(std::move(path)), max_bytes_(max_bytes) {}
  Status Open();

  std::string path_;
  std::int64_t max_bytes_;
};

}  // namespace tessera::agents
