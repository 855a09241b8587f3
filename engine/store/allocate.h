// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Chooses where the pieces of a layout lie in an arena. Pure and deterministic: equal inputs give
/// equal tables in every process. Each piece of a parameter has a second piece for its reduced
/// gradient, with the same box and always f32. Pieces go to the lowest gap that fits, the table to
/// the highest.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/store/piece_table.h"
#include "ptc/layout.h"
#include "ptc/mesh.h"
#include "ptc/plan/plan.h"

namespace tessera::engine {

/// Makes the table of a device that holds nothing yet and becomes `rank` of `layout` in `epoch`.
/// Pieces follow each other, the largest first, each aligned to kPieceAlignment.
/// \pre 0 <= rank && rank < layout.mesh().num_ranks()
/// \error kResourceExhausted: `device n0g1: layout needs 812 MiB, arena holds 512 MiB`
Result<PieceTable> AllocateInitial(std::string_view job, std::int64_t epoch,
                                   const ptc::Layout& layout, int rank, std::int64_t capacity);

/// What becomes of the gradients of the old layout while the state moves.
enum class OldGradients {
  kFree,  // ranks are paused at the boundary of a step: nobody needs them
  kKept   // ranks compute them while the state is copied, and they move too
};

/// Makes the table of epoch `old.epoch() + 1` on `device`. The state pieces of `old` and `old`
/// itself stay untouched:
/// - a piece that `moves` keep stays where it lies inside the old piece;
/// - other state and all gradients go, largest first, to the first gap that fits. The space of old
///   gradients counts as free for them;
/// - the table lies outside of old gradients too, because it is written while the job still runs;
/// - with OldGradients::kKept nothing new lies in old gradients, and the gradient of a parameter
/// that
///   stays where it lies does so too.
///
/// A device that is not in `from` has an `old` without entries. A device that is not in `to` gets a
/// table without entries.
/// \param moves of `device`; those of other devices are ignored
/// \error kFailedPrecondition if `old` and `from`, or `old` and `moves`, do not belong together
///     (names the hashes, or the piece that the table lacks); kResourceExhausted: `device n0g1:
///     layout needs 812 MiB during the move, arena holds 512 MiB`, or, if the sum fits but no gap
///     does, the piece and the largest gap
Result<PieceTable> AllocateNext(const PieceTable& old, const ptc::Layout& from,
                                const ptc::Layout& to, ptc::DeviceId device,
                                std::span<const ptc::Move> moves, std::int64_t capacity,
                                OldGradients gradients = OldGradients::kFree);

/// Where the gradients of `tensors` are kept while ranks compute the next ones: pieces of a table
/// that is never written, in the gaps beside `old` and `next`. Others who read these two tables
/// find the same places.
/// \param tensors ascending
/// \error kResourceExhausted naming the device
Result<PieceTable> AllocateSaved(const PieceTable& old, const PieceTable& next,
                                 std::span<const int> tensors, ptc::DeviceId device,
                                 std::int64_t capacity);

/// A step of a move in rounds (search/rounds.h): tensors that change from the old layout to the new
/// one.
struct Round {
  std::vector<int> tensors;  // ascending
  /// All state is in the new layout after it, so that it places the new gradients.
  bool is_last = false;
  std::uint64_t layout_hash = 0;  // of the table after it
  bool packs = false;             // one of the first, which only make room
  /// Of the round after it, for which a device may make room meanwhile.
  std::vector<int> next_tensors = {};
  bool next_is_last = false;
};

/// Makes the table of epoch `current.epoch() + 1` of a device that makes a round. Nothing new lies
/// in the state pieces of `current`, and the table lies outside of its gradients too. What
/// `current` has of other tensors stays where it is, unless the next round would find no gap: then
/// pieces that are not read in this round and the next go elsewhere, as far as `budget` allows.
/// \param budget of BytesBeside
/// \param current the table after the round before, or that of the old layout
/// \param moves of `device`; those of other devices and tensors are ignored
/// \error kFailedPrecondition as AllocateNext; kResourceExhausted naming device and tensor
Result<PieceTable> AllocateRound(const PieceTable& current, const ptc::Layout& to,
                                 ptc::DeviceId device, std::span<const ptc::Move> moves,
                                 std::int64_t capacity, const Round& round, std::int64_t budget);
/// The bytes of the table `next` and of its state pieces, each rounded up, that lie beside what
/// `current` has.
std::int64_t BytesBeside(const PieceTable& current, const PieceTable& next);

/// The least capacity of an arena with which AllocateInitial succeeds: control page, table, state
/// and gradients. MemoryNeeds (memory_needs.h) has it for many ranks.
std::int64_t BytesNeeded(const ptc::Layout& layout, int rank);

}  // namespace tessera::engine
