// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Finds the elements of a chunk in the torch.save archive that holds it.

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/open_files.h"
#include "engine/checkpoint/torch/torch_file.h"

namespace tessera::checkpoint {

/// Opens each archive once and remembers the tensor in it. Any thread may call it.
class ChunkLocator {
 public:
  explicit ChunkLocator(std::vector<std::string> paths) : paths_(paths), files_(std::move(paths)) {}
  /// Returns the box with the offset and the strides of its elements.
  /// \error "FILE: byte N: …" for what TorchFile::Open refuses, for an object that is not a tensor,
  ///     and for a tensor whose dtype or shape is not that of the box
  Result<StoredBox> Locate(const StoredTensor& tensor, const StoredBox& box) const;

 private:
  /// The tensor of the archive; nullopt if it holds another object.
  Result<std::optional<SavedTensor>> Open(const StoredBox& box) const;

  /// Where an archive lies: file, offset, bytes.
  using ArchiveKey = std::tuple<int, std::int64_t, std::int64_t>;
  const std::vector<std::string> paths_;
  const OpenFiles files_;
  mutable std::mutex mutex_;
  /// Guarded by mutex_. Several boxes, of any dtype and shape, may name one archive, so each box is
  /// compared with what the archive holds.
  mutable std::map<ArchiveKey, std::optional<SavedTensor>> opened_;
};

}  // namespace tessera::checkpoint
