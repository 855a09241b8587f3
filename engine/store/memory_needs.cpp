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
  for (const ptc::Kind& kind : kinds_->kinds) {
    TESSERA_DCHECK(!kind.converts());
    for (const Side side : {Side::kFrom, Side::kTo}) {
      auto& by_part = pieces_[IndexOf(side == Side::kTo)].emplace_back();
      for (const auto& boxes : side == Side::kTo ? kind.pieces.needed : kind.pieces.held) {
        by_part.push_back(PiecesOf(boxes, ptc::SizeBytes(kind.from_dtype)));
      }
    }
  }
  staged_on_ = {ptc::StagedByStage(*kinds_, kinds_->from, &ptc::KindOnStages::from_stages),
                ptc::StagedByStage(*kinds_, kinds_->to, &ptc::KindOnStages::to_stages)};
}

const std::vector<std::size_t>& MemoryNeeds::StagedOn(Side side, int stage) const {
  return staged_on_[IndexOf(side == Side::kTo)][At(stage)];
}

MemoryNeeds::Pieces MemoryNeeds::PiecesOf(const std::vector<ptc::Box>& boxes,
                                          std::int64_t element_bytes) {
  Pieces pieces;
  for (const ptc::Box& box : boxes) {
    const std::int64_t state = box.num_elements() * element_bytes;
    const std::int64_t gradient = box.num_elements() * PieceEntry::kGradientElementBytes;
    ++pieces.boxes;
    pieces.dims += box.rank();
    pieces.state += state;
    pieces.gradients += gradient;
    pieces.rounded_state += RoundUpToPiece(state);
    pieces.rounded_gradients += RoundUpToPiece(gradient);
  }
  return pieces;
}

MemoryNeeds::Sums MemoryNeeds::Of(Side side, int rank) const {
  const ptc::RankParts& ranks = Ranks(side);
  const bool is_new = side == Side::kTo;
  Sums sums;
  std::int64_t entries = 0, dims = 0;
  for (const std::size_t s : StagedOn(side, ranks.StageOf(rank))) {
    const ptc::KindOnStages& staged = kinds_->staged[s];
    const ptc::Kind& kind = kinds_->kinds[At(staged.kind)];
    const std::size_t part = At(ranks.PartOf(is_new ? kind.to_axes : kind.from_axes, rank));
    const Pieces& pieces = pieces_[IndexOf(is_new)][At(staged.kind)][part];
    sums.state += pieces.state * staged.num_tensors;
    sums.gradients += pieces.gradients * staged.num_params;
    sums.rounded +=
        pieces.rounded_state * staged.num_tensors + pieces.rounded_gradients * staged.num_params;
    sums.rounded_gradients += pieces.rounded_gradients * staged.num_params;
    entries += pieces.boxes * (staged.num_tensors + staged.num_params);
    dims += pieces.dims * (staged.num_tensors + staged.num_params);
  }
  sums.table = PieceTable::BytesFor(entries, dims);
  return sums;
}

MemoryNeeds::Kept MemoryNeeds::KeptRounded(int from_rank, int to_rank) {
  const int from_stage = kinds_->from.StageOf(from_rank);
  Kept kept;
  for (const std::size_t s : StagedOn(Side::kTo, kinds_->to.StageOf(to_rank))) {
    const ptc::KindOnStages& staged = kinds_->staged[s];
    if (!kinds_->from.IsOn(staged.from_stages, from_stage)) continue;
    const ptc::Kind& kind = kinds_->kinds[At(staged.kind)];
    const int from_part = kinds_->from.PartOf(kind.from_axes, from_rank);
    const int to_part = kinds_->to.PartOf(kind.to_axes, to_rank);
    const std::uint64_t parts =
        static_cast<std::uint64_t>(from_part) << 32U | static_cast<std::uint64_t>(to_part);
    const auto [known, is_new] = kept_[At(staged.kind)].try_emplace(parts);
    if (is_new) {
      for (const ptc::Box& piece : kind.pieces.needed[At(to_part)]) {
        if (ptc::KeptIn(kind.pieces.held[At(from_part)], piece) == nullptr) continue;
        const std::int64_t elements = piece.num_elements();
        known->second.state += RoundUpToPiece(elements * ptc::SizeBytes(kind.from_dtype));
        known->second.gradients += RoundUpToPiece(elements * PieceEntry::kGradientElementBytes);
      }
    }
    kept.state += known->second.state * staged.num_tensors;
    kept.gradients += known->second.gradients * staged.num_params;
  }
  return kept;
}

std::int64_t MemoryNeeds::OfLayout(int to_rank) const {
  const Sums sums = Of(Side::kTo, to_rank);
  return kControlPage + sums.rounded + sums.table;
}

std::int64_t MemoryNeeds::MostOfLayout() const {
  const std::vector<int> groups = kinds_->to.Groups();
  std::vector<bool> is_known(groups.size());
  std::int64_t most = 0;
  for (int rank = 0; rank < std::ssize(groups); ++rank) {
    const std::size_t group = At(groups[At(rank)]);
    if (is_known[group]) continue;
    is_known[group] = true;
    most = std::max(most, OfLayout(rank));
  }
  return most;
}

std::int64_t MemoryNeeds::DuringMove(std::optional<int> from_rank, std::optional<int> to_rank,
                                     OldGradients gradients) {
  const Sums old = from_rank ? Of(Side::kFrom, *from_rank) : Sums{};
  const Sums next = to_rank ? Of(Side::kTo, *to_rank) : Sums{};
  const Kept kept = from_rank && to_rank ? KeptRounded(*from_rank, *to_rank) : Kept{};
  const std::int64_t fresh = next.rounded - kept.state;
  return kControlPage + old.table + next.table + old.state +
         (gradients == OldGradients::kKept ? old.gradients + fresh - kept.gradients
                                           : std::max(old.gradients, fresh));
}

std::int64_t MemoryNeeds::DuringRefill(int to_rank) const {
  const Sums sums = Of(Side::kTo, to_rank);
  return kControlPage + 2 * sums.table + sums.state + std::max(sums.gradients, sums.rounded);
}

}  // namespace tessera::engine
