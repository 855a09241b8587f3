// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Which file of the destination holds which box of which tensor, before a byte is read.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/checkpoint/safetensors/header.h"
#include "engine/checkpoint/safetensors/piece.h"
#include "ptc/base/result.h"
#include "ptc/box.h"
#include "ptc/dtype.h"
#include "ptc/layout.h"

namespace tessera::reshard {

/// A tensor as the destination has it.
struct OutTensor {
  std::string name;
  ptc::DType dtype = ptc::DType::kF32;
  ptc::Shape shape;
};
/// Bytes of a whole tensor. \pre it has a ByteCount
std::int64_t BytesOf(const OutTensor& tensor);

/// Where a piece lies.
struct Place {
  int file = 0;
  std::int64_t offset = 0;  // bytes from the end of the file's header
};

struct OutFile {
  std::string name;
  std::vector<int> pieces;         // in the order of their bytes
  checkpoint::Header header = {};  // the tensors in their places
};

struct Arrangement {
  std::vector<checkpoint::Piece> pieces;
  std::vector<std::optional<ptc::Box>> units;  // a piece: its box in units (ptc/packed.h)
  std::vector<Place> places;                   // a piece
  std::vector<std::vector<int>> of_tensor;     // the pieces of each tensor, by box
  std::vector<OutFile> files;
};

/// Whole tensors. \param name of the file, for kSafetensors
/// \error that of checkpoint::PlanFiles and PlaceTensors
Result<Arrangement> WholeTensors(const std::vector<OutTensor>& tensors, checkpoint::Format format,
                                 const std::string& name, const checkpoint::FileLimits& limits);

/// The boxes of a layout, those of each rank in a shard of its own, and what several ranks hold
/// once (checkpoint::StoreOnce). The layout's dtypes do not matter.
/// \error kInvalidArgument naming the tensor that the layout lacks or has in another shape
Result<Arrangement> Shards(const std::vector<OutTensor>& tensors, const ptc::Layout& layout);

}  // namespace tessera::reshard
