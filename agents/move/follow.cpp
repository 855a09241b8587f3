// SPDX-License-Identifier: Apache-2.0
#include "agents/move/follow.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "agents/move/parallel.h"
#include "engine/copy/fused.h"
#include "engine/update/bfloat16.h"
#include "ptc/base/overloaded.h"

namespace tessera::agents {
namespace {

using engine::PieceEntry;

/// What a thread updates at a time: it looks at the stop token in between.
constexpr std::size_t kElementsAtATime = 8192;

engine::DeviceCell CellOf(const engine::Arena& arena, const PieceEntry& entry, const ptc::Box& cell,
                          ptc::DType type) {
  return arena.CellAt(entry.offset_bytes, entry.box, cell, ptc::SizeBytes(type));
}

/// The elements of a new piece of a device.
template <typename T>
Result<std::span<T>> ElementsOf(const MoveContext& c, ptc::DeviceId device, PieceEntry::Kind kind,
                                int tensor, const ptc::Box& box) {
  const MoveContext::Local& local = c.local.at(device);
  const PieceEntry* const entry = local.next_table.Find(kind, tensor, box);
  if (!entry) {
    return FailedPrecondition(fmt::format("{} lacks a piece of '{}' {}", ToString(device),
                                          c.SpecOf(tensor).name, ToString(box)));
  }
  const auto type = kind == PieceEntry::kGradient ? ptc::DType::kF32 : c.SpecOf(tensor).dtype;
  if (static_cast<std::int64_t>(sizeof(T)) != ptc::SizeBytes(type)) {
    return FailedPrecondition(
        fmt::format("'{}' is {}", c.SpecOf(tensor).name, ptc::ToString(type)));
  }
  const std::span<std::byte> bytes =
      CellOf(*local.arena, *entry, entry->box, type).InPlace(0, entry->size_bytes);
  if (bytes.empty()) {
    return FailedPrecondition(
        fmt::format("the host cannot use the memory of {}", ToString(device)));
  }
  // Pieces begin aligned.
  return std::span(reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T));
}

using PieceKey = std::tuple<ptc::DeviceId, int, ptc::Box>;

/// The new pieces of parameters on this node that moves fill.
std::set<PieceKey> FilledParameters(const MoveContext& c) {
  std::set<PieceKey> out;
  const auto add = [&](const auto& move) {
    const bool is_param = c.SpecOf(move.tensor).role == ptc::TensorRole::kParam;
    if (is_param && c.local.contains(move.device)) {
      out.emplace(move.device, move.tensor, move.piece);
    }
  };
  for (const ptc::Move& move : c.plan->moves) {
    std::visit(Overloaded{[](const ptc::Keep&) {}, [](const ptc::Drop&) {}, add}, move);
  }
  return out;
}

/// A part of a new piece of a parameter, with its optimizer state and gradient.
struct PieceUpdate {
  std::size_t num_dims;  // of the tensor: the coefficients depend on it
  std::span<float> values, exp_avg, exp_avg_sq, gradient;
  std::span<std::uint16_t> rounded;  // empty: the values are the parameter

  std::size_t size() const { return values.size(); }
  PieceUpdate Part(std::size_t begin, std::size_t count) const {
    return {num_dims,
            values.subspan(begin, count),
            exp_avg.subspan(begin, count),
            exp_avg_sq.subspan(begin, count),
            gradient.subspan(begin, count),
            rounded.empty() ? rounded : rounded.subspan(begin, count)};
  }
};

Result<PieceUpdate> FindPiece(const MoveContext& c, const PieceKey& key) {
  const auto& [device, tensor, box] = key;
  const ptc::TensorSpec& spec = c.SpecOf(tensor);
  const auto state = [&](const char* suffix) -> Result<std::span<float>> {
    const std::string name = spec.name + suffix;
    const std::optional<int> of = c.from.collection().Find(name);
    if (!of) return FailedPrecondition(fmt::format("the job has no '{}'", name));
    return ElementsOf<float>(c, device, PieceEntry::kState, *of, box);
  };
  const bool is_bf16 = spec.dtype == ptc::DType::kBF16;
  PieceUpdate piece{spec.shape.size(), {}, {}, {}, {}, {}};
  TESSERA_TRY(piece.values, state(is_bf16 ? ".master" : ""));
  TESSERA_TRY(piece.exp_avg, state(".exp_avg"));
  TESSERA_TRY(piece.exp_avg_sq, state(".exp_avg_sq"));
  TESSERA_TRY(piece.gradient, ElementsOf<float>(c, device, PieceEntry::kGradient, tensor, box));
  if (!is_bf16) return piece;
  TESSERA_TRY(piece.rounded, ElementsOf<std::uint16_t>(c, device, PieceEntry::kState, tensor, box));
  return piece;
}

}  // namespace

Status SaveGradients(const MoveContext& c, const std::stop_token& stop) {
  struct Copy {
    const MoveContext::Local* local;
    const PieceEntry *from, *to;
    ptc::Box range;
  };
  std::vector<Copy> copies;
  for (const auto& [device, local] : c.local) {
    if (!local.saved) continue;
    for (const PieceEntry& to : local.saved->entries()) {
      const PieceEntry* const from = local.old_table.Find(PieceEntry::kGradient, to.tensor, to.box);
      if (!from) return Internal(fmt::format("{} lacks a gradient", ToString(device)));
      for (ptc::Box& range : WorkOf(c, to.tensor, to.box)) {
        copies.push_back({&local, from, &to, std::move(range)});
      }
    }
  }
  return ForEachInParallel(copies.size(), stop, [&](std::size_t at) -> Status {
    const auto& [local, from, to, range] = copies[at];
    const ptc::TensorSpec& spec = c.SpecOf(to->tensor);
    const engine::DeviceCell target = CellOf(*local->arena, *to, range, ptc::DType::kF32);
    TESSERA_TRY(const engine::CopyDigests digests,
                engine::CopyCellAndDigest({&target, 1},
                                          CellOf(*local->arena, *from, range, ptc::DType::kF32),
                                          engine::IndicesOf(ptc::DType::kF32, spec.shape, range)));
    for (const std::uint64_t digest : digests.copies) {
      if (digest == digests.source) continue;
      return DataLoss(fmt::format("the gradient of '{}' differs from its copy", spec.name));
    }
    return OkStatus();
  });
}

Status UpdateCopies(const MoveContext& change, const StepUpdate& update,
                    const std::stop_token& stop) {
  if (update.skip) return OkStatus();
  std::vector<PieceUpdate> parts;
  for (const PieceKey& key : FilledParameters(change)) {
    TESSERA_TRY(const PieceUpdate piece, FindPiece(change, key));
    for (std::size_t begin = 0; begin < piece.size(); begin += kElementsAtATime) {
      parts.push_back(piece.Part(begin, std::min(kElementsAtATime, piece.size() - begin)));
    }
  }
  return ForEachInParallel(parts.size(), stop, [&](std::size_t at) -> Status {
    const PieceUpdate& part = parts[at];
    engine::AdamW(update.coefficients.Of(part.num_dims), part.values, part.exp_avg, part.exp_avg_sq,
                  part.gradient);
    if (!part.rounded.empty()) engine::RoundToBf16(part.values, part.rounded);
    return OkStatus();
  });
}

FollowRun::FollowRun(std::function<Status(const std::stop_token&)> work,
                     std::function<void(const Status&)> done)
    : thread_([work = std::move(work), done = std::move(done)](const std::stop_token& stop) {
        done(work(stop));
      }) {}

}  // namespace tessera::agents
