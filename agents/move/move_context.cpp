// SPDX-License-Identifier: Apache-2.0
#include "agents/move/move_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include "engine/copy/fused.h"
#include "ptc/base/overloaded.h"
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
  const bool is_saved = context.is_saved && local.saved;
  return {device, local.arena, is_saved ? &*local.saved : &local.old_table};
}

DevicePieces NextPieces(const MoveContext& context, ptc::DeviceId device) {
  const MoveContext::Local& local = context.local.at(device);
  return {device, local.arena, &local.next_table};
}

ptc::DroppedGroups DroppedReplicasOf(const MoveContext& context, const ptc::DeviceCells& held) {
  const ptc::DeviceCells needed(context.from, context.to, ptc::CellOwners::kNeeders);
  ptc::DroppedGroups out;
  for (const auto& [device, local] : context.local) {
    out.emplace(device, ptc::DroppedReplicas(held, needed, device));
  }
  return out;
}

Result<const MoveContext::Remote*> FindNode(const MoveContext& context, std::int32_t node) {
  const auto found = context.nodes.find(node);
  if (found == context.nodes.end()) {
    return Unavailable(fmt::format("nobody says where n{} is", node));
  }
  return &found->second;
}

Result<engine::DeviceCell> FindCell(const MoveContext& context, const DevicePieces& pieces,
                                    int tensor, const ptc::Box& piece, const ptc::Box& cell) {
  const engine::PieceEntry* entry = pieces.table->Find(context.kind, tensor, piece);
  if (!entry) return MissingPiece(context, pieces.device, tensor, piece);
  return pieces.arena->CellAt(entry->offset_bytes, entry->box, cell,
                              ptc::SizeBytes(context.TypeOf(tensor)));
}

std::vector<ptc::Box> WorkOf(const MoveContext& context, int tensor, const ptc::Box& cell) {
  // A GPU works on a range with all that it has, and each range costs a few calls.
  constexpr std::int64_t kMostBytes = std::int64_t{16} << 20, kMostBytesOfGpu = 16 * kMostBytes;
  const bool is_on_gpu =
      !context.local.empty() &&
      context.local.begin()->second.arena->memory_kind() == engine::MemoryKind::kCuda;
  const std::int64_t most = is_on_gpu ? kMostBytesOfGpu : kMostBytes;
  return ptc::SplitInOrder(cell, most / ptc::SizeBytes(context.TypeOf(tensor)));
}

Result<std::uint64_t> DigestOfCell(const MoveContext& context, const DevicePieces& pieces,
                                   int tensor, const ptc::Box& cell) {
  const engine::PieceEntry* entry = pieces.table->FindContaining(tensor, cell, context.kind);
  if (!entry) return MissingPiece(context, pieces.device, tensor, cell);
  const ptc::TensorSpec& spec = context.SpecOf(tensor);
  const ptc::DType type = context.TypeOf(tensor);
  return pieces.arena->CellAt(entry->offset_bytes, entry->box, cell, ptc::SizeBytes(type))
      .Digest(engine::IndicesOf(type, spec.shape, cell));
}

std::shared_ptr<const MoveContext> GradientsOf(const MoveContext& state) {
  auto out = std::make_shared<MoveContext>(state);
  out->kind = engine::PieceEntry::kGradient;
  ptc::DeviceMoves moves;
  for (const ptc::Move& move : state.plan->moves) {
    std::visit(Overloaded{
                   [](const ptc::Keep&) {},  // it stays beside its parameter
                   [](const ptc::Drop&) {},
                   [&](const auto& copy) {
                     if (state.SpecOf(copy.tensor).role == ptc::TensorRole::kParam) {
                       moves.moves.push_back(copy);
                     }
                   },
               },
               move);
  }
  out->plan = std::make_shared<const ptc::DeviceMoves>(std::move(moves));
  return out;
}

std::shared_ptr<const MoveContext> SavedGradientsOf(const MoveContext& state) {
  auto out = std::make_shared<MoveContext>(*GradientsOf(state));
  out->is_saved = true;
  return out;
}

std::shared_ptr<const MoveContext> LegOf(const MoveContext& all, int leg,
                                         std::span<const int> tensors) {
  const auto is_of = [&](const auto& move) {
    return std::binary_search(tensors.begin(), tensors.end(), move.tensor);
  };
  auto out = std::make_shared<MoveContext>(all);
  out->leg = leg;
  ptc::DeviceMoves moves;
  for (const ptc::Move& move : all.plan->moves) {
    if (std::visit(is_of, move)) moves.moves.push_back(move);
  }
  std::ranges::copy_if(all.plan->reads, std::back_inserter(moves.reads), is_of);
  out->plan = std::make_shared<const ptc::DeviceMoves>(std::move(moves));
  return out;
}

Result<SourceCell> ResolveSource(const std::shared_ptr<const MoveContext>& context,
                                 const LaneCell& cell) {
  const ptc::DeviceId device{context->node, cell.device};
  const auto& tensors = context->from.collection().tensors();
  const auto num_tensors = static_cast<int>(tensors.size());
  const bool is_gradient = cell.tensor >= num_tensors;
  const bool is_saved = cell.tensor / 2 >= num_tensors;
  const int tensor = cell.tensor - (is_saved ? 2 : is_gradient ? 1 : 0) * num_tensors;
  const bool is_tensor = 0 <= tensor && tensor < num_tensors;
  const ptc::TensorSpec* spec = is_tensor ? &context->SpecOf(tensor) : nullptr;
  const auto kind = is_gradient ? engine::PieceEntry::kGradient : engine::PieceEntry::kState;
  const engine::PieceEntry* piece = nullptr;
  const bool is_lost =
      std::find(context->lost.begin(), context->lost.end(), device) != context->lost.end();
  if (spec && cell.box.rank() == std::ssize(spec->shape) && context->local.contains(device) &&
      !is_lost) {
    const MoveContext::Local& local = context->local.at(device);
    const engine::PieceTable* const table = !is_saved     ? &local.old_table
                                            : local.saved ? &*local.saved
                                                          : nullptr;
    if (table) piece = table->FindContaining(tensor, cell.box, kind);
  }
  if (!piece) {
    return NotFound(fmt::format(
        "{} does not hold {}{} {}", ToString(device),
        is_saved      ? "the kept gradient of "
        : is_gradient ? "the gradient of "
                      : "",
        spec ? fmt::format("tensor '{}'", spec->name) : fmt::format("tensor {}", cell.tensor),
        ToString(cell.box)));
  }
  const ptc::DType type = is_gradient ? ptc::DType::kF32 : spec->dtype;
  return SourceCell{context->local.at(device).arena->CellAt(piece->offset_bytes, piece->box,
                                                            cell.box, ptc::SizeBytes(type)),
                    engine::IndicesOf(type, spec->shape, cell.box),
                    std::const_pointer_cast<MoveContext>(context)};
}

}  // namespace tessera::agents
