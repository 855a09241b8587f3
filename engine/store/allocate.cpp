// SPDX-License-Identifier: Apache-2.0
#include "engine/store/allocate.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
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

  /// The same of the first gap that has them before `end`.
  std::optional<std::int64_t> TakeBefore(std::int64_t bytes, std::int64_t end) {
    for (auto gap = gaps_.begin(); gap != gaps_.end() && gap->begin + bytes <= end; ++gap) {
      if (gap->size() < bytes) continue;
      const std::int64_t offset = gap->begin;
      gap->begin = RoundUpToPiece(offset + bytes);
      if (gap->begin >= gap->end) gaps_.erase(gap);
      return offset;
    }
    return std::nullopt;
  }

  /// The same of the smallest gap that has them, so that large ones stay whole.
  std::optional<std::int64_t> TakeBest(std::int64_t bytes) {
    auto best = gaps_.end();
    for (auto gap = gaps_.begin(); gap != gaps_.end(); ++gap) {
      if (gap->size() >= bytes && (best == gaps_.end() || gap->size() < best->size())) best = gap;
    }
    if (best == gaps_.end()) return std::nullopt;
    const std::int64_t offset = best->begin;
    best->begin = RoundUpToPiece(offset + bytes);
    if (best->begin >= best->end) gaps_.erase(best);
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
const PieceEntry* PlaceLargestFirst(std::vector<PieceEntry>& pieces, Gaps& gaps,
                                    bool best = false) {
  std::sort(pieces.begin(), pieces.end(), [](const PieceEntry& a, const PieceEntry& b) {
    // Descending size; the key makes the order the same everywhere.
    return std::tie(b.size_bytes, a.kind, a.tensor, a.box) <
           std::tie(a.size_bytes, b.kind, b.tensor, b.box);
  });
  for (PieceEntry& piece : pieces) {
    const auto offset = best ? gaps.TakeBest(piece.size_bytes) : gaps.Take(piece.size_bytes);
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

/// Where `piece` lies inside the piece `from` of `old`.
Result<std::int64_t> KeptOffset(const PieceTable& old, const ptc::Box& from,
                                const PieceEntry& piece, const std::string& device,
                                const ptc::Layout& to) {
  const PieceEntry* source = old.Find(piece.kind, piece.tensor, from);
  const auto inside = source == nullptr || !Contains(source->box, piece.box)
                          ? std::nullopt
                          : ContiguousOffset(source->box, piece.box);
  if (!inside) {
    return FailedPrecondition(
        fmt::format("device {}: no piece of tensor '{}' {} that holds {} in one range", device,
                    to.collection().tensors()[static_cast<std::size_t>(piece.tensor)].name,
                    ptc::ToString(from), ptc::ToString(piece.box)));
  }
  return source->offset_bytes + *inside * (source->size_bytes / source->box.num_elements());
}

/// Moves pieces of a table that is being made, so that the pieces of the next round find gaps.
class RoomMaker {
 public:
  struct Arena {
    const PieceTable& current;
    std::int64_t capacity = 0;
    ptc::Interval table;  // range of the table that is being made
  };
  /// \param may_go whether pieces of the tensor may go elsewhere
  RoomMaker(const Arena& arena, std::vector<PieceEntry>& entries, std::int64_t budget,
            const std::function<bool(int)>& may_go)
      : arena_(arena), entries_(entries), budget_(budget), may_go_(may_go) {}

  /// If no room can be made, the entries stay as they are, and the next round cannot be allocated.
  void For(const std::vector<PieceEntry>& wanted, std::int64_t table_bytes) {
    constexpr int kMostPieces = 1000;
    for (int i = 0; i < kMostPieces; ++i) {
      std::vector<ptc::Interval> taken = TakenAfter();
      Gaps gaps(taken, arena_.capacity);
      if (!gaps.TakeLast(table_bytes)) return;
      std::vector<PieceEntry> pieces = wanted;
      const PieceEntry* const homeless = PlaceLargestFirst(pieces, gaps, true);
      if (!homeless || !Free(RoundUpToPiece(homeless->size_bytes))) return;
    }
  }

  /// Moves the last pieces into gaps before them, so that what is free lies together.
  void Pack() {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i].kind == PieceEntry::kState && may_go_(entries_[i].tensor)) order.push_back(i);
    }
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return entries_[a].offset_bytes > entries_[b].offset_bytes;
    });
    std::vector<ptc::Interval> taken = TakenNow();
    Gaps gaps(std::move(taken), arena_.capacity);
    for (const std::size_t i : order) {
      PieceEntry& entry = entries_[i];
      const std::int64_t bytes = RoundUpToPiece(entry.size_bytes);
      if (bytes > budget_) continue;
      const auto offset = gaps.TakeBefore(entry.size_bytes, entry.offset_bytes);
      if (!offset) continue;
      entry.offset_bytes = *offset;
      budget_ -= bytes;
    }
  }

 private:
  struct Window {
    ptc::Interval range;
    std::int64_t bytes = 0;  // of pieces in it
    std::vector<std::size_t> pieces;
  };

  std::vector<ptc::Interval> TakenAfter() const {
    std::vector<ptc::Interval> taken{arena_.table};
    for (const PieceEntry& entry : entries_) taken.push_back(RangeOf(entry));
    return taken;
  }
  /// What is current is still read.
  std::vector<ptc::Interval> TakenNow() const {
    std::vector<ptc::Interval> taken = TakenAfter();
    taken.push_back(arena_.current.extent());
    for (const PieceEntry& entry : arena_.current.entries()) {
      if (entry.kind == PieceEntry::kState) taken.push_back(RangeOf(entry));
    }
    return taken;
  }
  static ptc::Interval RangeOf(const PieceEntry& entry) {
    return {entry.offset_bytes, RoundUpToPiece(entry.offset_bytes + entry.size_bytes)};
  }

  /// Empties the range of `bytes` that takes the least copying.
  bool Free(std::int64_t bytes) {
    std::vector<Window> windows = Windows(bytes);
    std::stable_sort(windows.begin(), windows.end(),
                     [](const Window& a, const Window& b) { return a.bytes < b.bytes; });
    constexpr std::size_t kMostTries = 64;
    if (windows.size() > kMostTries) windows.resize(kMostTries);
    return std::any_of(windows.begin(), windows.end(),
                       [&](const Window& window) { return Empty(window); });
  }

  /// The ranges of at least `bytes` in which only pieces lie that may go.
  std::vector<Window> Windows(std::int64_t bytes) const {
    struct Segment {
      ptc::Interval range;
      std::optional<std::size_t> piece;  // that may go
    };
    std::vector<Segment> segments{{arena_.table, std::nullopt}};
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const bool goes = entries_[i].kind == PieceEntry::kState && may_go_(entries_[i].tensor);
      segments.push_back({RangeOf(entries_[i]), goes ? std::optional(i) : std::nullopt});
    }
    segments.push_back({{arena_.capacity, arena_.capacity}, std::nullopt});
    std::sort(segments.begin(), segments.end(),
              [](const Segment& a, const Segment& b) { return a.range.begin < b.range.begin; });
    std::vector<Window> out;
    std::int64_t begin = kFirstByte;
    for (std::size_t first = 0; first < segments.size(); ++first) {
      Window window{{begin, begin}, 0, {}};
      for (std::size_t s = first; s < segments.size(); ++s) {
        window.range.end = segments[s].range.begin;
        if (window.range.size() >= bytes) break;
        if (!segments[s].piece) break;
        window.bytes += segments[s].range.size();
        window.pieces.push_back(*segments[s].piece);
      }
      if (window.range.size() >= bytes && !window.pieces.empty()) out.push_back(std::move(window));
      begin = std::max(begin, segments[first].range.end);
    }
    return out;
  }

  bool Empty(const Window& window) {
    if (window.bytes > budget_) return false;
    std::vector<ptc::Interval> taken = TakenNow();
    taken.push_back(window.range);  // it is to stay free
    Gaps gaps(std::move(taken), arena_.capacity);
    std::vector<PieceEntry> gone;
    for (const std::size_t piece : window.pieces) gone.push_back(entries_[piece]);
    if (PlaceLargestFirst(gone, gaps, true)) return false;
    for (const PieceEntry& moved : gone) {
      const auto entry = std::find_if(entries_.begin(), entries_.end(), [&](const PieceEntry& e) {
        return e.kind == moved.kind && e.tensor == moved.tensor && e.box == moved.box;
      });
      entry->offset_bytes = moved.offset_bytes;
    }
    budget_ -= window.bytes;
    return true;
  }

  const Arena arena_;
  std::vector<PieceEntry>& entries_;
  std::int64_t budget_;
  const std::function<bool(int)>& may_go_;
};

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
    TESSERA_TRY(piece.offset_bytes, KeptOffset(old, keep->second, piece, name, to));
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

Result<PieceTable> AllocateSaved(const PieceTable& old, const PieceTable& next,
                                 std::span<const int> tensors, ptc::DeviceId device,
                                 std::int64_t capacity) {
  std::vector<ptc::Interval> taken{old.extent(), next.extent()};
  std::vector<PieceEntry> pieces;
  for (const PieceEntry& entry : old.entries()) {
    taken.push_back({entry.offset_bytes, entry.offset_bytes + entry.size_bytes});
    const bool is_wanted = entry.kind == PieceEntry::kGradient &&
                           std::binary_search(tensors.begin(), tensors.end(), entry.tensor);
    if (is_wanted) pieces.push_back(entry);
  }
  for (const PieceEntry& entry : next.entries()) {
    taken.push_back({entry.offset_bytes, entry.offset_bytes + entry.size_bytes});
  }
  Gaps gaps(std::move(taken), capacity);
  if (PlaceLargestFirst(pieces, gaps)) {
    return ResourceExhausted(fmt::format(
        "device {}: no gaps for {} MiB of gradients beside the old state and the new, "
        "the largest of the arena's {} MiB has {} bytes",
        ptc::ToString(device), MiBUp(RoundedBytes(pieces)), MiBDown(capacity), gaps.largest()));
  }
  const auto table_offset = gaps.TakeLast(PieceTable::BytesFor(pieces));
  if (!table_offset) {
    return ResourceExhausted(
        fmt::format("device {}: no gap beside the gradients", ptc::ToString(device)));
  }
  return PieceTable::Make(old.epoch(), old.layout_hash(), old.job(), std::move(pieces), capacity,
                          table_offset);
}

Result<PieceTable> AllocateRound(const PieceTable& current, const ptc::Layout& to,
                                 ptc::DeviceId device, std::span<const ptc::Move> moves,
                                 std::int64_t capacity, const Round& round, std::int64_t budget) {
  const auto is_in = [](const std::vector<int>& tensors_of, int tensor) {
    return std::binary_search(tensors_of.begin(), tensors_of.end(), tensor);
  };
  const auto moves_now = [&](int tensor) { return is_in(round.tensors, tensor); };
  const std::string name = ptc::ToString(device);
  const auto& tensors = to.collection().tensors();
  std::vector<PieceEntry> placed, fresh;
  std::vector<ptc::Interval> taken{current.extent()}, around_all{current.extent()};
  for (const PieceEntry& entry : current.entries()) {
    const ptc::Interval range{entry.offset_bytes, entry.offset_bytes + entry.size_bytes};
    around_all.push_back(range);
    if (entry.kind != PieceEntry::kState) continue;
    taken.push_back(range);
    if (!moves_now(entry.tensor)) placed.push_back(entry);
  }
  std::vector<PieceEntry> wanted_next;  // that the next round has to place
  if (const std::optional<int> rank = to.mesh().RankOf(device)) {
    const std::map<PieceKey, ptc::Box> kept = KeptPieces(moves, device);
    for (PieceEntry& piece : PiecesOf(to, *rank)) {
      const bool is_state = piece.kind == PieceEntry::kState;
      const bool is_next = is_state ? is_in(round.next_tensors, piece.tensor) : round.next_is_last;
      if (is_next && !(is_state && kept.contains({piece.tensor, piece.box}))) {
        wanted_next.push_back(piece);
      }
      if (is_state ? !moves_now(piece.tensor) : !round.is_last) continue;
      const auto keep = is_state ? kept.find({piece.tensor, piece.box}) : kept.end();
      if (keep == kept.end()) {
        fresh.push_back(piece);
        continue;
      }
      TESSERA_TRY(piece.offset_bytes, KeptOffset(current, keep->second, piece, name, to));
      placed.push_back(piece);
    }
  }
  std::vector<PieceEntry> all = placed;
  all.insert(all.end(), fresh.begin(), fresh.end());
  const std::int64_t table_bytes = PieceTable::BytesFor(all);
  Gaps for_table(around_all, capacity);
  const auto table_offset = for_table.TakeLast(table_bytes);
  if (!table_offset) {
    return ResourceExhausted(
        fmt::format("device {}: no gap of {} bytes for the piece table of a round, the largest of "
                    "the arena's {} MiB has {}",
                    name, table_bytes, MiBDown(capacity), for_table.largest()));
  }
  taken.push_back({*table_offset, *table_offset + table_bytes});
  Gaps gaps(std::move(taken), capacity);
  if (const PieceEntry* homeless = PlaceLargestFirst(fresh, gaps, true)) {
    return ResourceExhausted(fmt::format(
        "device {}: no gap of {} bytes for a piece of tensor '{}' in its round, the "
        "largest of the arena's {} MiB has {}",
        name, homeless->size_bytes, tensors[static_cast<std::size_t>(homeless->tensor)].name,
        MiBDown(capacity), gaps.largest()));
  }
  placed.insert(placed.end(), fresh.begin(), fresh.end());
  std::int64_t beside = table_bytes;
  for (const PieceEntry& piece : fresh) {
    if (piece.kind == PieceEntry::kState) beside += RoundUpToPiece(piece.size_bytes);
  }
  const std::function<bool(int)> may_go = [&](int tensor) {
    return !moves_now(tensor) && !is_in(round.next_tensors, tensor);
  };
  RoomMaker room({current, capacity, {*table_offset, *table_offset + table_bytes}}, placed,
                 budget - beside, may_go);
  room.For(wanted_next, table_bytes);
  if (round.packs) room.Pack();
  return PieceTable::Make(current.epoch() + 1, round.layout_hash, current.job(), std::move(placed),
                          capacity, table_offset);
}

std::int64_t BytesBeside(const PieceTable& current, const PieceTable& next) {
  std::vector<ptc::Interval> old;
  for (const PieceEntry& entry : current.entries()) {
    if (entry.kind != PieceEntry::kState) continue;
    old.push_back({entry.offset_bytes, entry.offset_bytes + entry.size_bytes});
  }
  std::sort(old.begin(), old.end());
  std::int64_t bytes = next.extent().size();
  for (const PieceEntry& entry : next.entries()) {
    if (entry.kind != PieceEntry::kState) continue;
    const auto after = std::upper_bound(
        old.begin(), old.end(), entry.offset_bytes,
        [](std::int64_t offset, const ptc::Interval& range) { return offset < range.begin; });
    const bool stays = after != old.begin() && entry.offset_bytes < std::prev(after)->end;
    if (!stays) bytes += RoundUpToPiece(entry.size_bytes);
  }
  return bytes;
}

std::int64_t BytesNeeded(const ptc::Layout& layout, int rank) {
  const std::vector<PieceEntry> pieces = PiecesOf(layout, rank);
  return kFirstByte + RoundedBytes(pieces) + PieceTable::BytesFor(pieces);
}

}  // namespace tessera::engine
