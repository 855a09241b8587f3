// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The first pages of an arena: what ranks and agents of one device share. See FORMAT.md.
/// All words are 64-bit, naturally aligned, little-endian, and accessed atomically.

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tessera::engine {

inline constexpr std::uint64_t kArenaMagic =
    0x4152455353455431ULL;  // "spells 1TESSERA in memory order
inline constexpr std::uint64_t kArenaVersion = 2;
inline constexpr std::size_t kArenaHeaderBytes = 4096;
/// Each of the two piece-table slots.
inline constexpr std::size_t kPieceTableSlotBytes = std::size_t{1} << 20;
/// Where pieces begin.
inline constexpr std::size_t kArenaDataOffset = kArenaHeaderBytes + 2 * kPieceTableSlotBytes;
inline constexpr std::size_t kPieceAlignment = 64;

using Word = std::atomic<std::uint64_t>;
static_assert(Word::is_always_lock_free);

/// A concurrent reader uses [begin, end] as a seqlock: begin is the number of updates begun, end
/// the number finished; begin != end means the state in between is torn.
///
/// Writers: the rank writes grads_step, decision_*, begin, end. The agent writes everything else.
struct ArenaHeader {
  Word magic;
  Word version;
  Word capacity_bytes;  // of the whole arena, header included
  Word job_hash;        // xxh3 of the job's name; 0: no job
  Word timeline;
  Word epoch;           // epoch & 1 selects the piece-table slot; the flip is this one store
  Word layout_hash[2];  // of the layout in each slot
  Word grads_step;      // gradients of this step are complete in the arena; 0: none
  Word decision_step;   // the step decision below is for this step; stored last
  Word decision_clip;   // bits of a double: the clip coefficient
  Word decision_skip;
  Word decision_pause;  // transaction that pauses after this step, or kRequestNoData; 0: none
  Word begin;           // step whose update has begun
  Word end;             // step whose update has ended
  Word request;         // transaction that asks for a pause, 0: none (agent)
  Word request_step;    // the request counts from the decision of this step on (agent)
  Word hold;            // h > 0: begin no update of a step >= h, 1 so means any (agent)
};
static_assert(sizeof(ArenaHeader) <= kArenaHeaderBytes);

/// `request` of a job that has made all of its steps.
inline constexpr std::uint64_t kRequestStepsDone = 1;
/// `request` of a job that cannot read what it trains on next. Larger than any transaction: where
/// both ask for the same pause, this is why there is one.
inline constexpr std::uint64_t kRequestNoData = ~std::uint64_t{0};
/// Transactions are numbered from here.
inline constexpr std::uint64_t kFirstTransaction = 2;

}  // namespace tessera::engine
