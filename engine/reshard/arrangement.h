// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Decides which file of the destination holds which box of which tensor, before a byte is read.

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

/// A tensor as the destination stores it.
struct OutTensor {
  std::string name;
  ptc::DType dtype = ptc::DType::kF32;
  ptc::Shape shape;
};
/// The size of the whole tensor.
/// \pre it has a ByteCount
std::int64_t BytesOf(const OutTensor& tensor);

/// Where the bytes of a piece begin.
struct PieceLocation {
  int file = 0;
  std::int64_t offset = 0;  // bytes from the end of the file's header
};

struct OutFile {
  std::string name;
  std::vector<int> pieces;         // in the order of their bytes
  checkpoint::Header header = {};  // the tensors with their offsets
};

struct Arrangement {
  std::vector<checkpoint::Piece> pieces;
  std::vector<std::optional<ptc::Box>> units;  // the box of each piece in units (ptc/packed.h)
  std::vector<PieceLocation> locations;        // of each piece
  std::vector<std::vector<int>> of_tensor;     // the pieces of each tensor, by box
  std::vector<OutFile> files;
};

/// Stores every tensor whole.
/// \param name of the file, for kSafetensors
/// \error those of checkpoint::PlanFiles and AssignOffsets
Result<Arrangement> WholeTensors(const std::vector<OutTensor>& tensors, checkpoint::Format format,
                                 const std::string& name, const checkpoint::FileLimits& limits);

/// Stores the boxes of a layout, one shard per rank. A box that several ranks hold is stored once
/// (checkpoint::StoreOnce). The dtypes of the layout are not used.
/// \error kInvalidArgument naming a tensor that the layout lacks or has in another shape
Result<Arrangement> Shards(const std::vector<OutTensor>& tensors, const ptc::Layout& layout);

}  // namespace tessera::reshard
