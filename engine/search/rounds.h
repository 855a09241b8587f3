// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A move in rounds, for devices that have no room for old and new state side by side. A round
/// moves whole tensors on all devices; once each cell of it is verified, the old pieces of these
/// tensors are freed. Between rounds an arena has a mixed table: some tensors as in the new layout,
/// the others as in the old one. The first rounds only make room inside the
/// arenas, and the last one places the new gradients.

#include <cstdint>
#include <map>
#include <vector>

#include "engine/store/allocate.h"
#include "ptc/base/result.h"
#include "ptc/layout.h"
#include "ptc/plan/kinds.h"

namespace tessera::engine {

struct RoundPlan {
  std::vector<Round> rounds;
  /// What a device needs beside its state in the round that needs most: new pieces, and the table.
  std::map<ptc::DeviceId, std::int64_t> extra;
  /// The most that is taken of its arena during the move, with control page, tables and gradients.
  std::map<ptc::DeviceId, std::int64_t> peak;
};

/// The layout hash of the table after `round`, the first of which is 1. No layout has it.
std::uint64_t MixedHash(std::uint64_t from_hash, std::uint64_t to_hash, int round);

/// What rounds begin with. All that it points to outlives it.
struct RoundBasis {
  /// Tensors that lie as in one layout.
  struct Part {
    const ptc::Layout* layout = nullptr;
    const ptc::Kinds* kinds = nullptr;  // of that layout and of `to`, without other tensors
    const std::vector<ptc::DeviceId>* lost = nullptr;  // that hold nothing of them; null: none
  };
  /// The whole state lies as in `from`.
  static RoundBasis Of(const ptc::Layout& from, const ptc::Layout& to, const ptc::Kinds& kinds,
                       const std::map<ptc::DeviceId, std::int64_t>& capacities) {
    return {{{&from, &kinds}}, &to, &capacities, from.hash()};
  }

  std::vector<Part> parts;
  const ptc::Layout* to = nullptr;
  const std::map<ptc::DeviceId, std::int64_t>* capacities = nullptr;  // of all devices of use
  std::uint64_t hash = 0;                                             // of the present tables
  std::vector<ptc::DeviceId> lost = {};  // devices of the parts whose state is of no use
  /// False after a move in rounds that was not ended: gradients are placed by the last round.
  bool has_gradients = true;
};

/// Fills rounds with as many tensors as `limit` and the arenas allow, those with the largest pieces
/// first: then the space of the old gradients is whole, and what a round frees is adjacent. Pure:
/// equal inputs give equal rounds. Gaps are not considered; AllocateRound finds out.
/// \param limit bytes of new pieces and of the next table that may lie beside the state of a device
/// \error kResourceExhausted naming the device, and the tensor that does not fit within the limit
///     or the arena
Result<RoundPlan> PlanRounds(const RoundBasis& basis, std::int64_t limit);

/// A limit with which PlanRounds succeeds: a power of two of bytes, from 64 KiB, with room to spare
/// where that is possible. 0: there is none.
std::int64_t FindMoveMemory(const RoundBasis& basis);

}  // namespace tessera::engine
