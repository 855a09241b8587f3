// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What goes into which file of a checkpoint of the safetensors family.

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
  std::optional<ptc::Box> box = {};  // nullopt exactly where the shape has no elements
  int shard = 0;                     // >= 0; read for kShardedSafetensors only
  friend bool operator==(const Piece&, const Piece&) = default;
};

/// Elements of the piece, 0 for an empty tensor.
std::int64_t NumElements(const Piece& piece);
/// 0 where the piece is no whole number of bytes: PlanFiles refuses it.
std::int64_t Bytes(const Piece& piece);
/// "'w' [0:2,0:4]".
std::string ToString(const Piece& piece);

/// Of pieces that several shards hold, keeps one of each element: a box, or what other boxes leave
/// of it, goes to that of its holders that has the fewest bytes so far, the lowest of equals.
/// \returns the pieces by shard, tensor and box
std::vector<Piece> StoreOnce(std::vector<Piece> held);

/// One file and what lies in it, by index.
struct PlannedFile {
  std::string name;
  std::vector<int> pieces;
  friend bool operator==(const PlannedFile&, const PlannedFile&) = default;
};

/// How whole tensors are dealt to files.
struct FileLimits {
  std::int64_t most_bytes = std::int64_t{5} << 30;  // of tensors, in a file of more than one
  int count = 0;  // above 0: so many files instead, the largest as small as can be
};

/// Which files a checkpoint has. kSafetensors: `name` alone. kHuggingFace: `model.safetensors`, or
/// `model-00001-of-0000N.safetensors` and so on in the order of the tensors' names, each with at
/// most what `limits` says. kShardedSafetensors:
/// `shard-0000S-model-0000i-of-0000N.safetensors`, where the i-th box of a tensor in a shard lies
/// in the shard's i-th file; S counts from 1. \error kInvalidArgument: pieces that do not tile
/// their tensor, or are no whole tensors where
///     the format has only these
Result<std::vector<PlannedFile>> PlanFiles(Format format, const std::string& name,
                                           const std::vector<Piece>& pieces,
                                           const FileLimits& limits);

}  // namespace tessera::checkpoint
