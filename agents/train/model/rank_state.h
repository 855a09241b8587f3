// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The state of one rank as the trainer uses it: parameters with their moments and gradients, and
/// the job's scalars, all in memory that belongs to somebody else (the arena).

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "agents/job/tessera_job.h"
#include "ptc/base/result.h"
#include "ptc/box.h"

namespace tessera::agents::train {

/// One box of a parameter. A fused tensor (q|k|v) has one of these for each segment, in order.
struct ParameterPiece {
  std::string name;
  ptc::Shape shape;  // of the uncut tensor
  ptc::Box box = ptc::Box::Scalar();
  std::span<float> value, exp_avg, exp_avg_sq, gradient;

  /// Matrices decay; biases and norms do not.
  bool decays() const { return shape.size() >= 2; }
};

struct RankState {
  std::vector<ParameterPiece> parameters;  // in order of (name, box)
  std::int64_t* step = nullptr;            // job.step: steps made
  std::int64_t* cursor = nullptr;          // job.cursor: three words

  /// The pieces of `name` in order of box; empty if this rank has none.
  std::span<const ParameterPiece> Find(std::string_view name) const;
};

/// Sorts out what the rank library hands over.
/// \error kInvalidArgument naming a piece that has no moments of the same box, is not f32, or has
/// no
///     memory; kNotFound if job.step or job.cursor is missing
Result<RankState> BindState(std::span<const tessera_piece> pieces);

}  // namespace tessera::agents::train
