// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Which piece of which tensor lies where in an arena. The table itself lies in the arena, and the
/// header stores its offset in the slot of its epoch, so that one store of the epoch switches
/// memory and table together. See FORMAT.md.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/store/arena.h"
#include "ptc/base/result.h"
#include "ptc/box.h"

namespace tessera::engine {

struct PieceEntry {
  enum Kind : std::uint8_t {
    kState,     // of a tensor of the collection
    kGradient,  // reduced gradient of a parameter: the same box, always f32; not state
  };
  static constexpr std::int64_t kGradientElementBytes = 4;  // f32

  int tensor = 0;  // index into the collection of the layout
  ptc::Box box = ptc::Box::Scalar();
  Kind kind = kState;
  std::int64_t offset_bytes = 0;  // from the start of the arena
  std::int64_t size_bytes = 0;
  friend bool operator==(const PieceEntry&, const PieceEntry&) = default;
};

/// The space that a piece of `bytes` takes, because the next one begins aligned.
constexpr std::int64_t RoundUpToPiece(std::int64_t bytes) {
  constexpr auto kAlignment = static_cast<std::int64_t>(kPieceAlignment);
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// Immutable, and cheap to copy: copies share the entries. Entries are sorted by (kind, tensor,
/// box), each key once. The ranges of the entries and of the table itself are disjoint.
class PieceTable {
 public:
  static constexpr std::size_t kMaxJobBytes = 64;

  /// Bytes that a table of these entries occupies in the data region, a multiple of
  /// kPieceAlignment: with room for the longest name of a job. 0 without entries, because such a
  /// table lies in the control page.
  static std::int64_t BytesFor(std::span<const PieceEntry> entries);
  /// The same for entries whose boxes have `num_dims` dims together.
  static std::int64_t BytesFor(std::int64_t num_entries, std::int64_t num_dims);

  /// Sorts the entries and checks the invariants.
  /// \param offset where the table lies in the arena, a multiple of kPieceAlignment. nullopt: at
  ///     the end of the arena. Ignored without entries.
  /// \error kInvalidArgument naming the entry: a key twice, overlapping ranges, a range outside
  ///     [kArenaDataOffset, capacity), a size that does not fit the box, a negative epoch, a name
  ///     longer than kMaxJobBytes
  static Result<PieceTable> Make(std::int64_t epoch, std::uint64_t layout_hash, std::string job,
                                 std::vector<PieceEntry> entries, std::int64_t capacity,
                                 std::optional<std::int64_t> offset = std::nullopt);

  std::int64_t epoch() const { return epoch_; }
  std::uint64_t layout_hash() const { return layout_hash_; }
  const std::string& job() const { return job_; }
  const std::vector<PieceEntry>& entries() const { return *entries_; }
  using Entries = std::shared_ptr<const std::vector<PieceEntry>>;
  const Entries& entries_ptr() const { return entries_; }
  /// Shares equal entries of another table, and frees its own.
  /// \pre *equal == entries()
  void ShareEntries(Entries equal) { entries_ = std::move(equal); }

  /// The range of the table itself in the data region; empty without entries.
  ptc::Interval extent() const { return {offset_, offset_ + BytesFor(*entries_)}; }
  /// The entry with exactly this box, or nullptr. Logarithmic.
  const PieceEntry* Find(PieceEntry::Kind kind, int tensor, const ptc::Box& box) const;
  /// The piece of this kind that contains `box`, or nullptr.
  /// \pre box has the rank of the tensor's pieces
  const PieceEntry* FindContaining(int tensor, const ptc::Box& box,
                                   PieceEntry::Kind kind = PieceEntry::kState) const;
  /// Bytes of all entries, gradients included.
  std::int64_t used_bytes() const { return used_bytes_; }

  /// Writes the table at its offset, and the offset and the layout hash to `slot`. Readers of the
  /// current epoch use the other slot.
  /// \pre arena is writable, slot == SlotOf(epoch()), the range of the table is free in the current
  ///     epoch
  /// \error kInvalidArgument if the range of the table is outside of this arena
  Status Write(Arena& arena, int slot) const;
  /// \error kNotFound for a slot that was never written; kDataLoss for anything that Write cannot
  ///     have made
  static Result<PieceTable> Read(const Arena& arena, int slot);
  /// The table that the header's epoch selects.
  /// \error as Read; kDataLoss if the epochs differ
  static Result<PieceTable> ReadCurrent(const Arena& arena);

  static int SlotOf(std::int64_t epoch) { return static_cast<int>(epoch & 1); }

  friend bool operator==(const PieceTable& a, const PieceTable& b) {
    return a.epoch_ == b.epoch_ && a.layout_hash_ == b.layout_hash_ && a.job_ == b.job_ &&
           a.offset_ == b.offset_ && *a.entries_ == *b.entries_;
  }

 private:
  PieceTable() = default;
  std::int64_t epoch_ = 0;
  std::uint64_t layout_hash_ = 0;
  std::string job_;
  Entries entries_;  // never null
  std::int64_t offset_ = 0;
  std::int64_t used_bytes_ = 0;
};

/// Makes the table of `epoch`, which is already written, the current one: a single store.
/// \pre arena is writable
void FlipTo(Arena& arena, std::int64_t epoch);

}  // namespace tessera::engine
