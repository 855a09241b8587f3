// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The control page of an arena, which the rank and the agents of one device share. See FORMAT.md.
/// All words are 64-bit, naturally aligned, little-endian, and accessed atomically.

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tessera::engine {

inline constexpr std::uint64_t kArenaMagic = 0x4152455353455431ULL;  // "1TESSERA" in memory order
inline constexpr std::uint64_t kArenaVersion = 5;
inline constexpr std::size_t kArenaHeaderBytes = 4096;
/// Where a table without entries lies: inside the control page, so that a device can leave a job
/// however full its arena is.
inline constexpr std::size_t kEmptyTableOffset = 2048;
inline constexpr std::size_t kEmptyTableBytes = 1024;
/// Where the data region begins, which holds pieces and piece tables.
inline constexpr std::size_t kArenaDataOffset = kArenaHeaderBytes;
inline constexpr std::size_t kPieceAlignment = 64;

using Word = std::atomic<std::uint64_t>;
static_assert(Word::is_always_lock_free);

/// A concurrent reader uses [begin, end] as a seqlock: if they differ, an update is under way and
/// the state is torn.
///
/// The rank writes grads_step, decision_*, begin and end. The agent writes everything else, and
/// resets those words when it flips to another table.
struct ArenaHeader {
  Word magic;
  Word version;
  Word capacity_bytes;  // of the whole arena, header included
  Word job_hash;        // xxh3 of the job's name; 0: no job
  Word timeline;
  Word epoch;            // epoch & 1 selects the slot below; the flip is this one store
  Word layout_hash[2];   // of the layout of each slot's table
  Word table_offset[2];  // of each slot's table in the arena; 0: none was written
  Word grads_step;       // gradients of this step are complete in the arena; 0: none
  Word decision_step;    // the step that the decision below is for; stored last
  Word decision_clip;    // bits of a double: the clip coefficient
  Word decision_skip;
  Word decision_pause;  // transaction that pauses after this step, or before its update, or
                        // kRequestNoData; 0: none
  Word begin;           // step whose update has begun
  Word end;             // step whose update has ended
  Word request;         // transaction that requests a pause; 0: none
  Word request_step;    // the request applies from the decision of this step on
  Word hold;            // 0: no hold. Otherwise updates of steps >= hold wait; 1 holds all.
  Word decision_loss;   // of the decision above, for the history: the bits of two doubles,
  Word decision_norm2;
  Word decision_tokens;  // and a number
  Word token;            // random, from the keeper: who names the arena to others names it too
  Word memory_kind;      // MemoryKind of the pieces, from the keeper
};
static_assert(sizeof(ArenaHeader) <= kEmptyTableOffset);

/// Value of `request` when the job has made all of its steps.
inline constexpr std::uint64_t kRequestStepsDone = 1;
/// Value of `request` when the job cannot read the next step's samples. It is larger than any
/// transaction, so it is the reason that is kept if both request the same pause.
inline constexpr std::uint64_t kRequestNoData = ~std::uint64_t{0};
/// Added to the number of a transaction in `request`: ranks pause before the update of a step, with
/// its gradients, instead of after it.
inline constexpr std::uint64_t kRequestBeforeUpdate = std::uint64_t{1} << 62;
/// The number of the first transaction.
inline constexpr std::uint64_t kFirstTransaction = 2;

}  // namespace tessera::engine
