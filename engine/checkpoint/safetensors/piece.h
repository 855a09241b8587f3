// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Decides which piece is stored in which file of a checkpoint of the safetensors family.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/checkpoint/checkpoint.h"
#include "ptc/base/result.h"
#include "ptc/box.h"
#include "ptc/dtype.h"

namespace tessera::checkpoint {

/// A box of a tensor that is stored as one entry of one file.
struct Piece {
  std::string tensor;
  ptc::DType dtype = ptc::DType::kF32;
  ptc::Shape shape;                  // of the whole tensor
  std::optional<ptc::Box> box = {};  // nullopt if and only if the shape has no elements
  int shard = 0;                     // >= 0; used for kShardedSafetensors only
  friend bool operator==(const Piece&, const Piece&) = default;
};

/// The number of elements; 0 for an empty tensor.
std::int64_t NumElements(const Piece& piece);
/// The size; 0 if it is not a whole number of bytes, which PlanFiles refuses.
std::int64_t Bytes(const Piece& piece);
/// "'w' [0:2,0:4]".
std::string ToString(const Piece& piece);

/// Keeps each element once, although several shards may hold it. A box, or what other boxes leave
/// of it, is assigned to the holder with the fewest bytes so far, and among equals to the lowest
/// shard.
/// \return the pieces by shard, tensor and box
std::vector<Piece> StoreOnce(std::vector<Piece> held);

/// A file and the indices of the pieces in it.
struct PlannedFile {
  std::string name;
  std::vector<int> pieces;
  friend bool operator==(const PlannedFile&, const PlannedFile&) = default;
};

/// How whole tensors are distributed among files.
struct FileLimits {
  std::int64_t most_bytes = std::int64_t{5} << 30;  // for files of more than one tensor
  int count = 0;  // if above 0: this number of files, the largest as small as possible
};

/// Returns the files of a checkpoint.
/// - kSafetensors: `name` alone.
/// - kHuggingFace: `model.safetensors`, or `model-00001-of-0000N.safetensors` and so on, in the
///   order of the names of the tensors and within `limits`.
/// - kShardedSafetensors: `shard-0000S-model-0000i-of-0000N.safetensors`. S counts from 1. The i-th
///   box of a tensor in a shard is stored in the i-th file of the shard.
/// \error kInvalidArgument for pieces that do not tile their tensor, and for parts of tensors in a
///     format that stores only whole ones
Result<std::vector<PlannedFile>> PlanFiles(Format format, const std::string& name,
                                           const std::vector<Piece>& pieces,
                                           const FileLimits& limits);

}  // namespace tessera::checkpoint
