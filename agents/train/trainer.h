// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// One rank's part of a training step, between the points where all ranks agree.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "agents/job/tessera_job.h"
#include "agents/train/comm/groups.h"
#include "agents/train/model/gpt_model.h"
#include "agents/train/model/rank_state.h"
#include "engine/data/text_dataset.h"
#include "engine/model/gpt.h"

namespace tessera::agents::train {

/// The tensors of a step live in borrowed memory; everything that a step reads and that outlives it
/// is in there, so a trainer can be bound to other pieces between any two steps.
class Trainer {
 public:
  /// \pre dataset.sequence() == settings.model.sequence
  Trainer(engine::JobSettings settings, engine::TextDataset dataset);

  /// Builds the views of `pieces`, whose memory outlives the trainer or the next Bind. Returns the
  /// groups of before, which the caller lets go in its own time.
  /// \error kInvalidArgument naming a tensor or group that does not fit
  Result<Groups> Bind(std::span<const tessera_piece> pieces, Groups groups);

  const engine::JobSettings& settings() const { return settings_; }
  const engine::TextDataset& dataset() const { return dataset_; }
  const Groups& groups() const { return groups_; }
  /// Steps made. \pre bound
  std::int64_t step() const { return *state_.step; }

  /// Gradients of step step() + 1, summed over the data-parallel ranks and copied to the pieces'
  /// gradient memory; state is not touched. Returns this rank's part of the step decision.
  /// \error what a group returns, kDataLoss from the data set, kInvalidArgument for a damaged
  /// cursor
  Result<tessera_record> ComputeGradients();

  /// Makes step step() + 1: parameters and moments by the gradients times `clip`, unless `skip`;
  /// then cursor and step count. Elementwise; makes no collective.
  void Update(double clip, bool skip);

 private:
  /// This rank's samples of the coming global batch, one after the other.
  Result<std::vector<std::uint8_t>> ReadBatch() const;
  /// This rank's part of the squared norm of the gradient: every element counts on one rank only.
  double NormShare(std::span<const float> gradients) const;

  const engine::JobSettings settings_;
  const engine::TextDataset dataset_;
  Groups groups_;
  RankState state_;
  std::unique_ptr<GptModel> model_;
};

}  // namespace tessera::agents::train
