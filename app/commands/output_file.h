// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A file that appears complete or not at all: it is written beside its place, then renamed.

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "ptc/base/result.h"

namespace tessera::app {

/// Standard output, or a file under a temporary name, which is removed unless Finish is called.
class OutputFile {
 public:
  /// \param path empty: standard output
  /// \param force replace an existing file
  /// \error kAlreadyExists naming the path; kUnavailable if it cannot be made
  static Result<OutputFile> Open(const std::string& path, bool force);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  /// \error kResourceExhausted if the disk is full; kUnavailable; both name the path
  Status Write(std::string_view text);
  /// Syncs the file and renames it to its place.
  /// \error as Write and Open
  Status Finish();

 private:
  OutputFile(std::string path, std::string fresh, std::FILE* file, bool force);
  Error Failure() const;

  std::string path_, fresh_;  // empty for standard output
  std::FILE* file_;
  bool force_;
};

}  // namespace tessera::app
