// SPDX-License-Identifier: Apache-2.0
#include "agents/checkpoint/share_files.h"

#include <algorithm>
#include <map>
#include <utility>

#include "engine/checkpoint/safetensors/piece.h"
#include "ptc/digest.h"

namespace tessera::agents {
namespace {

/// A multiple of the cache line, so that tensors are aligned for any vector instruction.
constexpr std::int64_t kHeadAlignment = 64;

/// By device of the layout, ascending.
std::map<ptc::DeviceId, int> ShardsOf(const ptc::Layout& layout) {
  std::vector<ptc::DeviceId> devices = layout.mesh().devices();
  std::ranges::sort(devices);
  std::map<ptc::DeviceId, int> out;
  for (const ptc::DeviceId device : devices) out.emplace(device, static_cast<int>(out.size()));
  return out;
}

std::vector<std::int64_t> BeginOf(const ptc::Box& box) {
  std::vector<std::int64_t> out;
  for (int d = 0; d < box.rank(); ++d) out.push_back(box[d].begin);
  return out;
}

}  // namespace

Result<std::string> ShareFile::Head(const std::vector<std::uint64_t>& digests) const {
  checkpoint::Header full = header;
  full.metadata[std::string(checkpoint::kDigestListKey)] = checkpoint::PrintDigestList(digests);
  full.metadata[std::string(checkpoint::kDigestAlgorithmKey)] = ptc::kDigestAlgorithm;
  return checkpoint::PrintHeader(full, kHeadAlignment);
}

Result<std::vector<ShareFile>> PlanShareFiles(const ptc::Layout& layout,
                                              const engine::ViewPlan& plan, std::int32_t node) {
  const auto& specs = layout.collection().tensors();
  const std::map<ptc::DeviceId, int> shards = ShardsOf(layout);
  std::vector<checkpoint::Piece> pieces;
  std::vector<const engine::ViewCell*> cells;
  for (const engine::ViewCell& cell : plan.cells()) {
    const ptc::TensorSpec& spec = specs[static_cast<std::size_t>(cell.tensor)];
    pieces.push_back({spec.name, spec.dtype, spec.shape, cell.box, shards.at(cell.device)});
    cells.push_back(&cell);
  }
  for (std::size_t t = 0; t < specs.size(); ++t) {
    if (!plan.CellsOf(static_cast<int>(t)).empty()) continue;
    pieces.push_back({specs[t].name, specs[t].dtype, specs[t].shape, {}, 0});
    cells.push_back(nullptr);
  }
  TESSERA_TRY(const std::vector<checkpoint::PlannedFile> files,
              checkpoint::PlanFiles(checkpoint::Format::kShardedSafetensors, {}, pieces, {}));
  const ptc::DeviceId first = shards.begin()->first;
  std::vector<ShareFile> out;
  for (const checkpoint::PlannedFile& file : files) {
    const engine::ViewCell* const any = cells[static_cast<std::size_t>(file.pieces.front())];
    if ((any ? any->device : first).node != node) continue;
    ShareFile& mine = out.emplace_back();
    mine.name = file.name;
    checkpoint::Offsets offsets;
    std::map<std::string, const engine::ViewCell*> cell_of;
    for (const int index : file.pieces) {
      const checkpoint::Piece& piece = pieces[static_cast<std::size_t>(index)];
      mine.header.tensors.push_back(
          {piece.tensor, piece.dtype, piece.box ? piece.box->shape() : piece.shape});
      offsets[piece.tensor] =
          piece.box ? BeginOf(*piece.box) : std::vector<std::int64_t>(piece.shape.size(), 0);
      cell_of[piece.tensor] = cells[static_cast<std::size_t>(index)];
    }
    TESSERA_RETURN_IF_ERROR(checkpoint::AssignOffsets(mine.header.tensors));
    for (const checkpoint::FileTensor& tensor : mine.header.tensors) {
      mine.cells.push_back(cell_of[tensor.name]);
    }
    mine.header.metadata["format"] = "pt";
    mine.header.metadata[std::string(checkpoint::kVersionKey)] = "1.0";
    mine.header.metadata[std::string(checkpoint::kShardingKey)] = checkpoint::PrintOffsets(offsets);
    TESSERA_TRY(const std::string head,
                mine.Head(std::vector<std::uint64_t>(mine.header.tensors.size(), 0)));
    mine.header.data_begin = std::ssize(head);
    mine.size_bytes = mine.header.data_begin + mine.header.tensors.back().end;
  }
  return out;
}

}  // namespace tessera::agents
