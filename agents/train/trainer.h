// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// One rank's part of a training step, between the points where all ranks agree.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "agents/job/tessera_job.h"
#include "agents/train/comm/groups.h"
#include "agents/train/model/gpt_model.h"
#include "agents/train/model/rank_state.h"
#include "agents/train/schedule.h"
#include "agents/train/updater.h"
#include "engine/data/text_dataset.h"
#include "engine/model/gpt.h"

namespace tessera::agents::train {

/// Floats of a message between the stages of `view`'s mesh; 0 where there is one stage.
std::size_t StageMessageFloats(const engine::JobSettings& settings, const tessera_view& view);

/// The tensors of a step live in borrowed memory; everything that a step reads and that outlives it
/// is in there, so a trainer can be bound to other pieces between any two steps.
///
/// A step is ComputeGradients, the step decision, PrepareUpdate and CommitUpdate.
class Trainer {
 public:
  /// \pre dataset.sequence() == settings.model.sequence
  Trainer(engine::JobSettings settings, engine::TextDataset dataset);

  /// Builds the views of `pieces`, whose memory outlives the trainer or the next Bind.
  /// `micro_batch` as in engine::StepOptions. Returns the groups of before, which the caller lets
  /// go in its own time.
  /// \error kInvalidArgument naming a tensor or a degree of the mesh that does not fit
  Result<Groups> Bind(std::span<const tessera_piece> pieces, Groups groups,
                      std::int64_t micro_batch);

  const engine::JobSettings& settings() const { return settings_; }
  const engine::TextDataset& dataset() const { return dataset_; }
  const Groups& groups() const { return groups_; }
  /// Steps made. \pre bound
  std::int64_t step() const { return *state_.step; }

  /// Gradients of step step() + 1, summed over the data-parallel ranks and, where both end stages
  /// hold the token embedding, over the two, then copied to the pieces' gradient memory; state is
  /// not touched. Returns this rank's part of the step decision.
  /// \error what a group returns, kDataLoss from the data set, kInvalidArgument for a damaged
  /// cursor
  Result<tessera_record> ComputeGradients();

  /// Gets step step() + 1 ready: the gradients times `clip`, or, with `skip`, none. Makes the
  /// step's last collectives; touches no state. \error what a group returns
  Status PrepareUpdate(double clip, bool skip);
  /// Makes the step that was prepared: parameters and optimizer state, then cursor and step count.
  /// Elementwise; makes no collective. \pre PrepareUpdate since the last step
  void CommitUpdate();

 private:
  bool is_first_stage() const { return groups_.pp->rank() == 0; }
  bool is_last_stage() const { return groups_.pp->rank() == groups_.pp->size() - 1; }
  /// This rank's samples of the coming global batch, one after the other.
  Result<std::vector<std::uint8_t>> ReadBatch() const;
  /// Runs all micro-batches. Returns this rank's share of the loss.
  Result<double> RunMicroBatches();
  /// Adds up the gradients of the two copies of a tied token embedding.
  Status ReduceTiedEmbedding();
  /// This rank's part of the squared norm of the gradient: every element counts on one rank only.
  double NormShare() const;
  UpdateCoefficients Coefficients(double clip) const;

  const engine::JobSettings settings_;
  const engine::TextDataset dataset_;
  Groups groups_;
  RankState state_;
  std::unique_ptr<GptModel> model_;
  Updater updater_;
  std::int64_t micro_batch_ = 1;                // samples
  std::vector<StageAction> schedule_;           // of every step
  std::optional<UpdateCoefficients> prepared_;  // none: the step changes no parameter
};

}  // namespace tessera::agents::train
