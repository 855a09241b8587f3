// SPDX-License-Identifier: Apache-2.0
#include "agents/move/move_context.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/copy/fused.h"
#include "ptc/digest.h"
#include "ptc/schedule/split_box.h"

namespace tessera::agents {
namespace {

Error MissingPiece(const MoveContext& c, ptc::DeviceId device, int tensor, const ptc::Box& box) {
  return Internal(fmt::format("{} has no piece of tensor '{}' with {}", ToString(device),
                              c.SpecOf(tensor).name, ToString(box)));
}

}  // namespace

DevicePieces OldPieces(const MoveContext& context, ptc::DeviceId device) {
  const MoveContext::Local& local = context.local.at(device);
  return {device, local.arena, &local.old_table};
}

DevicePieces NextPieces(const MoveContext& context, ptc::DeviceId device) {
  const MoveContext::Local& local = context.local.at(device);
  return {device, local.arena, &local.next_table};
}

Result<engine::CellView> ViewOfCell(const MoveContext& context, const DevicePieces& pieces,
                                    int tensor, const ptc::Box& piece, const ptc::Box& cell) {
  const engine::PieceEntry* entry = pieces.table->Find(engine::PieceEntry::kState, tensor, piece);
  if (!entry) return MissingPiece(context, pieces.device, tensor, piece);
  return engine::CellView(entry->box, cell, ptc::SizeBytes(context.SpecOf(tensor).dtype),
                          pieces.arena->data(entry->offset_bytes));
}

std::vector<ptc::Box> WorkOf(const MoveContext& context, int tensor, const ptc::Box& cell) {
  constexpr std::int64_t kMostBytes = std::int64_t{16} << 20;
  return ptc::SplitInOrder(cell, kMostBytes / ptc::SizeBytes(context.SpecOf(tensor).dtype));
}

Result<std::uint64_t> DigestOfCell(const MoveContext& context, const DevicePieces& pieces,
                                   int tensor, const ptc::Box& cell) {
  const engine::PieceEntry* entry = pieces.table->FindContaining(tensor, cell);
  if (!entry) return MissingPiece(context, pieces.device, tensor, cell);
  const ptc::TensorSpec& spec = context.SpecOf(tensor);
  return ptc::DigestBox(spec.dtype, spec.shape, entry->box, pieces.arena->data(entry->offset_bytes),
                        cell);
}

Result<SourceCell> ResolveSource(const std::shared_ptr<const MoveContext>& context,
                                 const LaneCell& cell) {
  const ptc::DeviceId device{context->node, cell.device};
  const auto& tensors = context->from.collection().tensors();
  const bool is_tensor = cell.tensor < std::ssize(tensors);
  const ptc::TensorSpec* spec = is_tensor ? &context->SpecOf(cell.tensor) : nullptr;
  const engine::PieceEntry* piece = nullptr;
  const bool is_lost =
      std::find(context->lost.begin(), context->lost.end(), device) != context->lost.end();
  if (spec && cell.box.rank() == std::ssize(spec->shape) && context->local.contains(device) &&
      !is_lost) {
    piece = OldPieces(*context, device).table->FindContaining(cell.tensor, cell.box);
  }
  if (!piece) {
    return NotFound(fmt::format(
        "{} does not hold {} {}", ToString(device),
        spec ? fmt::format("tensor '{}'", spec->name) : fmt::format("tensor {}", cell.tensor),
        ToString(cell.box)));
  }
  const DevicePieces pieces = OldPieces(*context, device);
  return SourceCell{engine::CellView(piece->box, cell.box, ptc::SizeBytes(spec->dtype),
                                     pieces.arena->data(piece->offset_bytes)),
                    engine::IndicesOf(spec->dtype, spec->shape, cell.box),
                    std::const_pointer_cast<MoveContext>(context)};
}

}  // namespace tessera::agents
