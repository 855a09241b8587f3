// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Which piece of which tensor lies where in an arena. The table lives in the arena too, in the
/// slot of its epoch, so that one store of the epoch switches memory and table together. See
/// FORMAT.md.

#include <cstdint>
#include <string>
#include <vector>

#include "engine/store/arena.h"
#include "ptc/base/result.h"
#include "ptc/box.h"

namespace tessera::engine {

struct PieceEntry {
  enum Kind : std::uint8_t {
    kState,     // part of the collection
    kGradient,  // reduced gradient of a parameter: same box, always f32, no state
  };
  int tensor = 0;  // index into the collection of the layout
  ptc::Box box = ptc::Box::Scalar();
  Kind kind = kState;
  std::int64_t offset_bytes = 0;  // from the start of the arena
  std::int64_t size_bytes = 0;
  friend bool operator==(const PieceEntry&, const PieceEntry&) = default;
};

/// Immutable. Entries are sorted by (kind, tensor, box), each once; their ranges are disjoint.
class PieceTable {
 public:
  /// Sorts the entries and checks the invariants.
  /// \error kInvalidArgument naming the entry: a key twice, overlapping ranges, a range outside
  ///     [kArenaDataOffset, capacity), a size that does not fit the box, a negative epoch.
  static Result<PieceTable> Make(std::int64_t epoch, std::uint64_t layout_hash, std::string job,
                                 std::vector<PieceEntry> entries, std::int64_t capacity);

  std::int64_t epoch() const { return epoch_; }
  std::uint64_t layout_hash() const { return layout_hash_; }
  const std::string& job() const { return job_; }
  const std::vector<PieceEntry>& entries() const { return entries_; }

  /// The entry with exactly this box, or nullptr. Logarithmic.
  const PieceEntry* Find(PieceEntry::Kind kind, int tensor, const ptc::Box& box) const;
  /// The state piece that contains `box`, or nullptr. \pre box has the rank of the tensor's pieces
  const PieceEntry* FindContaining(int tensor, const ptc::Box& box) const;
  /// Bytes of all entries, gradients included.
  std::int64_t used_bytes() const;

  /// Puts the table and its layout hash into `slot`, which readers of the current epoch do not look
  /// at. \pre arena is writable, slot == SlotOf(epoch())
  /// \error kResourceExhausted if the slot is too small: `piece table: 1062912 bytes, a slot holds
  ///     1048576`.
  Status Write(Arena& arena, int slot) const;
  /// \error kNotFound for an empty slot; kDataLoss for anything that a write cannot have made.
  static Result<PieceTable> Read(const Arena& arena, int slot);
  /// The table that the header's epoch selects. \error as Read, kDataLoss if the epochs differ.
  static Result<PieceTable> ReadCurrent(const Arena& arena);

  static int SlotOf(std::int64_t epoch) { return static_cast<int>(epoch & 1); }

  friend bool operator==(const PieceTable&, const PieceTable&) = default;

 private:
  PieceTable() = default;
  std::int64_t epoch_ = 0;
  std::uint64_t layout_hash_ = 0;
  std::string job_;
  std::vector<PieceEntry> entries_;
};

/// Makes the table of `epoch`, already written to its slot, the current one: a single store.
/// \pre arena is writable
void FlipTo(Arena& arena, std::int64_t epoch);

}  // namespace tessera::engine
