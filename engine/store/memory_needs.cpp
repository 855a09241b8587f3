// SPDX-License-Identifier: Apache-2.0
#include "engine/store/memory_needs.h"

#include <algorithm>

#include "engine/store/arena_format.h"
#include "engine/store/piece_table.h"
#include "ptc/base/at.h"
#include "ptc/base/check.h"
#include "ptc/plan/staged.h"

namespace tessera::engine {
namespace {

constexpr auto kControlPage = static_cast<std::int64_t>(kArenaDataOffset);

std::size_t IndexOf(bool is_new) { return is_new ? 1 : 0; }

}  // namespace

MemoryNeeds::MemoryNeeds(const ptc::Layout& from, const ptc::Layout& to)
    : MemoryNeeds(std::make_shared<const ptc::Kinds>(ptc::MakeKinds(from, to))) {}

MemoryNeeds::MemoryNeeds(std::shared_ptr<const ptc::Kinds> kinds)
    : kinds_(std::move(kinds)), kept_(kinds_->kinds.size()) {
  for (const ptc::Kind& kind : kinds_->kinds) TESSERA_DCHECK(!kind.converts());
  staged_on_ = {ptc::StagedByStage(*kinds_, kinds_->from, &ptc::KindOnStages::from_stages),
                ptc::StagedByStage(*kinds_, kinds_->to, &ptc::KindOnStages::to_stages)};
}

const std::vector<std::size_t>& MemoryNeeds::StagedOn(Side side, int stage) const {
  return staged_on_[IndexOf(side == Side::kTo)][At(stage)];
}

const MemoryNeeds::Sums& MemoryNeeds::Of(Side side, int rank) {
  const ptc::RankParts& ranks = Ranks(side);
  std::vector<int> key{ranks.StageOf(rank)};
  for (int axes = 0; axes < ranks.num_axes_ids(); ++axes) key.push_back(ranks.PartOf(axes, rank));
  const auto [known, is_new] = known_[IndexOf(side == Side::kTo)].try_emplace(std::move(key));
  if (is_new) known->second = Sum(side, rank);
  return known->second;
}

MemoryNeeds::Sums MemoryNeeds::Sum(Side side, int rank) const {
  const ptc::RankParts& ranks = Ranks(side);
  Sums sums;
  std::int64_t entries = 0, dims = 0;
  for (const std::size_t s : StagedOn(side, ranks.StageOf(rank))) {
    const ptc::KindOnStages& staged = kinds_->staged[s];
    const ptc::Kind& kind = kinds_->kinds[At(staged.kind)];
    const bool is_new = side == Side::kTo;
    const std::size_t part = At(ranks.PartOf(is_new ? kind.to_axes : kind.from_axes, rank));
    const std::int64_t element = ptc::SizeBytes(kind.from_dtype);
    const std::int64_t pieces = staged.num_tensors + staged.num_params;
    for (const ptc::Box& box : is_new ? kind.pieces.needed[part] : kind.pieces.held[part]) {
      const std::int64_t state = box.num_elements() * element;
      const std::int64_t gradient = box.num_elements() * PieceEntry::kGradientElementBytes;
      sums.state += state * staged.num_tensors;
      sums.gradients += gradient * staged.num_params;
      sums.rounded +=
          RoundUpToPiece(state) * staged.num_tensors + RoundUpToPiece(gradient) * staged.num_params;
      entries += pieces;
      dims += pieces * box.rank();
    }
  }
  sums.table = PieceTable::BytesFor(entries, dims);
  return sums;
}

std::int64_t MemoryNeeds::KeptRounded(int from_rank, int to_rank) {
  const int from_stage = kinds_->from.StageOf(from_rank);
  std::int64_t bytes = 0;
  for (const std::size_t s : StagedOn(Side::kTo, kinds_->to.StageOf(to_rank))) {
    const ptc::KindOnStages& staged = kinds_->staged[s];
    if (!kinds_->from.IsOn(staged.from_stages, from_stage)) continue;
    const ptc::Kind& kind = kinds_->kinds[At(staged.kind)];
    const int from_part = kinds_->from.PartOf(kind.from_axes, from_rank);
    const int to_part = kinds_->to.PartOf(kind.to_axes, to_rank);
    const auto [known, is_new] = kept_[At(staged.kind)].try_emplace({from_part, to_part}, 0);
    if (is_new) {
      for (const ptc::Box& piece : kind.pieces.needed[At(to_part)]) {
        if (ptc::KeptIn(kind.pieces.held[At(from_part)], piece) == nullptr) continue;
        known->second += RoundUpToPiece(piece.num_elements() * ptc::SizeBytes(kind.from_dtype));
      }
    }
    bytes += known->second * staged.num_tensors;
  }
  return bytes;
}

std::int64_t MemoryNeeds::OfLayout(int to_rank) {
  const Sums& sums = Of(Side::kTo, to_rank);
  return kControlPage + sums.rounded + sums.table;
}

std::int64_t MemoryNeeds::DuringMove(std::optional<int> from_rank, std::optional<int> to_rank) {
  const Sums old = from_rank ? Of(Side::kFrom, *from_rank) : Sums{};
  const Sums next = to_rank ? Of(Side::kTo, *to_rank) : Sums{};
  const std::int64_t kept = from_rank && to_rank ? KeptRounded(*from_rank, *to_rank) : 0;
  return kControlPage + old.table + next.table + old.state +
         std::max(old.gradients, next.rounded - kept);
}

std::int64_t MemoryNeeds::DuringRefill(int to_rank) {
  const Sums& sums = Of(Side::kTo, to_rank);
  return kControlPage + 2 * sums.table + sums.state + std::max(sums.gradients, sums.rounded);
}

}  // namespace tessera::engine
