// SPDX-License-Identifier: Apache-2.0
#include "engine/store/allocate.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "ptc/base/check.h"

namespace tessera::engine {
namespace {

constexpr auto kFirstByte = static_cast<std::int64_t>(kArenaDataOffset);
constexpr auto kAlignment = static_cast<std::int64_t>(kPieceAlignment);

std::int64_t MiBUp(std::int64_t bytes) { return (bytes + (1 << 20) - 1) >> 20; }
std::int64_t MiBDown(std::int64_t bytes) { return bytes >> 20; }

/// State and gradient pieces of one rank, not yet placed.
std::vector<PieceEntry> PiecesOf(const ptc::Layout& layout, int rank) {
  std::vector<PieceEntry> pieces;
  const auto& tensors = layout.collection().tensors();
  for (int t = 0; t < static_cast<int>(tensors.size()); ++t) {
    const ptc::TensorSpec& tensor = tensors[static_cast<std::size_t>(t)];
    for (const ptc::Box& box : layout.Boxes(rank, t)) {
      const std::int64_t elements = box.num_elements();
      pieces.push_back({t, box, PieceEntry::kState, 0, elements * ptc::SizeBytes(tensor.dtype)});
      if (tensor.role == ptc::TensorRole::kParam) {
        pieces.push_back(
            {t, box, PieceEntry::kGradient, 0, elements * PieceEntry::kGradientElementBytes});
      }
    }
  }
  return pieces;
}

/// The free ranges of an arena.
class Gaps {
 public:
  /// `taken` in any order; ranges may be empty and may touch, but not overlap.
  Gaps(std::vector<ptc::Interval> taken, std::int64_t capacity) {
    std::sort(taken.begin(), taken.end());
    std::int64_t free = kFirstByte;
    for (const ptc::Interval& range : taken) {
      Add(free, range.begin);
      free = std::max(free, range.end);
    }
    Add(free, capacity);
  }

  /// Takes `bytes` from the first gap that has them.
  /// \return their offset, or nullopt if no gap is large enough
  std::optional<std::int64_t> Take(std::int64_t bytes) {
    const auto gap = std::find_if(gaps_.begin(), gaps_.end(),
                                  [bytes](const ptc::Interval& g) { return g.size() >= bytes; });
    if (gap == gaps_.end()) return std::nullopt;
    const std::int64_t offset = gap->begin;
    gap->begin = RoundUpToPiece(offset + bytes);
    if (gap->begin >= gap->end) gaps_.erase(gap);
    return offset;
  }

  /// Takes `bytes`, a multiple of the alignment, from the end of the last gap that has them.
  /// \return their offset, or nullopt if no gap is large enough
  std::optional<std::int64_t> TakeLast(std::int64_t bytes) {
    if (bytes == 0) return kFirstByte;
    for (auto gap = gaps_.rbegin(); gap != gaps_.rend(); ++gap) {
      const std::int64_t offset = (gap->end - bytes) / kAlignment * kAlignment;
      if (offset < gap->begin) continue;
      gap->end = offset;
      if (gap->begin == gap->end) gaps_.erase(std::next(gap).base());
      return offset;
    }
    return std::nullopt;
  }

  std::int64_t largest() const {
    std::int64_t bytes = 0;
    for (const ptc::Interval& gap : gaps_) bytes = std::max(bytes, gap.size());
    return bytes;
  }

 private:
  void Add(std::int64_t begin, std::int64_t end) {
    begin = RoundUpToPiece(begin);
    if (begin < end) gaps_.push_back({begin, end});
  }
  std::vector<ptc::Interval> gaps_;  // ascending; each begins aligned
};

/// Gives each of `pieces` its offset.
/// \return the piece for which no gap is large enough, or nullptr
const PieceEntry* PlaceLargestFirst(std::vector<PieceEntry>& pieces, Gaps& gaps) {
  std::sort(pieces.begin(), pieces.end(), [](const PieceEntry& a, const PieceEntry& b) {
    // Descending size; the key makes the order the same everywhere.
    return std::tie(b.size_bytes, a.kind, a.tensor, a.box) <
           std::tie(a.size_bytes, b.kind, b.tensor, b.box);
  });
  for (PieceEntry& piece : pieces) {
    const auto offset = gaps.Take(piece.size_bytes);
    if (!offset) return &piece;
    piece.offset_bytes = *offset;
  }
  return nullptr;
}

std::int64_t RoundedBytes(const std::vector<PieceEntry>& pieces) {
  std::int64_t bytes = 0;
  for (const PieceEntry& piece : pieces) bytes += RoundUpToPiece(piece.size_bytes);
  return bytes;
}

std::int64_t SumOf(const std::vector<ptc::Interval>& ranges) {
  std::int64_t bytes = 0;
  for (const ptc::Interval& range : ranges) bytes += range.size();
  return bytes;
}

using PieceKey = std::pair<int, ptc::Box>;

/// Target pieces that `moves` keep on `device`, each with the old piece that contains it.
std::map<PieceKey, ptc::Box> KeptPieces(std::span<const ptc::Move> moves, ptc::DeviceId device) {
  std::map<PieceKey, ptc::Box> kept;
  for (const ptc::Move& move : moves) {
    const auto* keep = std::get_if<ptc::Keep>(&move);
    if (keep != nullptr && keep->device == device) {
      kept.emplace(PieceKey{keep->tensor, keep->piece}, keep->from);
    }
  }
  return kept;
}

}  // namespace

Result<PieceTable> AllocateInitial(std::string_view job, std::int64_t epoch,
                                   const ptc::Layout& layout, int rank, std::int64_t capacity) {
  TESSERA_DCHECK(0 <= rank && rank < layout.mesh().num_ranks());
  std::vector<PieceEntry> pieces = PiecesOf(layout, rank);
  Gaps gaps({}, capacity);
  const std::int64_t table_bytes = PieceTable::BytesFor(pieces);
  const auto table_offset = gaps.TakeLast(table_bytes);
  if (!table_offset || PlaceLargestFirst(pieces, gaps) != nullptr) {
    return ResourceExhausted(
        fmt::format("device {}: layout needs {} MiB, arena holds {} MiB",
                    ptc::ToString(layout.mesh().devices()[static_cast<std::size_t>(rank)]),
                    MiBUp(kFirstByte + RoundedBytes(pieces) + table_bytes), MiBDown(capacity)));
  }
  return PieceTable::Make(epoch, layout.hash(), std::string(job), std::move(pieces), capacity,
                          table_offset);
}

Result<PieceTable> AllocateNext(const PieceTable& old, const ptc::Layout& from,
                                const ptc::Layout& to, ptc::DeviceId device,
                                std::span<const ptc::Move> moves, std::int64_t capacity,
                                OldGradients gradients) {
  const bool keeps_gradients = gradients == OldGradients::kKept;
  const std::string name = ptc::ToString(device);
  if (from.mesh().RankOf(device) && old.layout_hash() != from.hash()) {
    return FailedPrecondition(fmt::format("device {}: its pieces are of layout {}, not of {}", name,
                                          ptc::Hex16(old.layout_hash()), ptc::Hex16(from.hash())));
  }
  const std::int64_t epoch = old.epoch() + 1;
  const std::optional<int> rank = to.mesh().RankOf(device);
  if (!rank) return PieceTable::Make(epoch, to.hash(), old.job(), {}, capacity);

  std::vector<ptc::Interval> all_old{old.extent()};
  std::vector<ptc::Interval> taken{old.extent()};
  for (const PieceEntry& entry : old.entries()) {
    const ptc::Interval range{entry.offset_bytes, entry.offset_bytes + entry.size_bytes};
    all_old.push_back(range);
    if (entry.kind == PieceEntry::kState || keeps_gradients) taken.push_back(range);
  }

  const std::map<PieceKey, ptc::Box> kept = KeptPieces(moves, device);
  std::vector<PieceEntry> placed;
  std::vector<PieceEntry> pieces;
  std::vector<PieceEntry> wanted = PiecesOf(to, *rank);
  const std::int64_t table_bytes = PieceTable::BytesFor(wanted);
  for (PieceEntry& piece : wanted) {
    const bool may_stay = piece.kind == PieceEntry::kState || keeps_gradients;
    const auto keep = may_stay ? kept.find({piece.tensor, piece.box}) : kept.end();
    if (keep == kept.end()) {
      pieces.push_back(piece);
      continue;
    }
    const PieceEntry* source = old.Find(piece.kind, piece.tensor, keep->second);
    const auto inside = source == nullptr || !Contains(source->box, piece.box)
                            ? std::nullopt
                            : ContiguousOffset(source->box, piece.box);
    if (!inside) {
      return FailedPrecondition(
          fmt::format("device {}: no piece of tensor '{}' {} that holds {} in one range", name,
                      to.collection().tensors()[static_cast<std::size_t>(piece.tensor)].name,
                      ptc::ToString(keep->second), ptc::ToString(piece.box)));
    }
    piece.offset_bytes =
        source->offset_bytes + *inside * (source->size_bytes / source->box.num_elements());
    placed.push_back(piece);
  }

  const auto no_room = [&]() -> std::optional<Error> {
    const std::int64_t needed =
        kFirstByte + table_bytes + std::max(SumOf(all_old), SumOf(taken) + RoundedBytes(pieces));
    if (needed <= capacity) return std::nullopt;
    return ResourceExhausted(
        fmt::format("device {}: layout needs {} MiB during the move, arena holds {} MiB", name,
                    MiBUp(needed), MiBDown(capacity)));
  };
  // The table is written in the prepare phase, while ranks still write old gradients. The pieces
  // are written once the job is paused.
  Gaps around_old(all_old, capacity);
  const auto table_offset = around_old.TakeLast(table_bytes);
  if (!table_offset) {
    if (auto error = no_room()) return *error;
    return ResourceExhausted(fmt::format(
        "device {}: no gap of {} bytes for the piece table during the move, the largest "
        "of the arena's {} MiB has {}",
        name, table_bytes, MiBDown(capacity), around_old.largest()));
  }
  std::vector<ptc::Interval> taken_for_pieces = taken;
  taken_for_pieces.push_back({*table_offset, *table_offset + table_bytes});
  Gaps gaps(std::move(taken_for_pieces), capacity);
  if (const PieceEntry* homeless = PlaceLargestFirst(pieces, gaps)) {
    if (auto error = no_room()) return *error;
    return ResourceExhausted(
        fmt::format("device {}: no gap of {} bytes for a piece of tensor '{}' during the move, the "
                    "largest of the arena's {} MiB has {}",
                    name, homeless->size_bytes,
                    to.collection().tensors()[static_cast<std::size_t>(homeless->tensor)].name,
                    MiBDown(capacity), gaps.largest()));
  }
  placed.insert(placed.end(), pieces.begin(), pieces.end());
  return PieceTable::Make(epoch, to.hash(), old.job(), std::move(placed), capacity, table_offset);
}

std::int64_t BytesNeeded(const ptc::Layout& layout, int rank) {
  const std::vector<PieceEntry> pieces = PiecesOf(layout, rank);
  return kFirstByte + RoundedBytes(pieces) + PieceTable::BytesFor(pieces);
}

}  // namespace tessera::engine
