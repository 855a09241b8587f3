// SPDX-License-Identifier: Apache-2.0
#include "agents/train/model/initialise.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/data/cursor.h"
#include "engine/data/random_stream.h"
#include "engine/update/bfloat16.h"

namespace tessera::agents::train {
namespace {

/// Fills the part of a matrix in `box`. The uncut tensor has `columns` columns.
void FillNormal(const engine::RandomStream& stream, float deviation, std::int64_t columns,
                const ptc::Box& box, std::span<float> out) {
  std::size_t at = 0;
  for (std::int64_t row = box[0].begin; row < box[0].end; ++row) {
    std::int64_t index = row * columns + box[1].begin;
    const std::int64_t end = row * columns + box[1].end;
    while (index < end) {
      const auto block = stream.NormalBlock(static_cast<std::uint64_t>(index / 4));
      for (auto lane = static_cast<std::size_t>(index % 4); lane < 4 && index < end;
           ++lane, ++index) {
        out[at++] = deviation * block[lane];
      }
    }
  }
}

}  // namespace

void Initialise(const engine::JobSettings& settings, const RankState& state) {
  const float residual =
      static_cast<float>(1.0 / std::sqrt(2.0 * static_cast<double>(settings.model.layers)));
  std::vector<float> drawn;
  for (const ParameterPiece& piece : state.parameters) {
    drawn.resize(piece.size());
    const bool to_residual =
        piece.name.ends_with(".proj.weight") || piece.name.ends_with(".fc2.weight");
    if (piece.shape.size() == 2) {
      const engine::RandomStream stream(settings.seed, engine::RandomPurpose::kInitialise,
                                        piece.name);
      FillNormal(stream, 0.02F * (to_residual ? residual : 1.0F), piece.shape[1], piece.box, drawn);
    } else {
      const bool is_norm_weight = piece.name.ends_with(".weight");
      std::fill(drawn.begin(), drawn.end(), is_norm_weight ? 1.0F : 0.0F);
    }
    if (piece.bf16.empty()) {
      std::copy(drawn.begin(), drawn.end(), piece.value.begin());
    } else {
      engine::RoundToBf16(drawn, piece.bf16);
    }
    for (const OptimizerPiece& optimizer : piece.optimizer) {
      const auto range = std::span(drawn).subspan(optimizer.offset, optimizer.master.size());
      std::copy(range.begin(), range.end(), optimizer.master.begin());
      std::fill(optimizer.exp_avg.begin(), optimizer.exp_avg.end(), 0.0F);
      std::fill(optimizer.exp_avg_sq.begin(), optimizer.exp_avg_sq.end(), 0.0F);
    }
  }
  *state.step = 0;
  const auto cursor = engine::Cursor{.seed = settings.seed}.ToArray();
  std::copy(cursor.begin(), cursor.end(), state.cursor);
}

}  // namespace tessera::agents::train
