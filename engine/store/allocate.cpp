// SPDX-License-Identifier: Apache-2.0
#include "engine/store/allocate.h"

#include <fmt/format.h>

#include <algorithm>
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
constexpr std::int64_t kGradientElementBytes = 4;

std::int64_t RoundUp(std::int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}
std::int64_t MiBUp(std::int64_t bytes) { return (bytes + (1 << 20) - 1) >> 20; }
std::int64_t MiBDown(std::int64_t bytes) { return bytes >> 20; }

/// State and gradient pieces of one rank, without places.
std::vector<PieceEntry> PiecesOf(const ptc::Layout& layout, int rank) {
  std::vector<PieceEntry> pieces;
  const auto& tensors = layout.collection().tensors();
  for (int t = 0; t < static_cast<int>(tensors.size()); ++t) {
    const ptc::TensorSpec& tensor = tensors[static_cast<std::size_t>(t)];
    for (const ptc::Box& box : layout.Boxes(rank, t)) {
      const std::int64_t elements = box.num_elements();
      pieces.push_back({t, box, PieceEntry::kState, 0, elements * ptc::SizeBytes(tensor.dtype)});
      if (tensor.role == ptc::TensorRole::kParam) {
        pieces.push_back({t, box, PieceEntry::kGradient, 0, elements * kGradientElementBytes});
      }
    }
  }
  return pieces;
}

/// The free ranges of an arena.
class Gaps {
 public:
  /// `taken` in any order; ranges may touch but not overlap.
  Gaps(std::vector<ptc::Interval> taken, std::int64_t capacity) {
    std::sort(taken.begin(), taken.end());
    std::int64_t free = kFirstByte;
    for (const ptc::Interval& range : taken) {
      Add(free, range.begin);
      free = range.end;
    }
    Add(free, capacity);
  }

  /// Takes `bytes` from the first gap that has them. \return their offset, nullopt if none has.
  std::optional<std::int64_t> Take(std::int64_t bytes) {
    const auto gap = std::find_if(gaps_.begin(), gaps_.end(),
                                  [bytes](const ptc::Interval& g) { return g.size() >= bytes; });
    if (gap == gaps_.end()) return std::nullopt;
    const std::int64_t offset = gap->begin;
    gap->begin = RoundUp(offset + bytes);
    if (gap->begin >= gap->end) gaps_.erase(gap);
    return offset;
  }

  std::int64_t largest() const {
    std::int64_t bytes = 0;
    for (const ptc::Interval& gap : gaps_) bytes = std::max(bytes, gap.size());
    return bytes;
  }

 private:
  void Add(std::int64_t begin, std::int64_t end) {
    begin = RoundUp(begin);
    if (begin < end) gaps_.push_back({begin, end});
  }
  std::vector<ptc::Interval> gaps_;  // ascending; each begins aligned
};

/// Gives each of `pieces` its offset. \return the piece for which there is no gap, or nullptr.
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
  for (const PieceEntry& piece : pieces) bytes += RoundUp(piece.size_bytes);
  return bytes;
}

using PieceKey = std::pair<int, ptc::Box>;

/// Target pieces that the plan keeps on `device`, each with the old piece it lies in.
std::map<PieceKey, ptc::Box> KeptPieces(const ptc::Plan& plan, ptc::DeviceId device) {
  std::map<PieceKey, ptc::Box> kept;
  for (const ptc::Move& move : plan.moves) {
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
  if (PlaceLargestFirst(pieces, gaps) != nullptr) {
    return ResourceExhausted(
        fmt::format("device {}: layout needs {} MiB, arena holds {} MiB",
                    ptc::ToString(layout.mesh().devices()[static_cast<std::size_t>(rank)]),
                    MiBUp(kFirstByte + RoundedBytes(pieces)), MiBDown(capacity)));
  }
  return PieceTable::Make(epoch, layout.hash(), std::string(job), std::move(pieces), capacity);
}

Result<PieceTable> AllocateNext(const PieceTable& old, const ptc::Layout& from,
                                const ptc::Layout& to, ptc::DeviceId device, const ptc::Plan& plan,
                                std::int64_t capacity) {
  const std::string name = ptc::ToString(device);
  if (plan.from_hash != from.hash() || plan.to_hash != to.hash()) {
    return FailedPrecondition(
        fmt::format("device {}: the plan leads from layout {} to {}, not from {} to {}", name,
                    ptc::Hex16(plan.from_hash), ptc::Hex16(plan.to_hash), ptc::Hex16(from.hash()),
                    ptc::Hex16(to.hash())));
  }
  if (from.mesh().RankOf(device) && old.layout_hash() != from.hash()) {
    return FailedPrecondition(fmt::format("device {}: its pieces are of layout {}, not of {}", name,
                                          ptc::Hex16(old.layout_hash()), ptc::Hex16(from.hash())));
  }
  const std::int64_t epoch = old.epoch() + 1;
  const std::optional<int> rank = to.mesh().RankOf(device);
  if (!rank) return PieceTable::Make(epoch, to.hash(), old.job(), {}, capacity);

  std::vector<ptc::Interval> taken;
  std::int64_t old_bytes = 0;
  for (const PieceEntry& entry : old.entries()) {
    if (entry.kind != PieceEntry::kState) continue;
    taken.push_back({entry.offset_bytes, entry.offset_bytes + entry.size_bytes});
    old_bytes += entry.size_bytes;
  }

  const std::map<PieceKey, ptc::Box> kept = KeptPieces(plan, device);
  std::vector<PieceEntry> placed;
  std::vector<PieceEntry> pieces;
  for (PieceEntry& piece : PiecesOf(to, *rank)) {
    const auto keep =
        piece.kind == PieceEntry::kState ? kept.find({piece.tensor, piece.box}) : kept.end();
    if (keep == kept.end()) {
      pieces.push_back(piece);
      continue;
    }
    const PieceEntry* source = old.Find(PieceEntry::kState, piece.tensor, keep->second);
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

  Gaps gaps(std::move(taken), capacity);
  if (const PieceEntry* homeless = PlaceLargestFirst(pieces, gaps)) {
    const std::int64_t needed = kFirstByte + old_bytes + RoundedBytes(pieces);
    if (needed > capacity) {
      return ResourceExhausted(
          fmt::format("device {}: layout needs {} MiB during the move, arena holds {} MiB", name,
                      MiBUp(needed), MiBDown(capacity)));
    }
    return ResourceExhausted(
        fmt::format("device {}: no gap of {} bytes for a piece of tensor '{}' during the move, the "
                    "largest of the arena's {} MiB has {}",
                    name, homeless->size_bytes,
                    to.collection().tensors()[static_cast<std::size_t>(homeless->tensor)].name,
                    MiBDown(capacity), gaps.largest()));
  }
  placed.insert(placed.end(), pieces.begin(), pieces.end());
  return PieceTable::Make(epoch, to.hash(), old.job(), std::move(placed), capacity);
}

std::int64_t BytesNeeded(const ptc::Layout& layout, int rank) {
  return kFirstByte + RoundedBytes(PiecesOf(layout, rank));
}

std::int64_t BytesNeededDuringMove(const ptc::Layout& from, const ptc::Layout& to,
                                   ptc::DeviceId device, const ptc::Plan& plan) {
  std::int64_t bytes = kFirstByte;
  if (const auto rank = from.mesh().RankOf(device)) bytes += from.BytesOf(*rank);
  if (const auto rank = to.mesh().RankOf(device)) {
    const auto kept = KeptPieces(plan, device);
    for (const PieceEntry& piece : PiecesOf(to, *rank)) {
      if (piece.kind == PieceEntry::kState && kept.contains({piece.tensor, piece.box})) continue;
      bytes += RoundUp(piece.size_bytes);
    }
  }
  return bytes;
}

}  // namespace tessera::engine
