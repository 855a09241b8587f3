// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Where in an arena the pieces of a layout go. Pure and deterministic: equal inputs give equal
/// tables in every process. Beside each parameter piece stands one for its reduced gradient: the
/// same box, always f32.

#include <cstdint>
#include <string_view>

#include "engine/store/piece_table.h"
#include "ptc/layout.h"
#include "ptc/mesh.h"
#include "ptc/plan/plan.h"

namespace tessera::engine {

/// The table of a device that holds nothing yet and becomes `rank` of `layout` in `epoch`. Largest
/// pieces first, one behind the other, each aligned to kPieceAlignment.
/// \pre 0 <= rank && rank < layout.mesh().num_ranks()
/// \error kResourceExhausted: `device n0g1: layout needs 812 MiB, arena holds 512 MiB`.
Result<PieceTable> AllocateInitial(std::string_view job, std::int64_t epoch,
                                   const ptc::Layout& layout, int rank, std::int64_t capacity);

/// The table of epoch `old.epoch() + 1` on `device`, while every state piece of `old` stays where
/// it is and untouched:
/// - what the plan keeps lies inside the old piece, at its place;
/// - other state and all gradients go, largest first, to the first gap that fits. The space of old
///   gradients counts as free.
/// A device that is not in `from` has an `old` without entries; one that is not in `to` gets a
/// table without entries. \error kFailedPrecondition if `old`, plan and layouts do not belong
/// together (names the hashes, or
///     the piece that the table lacks); kResourceExhausted: `device n0g1: layout needs 812 MiB
///     during the move, arena holds 512 MiB`, or, where the sum fits but no gap does, the piece and
///     the gap.
Result<PieceTable> AllocateNext(const PieceTable& old, const ptc::Layout& from,
                                const ptc::Layout& to, ptc::DeviceId device, const ptc::Plan& plan,
                                std::int64_t capacity);

/// The least arena capacity with which AllocateInitial succeeds: header and tables, state,
/// gradients.
std::int64_t BytesNeeded(const ptc::Layout& layout, int rank);

/// Header and tables, old state, new state that is not kept, and new gradients on `device`: with
/// less the move cannot be made. (With as much it can, unless the gaps are too small.)
std::int64_t BytesNeededDuringMove(const ptc::Layout& from, const ptc::Layout& to,
                                   ptc::DeviceId device, const ptc::Plan& plan);

}  // namespace tessera::engine
