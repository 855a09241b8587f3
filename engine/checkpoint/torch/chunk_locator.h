// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Finds the elements of a chunk in the archive of torch.save that holds it.

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/open_files.h"

namespace tessera::checkpoint {

/// Each archive is looked at once. Any thread may call it.
class ChunkLocator {
 public:
  explicit ChunkLocator(std::vector<std::string> files) : files_(std::move(files)) {}
  /// The box with the offset and strides of its elements.
  /// \error "FILE: byte N: …": what TorchFile::Open refuses, an object that is no tensor or one of
  ///     another dtype or shape than the box
  Result<StoredBox> Locate(const StoredTensor& tensor, const StoredBox& box) const;

 private:
  Result<StoredBox> Look(const StoredTensor& tensor, const StoredBox& box) const;

  struct Place {
    std::int64_t offset = 0;
    std::vector<std::int64_t> strides = {};
  };
  OpenFiles files_;
  mutable std::mutex mutex_;
  mutable std::map<std::pair<int, std::int64_t>, Place> places_;  // guarded by mutex_
};

}  // namespace tessera::checkpoint
