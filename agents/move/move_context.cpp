// SPDX-License-Identifier: Apache-2.0
#include "agents/move/move_context.h"

#include <fmt/format.h>

#include "ptc/digest.h"

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

Result<std::uint64_t> DigestOfCell(const MoveContext& context, const DevicePieces& pieces,
                                   int tensor, const ptc::Box& cell) {
  const engine::PieceEntry* entry = pieces.table->FindContaining(tensor, cell);
  if (!entry) return MissingPiece(context, pieces.device, tensor, cell);
  const ptc::TensorSpec& spec = context.SpecOf(tensor);
  return ptc::DigestBox(spec.dtype, spec.shape, entry->box, pieces.arena->data(entry->offset_bytes),
                        cell);
}

Result<SourceCell> ResolveSource(const std::shared_ptr<const MoveContext>& context,
                                 std::int64_t move) {
  const auto& moves = context->plan.moves;
  if (move < 0 || move >= std::ssize(moves)) {
    return NotFound(fmt::format("move {} of a plan of {} moves", move, moves.size()));
  }
  const auto* copy = std::get_if<ptc::RemoteCopy>(&moves[static_cast<std::size_t>(move)]);
  if (!copy || copy->forwarded || !context->local.contains(copy->source)) {
    return NotFound(fmt::format("move {} does not start on n{}", move, context->node));
  }
  const DevicePieces pieces = OldPieces(*context, copy->source);
  TESSERA_TRY(const engine::CellView view,
              ViewOfCell(*context, pieces, copy->tensor, copy->from, copy->cell));
  SourceCell cell{view, {}, {}};
  cell.digest = [context, copy, pieces] {
    const auto digest = DigestOfCell(*context, pieces, copy->tensor, copy->cell);
    return digest ? *digest : 0;
  };
  cell.keep_alive = std::const_pointer_cast<MoveContext>(context);
  return cell;
}

}  // namespace tessera::agents
