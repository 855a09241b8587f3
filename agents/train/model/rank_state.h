// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The state of one rank as the trainer uses it, in memory that it does not own (the arena):
/// parameters with their optimizer state and gradients, and the scalars of the job.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agents/job/tessera_job.h"
#include "ptc/base/result.h"
#include "ptc/box.h"

namespace tessera::agents::train {

/// The optimizer state of a contiguous range of a parameter piece.
struct OptimizerPiece {
  std::size_t offset = 0;   // of the range, in elements of the parameter piece
  std::span<float> master;  // with bf16 parameters; else empty
  std::span<float> exp_avg, exp_avg_sq;

  std::size_t size() const { return exp_avg.size(); }
};

/// One box of a parameter. A fused tensor (q|k|v, gate|up) has one of these for each segment, in
/// order. Either `value` or `bf16` is set.
struct ParameterPiece {
  std::string name;
  ptc::Shape shape;  // of the uncut tensor
  ptc::Box box = ptc::Box::Scalar();
  std::span<float> value;
  std::span<std::uint16_t> bf16;
  std::span<float> gradient;
  /// Disjoint, in order of offset. Without ZeRO one entry covers the whole piece. With ZeRO they
  /// are the ranges that this rank updates, possibly none.
  std::vector<OptimizerPiece> optimizer;

  std::size_t size() const { return gradient.size(); }
};

struct RankState {
  std::vector<ParameterPiece> parameters;  // in order of (name, box)
  std::int64_t* step = nullptr;            // job.step: steps made
  std::int64_t* cursor = nullptr;          // job.cursor: three words

  /// Returns the pieces of `name` in order of box; empty if this rank has none.
  std::span<const ParameterPiece> Find(std::string_view name) const;
};

/// Binds the pieces that the rank library lists.
/// \error kInvalidArgument naming a piece that has the wrong type or no memory, or is listed twice;
///     optimizer state that lacks one of its parts or is not one range of a parameter piece;
///     kNotFound if job.step or job.cursor is missing
Result<RankState> BindState(std::span<const tessera_piece> pieces);

}  // namespace tessera::agents::train
