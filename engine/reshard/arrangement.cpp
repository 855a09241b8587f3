// SPDX-License-Identifier: Apache-2.0
#include "engine/reshard/arrangement.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "ptc/base/check.h"
#include "ptc/packed.h"

namespace tessera::reshard {
namespace {

using checkpoint::Format;
using checkpoint::Piece;

/// Assigns a file and an offset to every piece.
Result<Arrangement> Arrange(const std::vector<OutTensor>& tensors, std::vector<Piece> pieces,
                            Format format, const std::string& name,
                            const checkpoint::FileLimits& limits) {
  TESSERA_TRY(const auto files, checkpoint::PlanFiles(format, name, pieces, limits));
  Arrangement out;
  out.locations.resize(pieces.size());
  for (std::size_t f = 0; f < files.size(); ++f) {
    OutFile file{files[f].name, files[f].pieces};
    std::map<std::string_view, int> by_name;  // a file has at most one piece of a tensor
    for (const int p : file.pieces) {
      const Piece& piece = pieces[static_cast<std::size_t>(p)];
      by_name.emplace(piece.tensor, p);
      file.header.tensors.push_back(
          {piece.tensor, piece.dtype, piece.box ? piece.box->shape() : piece.shape});
    }
    TESSERA_RETURN_IF_ERROR(checkpoint::AssignOffsets(file.header.tensors));
    file.pieces.clear();
    for (const checkpoint::FileTensor& stored : file.header.tensors) {
      const int p = by_name.at(stored.name);
      file.pieces.push_back(p);
      out.locations[static_cast<std::size_t>(p)] = {static_cast<int>(f), stored.begin};
    }
    out.files.push_back(std::move(file));
  }
  std::map<std::string_view, std::size_t> index;
  for (std::size_t t = 0; t < tensors.size(); ++t) index.emplace(tensors[t].name, t);
  out.of_tensor.resize(tensors.size());
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    out.of_tensor[index.at(pieces[p].tensor)].push_back(static_cast<int>(p));
  }
  for (std::vector<int>& of_tensor : out.of_tensor) {
    std::ranges::sort(of_tensor, {},
                      [&](int p) { return pieces[static_cast<std::size_t>(p)].box; });
  }
  for (const Piece& piece : pieces) {
    out.units.emplace_back();
    if (!piece.box) continue;
    TESSERA_TRY(out.units.back(), ptc::UnitBox(piece.dtype, piece.shape, *piece.box));
  }
  out.pieces = std::move(pieces);
  return out;
}

/// Adds the pieces of one tensor that each rank holds, replicas included.
void AddHeld(const OutTensor& tensor, const ptc::Layout& layout, int index,
             std::vector<Piece>& held) {
  const ptc::Parts parts = layout.PartsOf(index);
  const ptc::DeviceMesh& mesh = layout.mesh();
  for (int rank = 0; rank < mesh.num_ranks(); ++rank) {
    if (!std::ranges::binary_search(parts.stages, mesh.Coordinate(rank, ptc::Axis::kPp))) continue;
    for (const ptc::Box& box : parts.boxes[layout.PartIndex(rank, parts)]) {
      held.push_back({tensor.name, tensor.dtype, tensor.shape, box, rank});
    }
  }
}

}  // namespace

std::int64_t BytesOf(const OutTensor& tensor) {
  const auto bytes = ptc::ByteCount(tensor.dtype, tensor.shape);
  TESSERA_CHECK(bytes.has_value());
  return *bytes;
}

Result<Arrangement> WholeTensors(const std::vector<OutTensor>& tensors, Format format,
                                 const std::string& name, const checkpoint::FileLimits& limits) {
  std::vector<Piece> pieces;
  for (const OutTensor& tensor : tensors) {
    pieces.push_back({tensor.name, tensor.dtype, tensor.shape, ptc::Box::Whole(tensor.shape)});
  }
  return Arrange(tensors, std::move(pieces), format, name, limits);
}

Result<Arrangement> Shards(const std::vector<OutTensor>& tensors, const ptc::Layout& layout) {
  std::vector<Piece> held;
  for (const OutTensor& tensor : tensors) {
    const auto index = layout.collection().Find(tensor.name);
    if (!index) {
      return InvalidArgument(fmt::format("the layout has no tensor '{}'", tensor.name));
    }
    const ptc::Shape& shape = layout.collection().tensors()[static_cast<std::size_t>(*index)].shape;
    if (shape != tensor.shape) {
      return InvalidArgument(fmt::format("tensor '{}' is {} in the checkpoint and {} in the layout",
                                         tensor.name, ptc::ToString(tensor.shape),
                                         ptc::ToString(shape)));
    }
    if (ptc::Box::Whole(shape)) {
      AddHeld(tensor, layout, *index, held);
    } else {
      held.push_back({tensor.name, tensor.dtype, tensor.shape});
    }
  }
  return Arrange(tensors, checkpoint::StoreOnce(std::move(held)), Format::kShardedSafetensors, {},
                 {});
}

}  // namespace tessera::reshard
