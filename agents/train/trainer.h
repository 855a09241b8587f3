// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// One rank's part of a training step, between the points where all ranks agree.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agents/job/tessera_job.h"
#include "agents/train/batch_reader.h"
#include "agents/train/comm/groups.h"
#include "agents/train/model/gpt_model.h"
#include "agents/train/model/rank_state.h"
#include "agents/train/schedule.h"
#include "agents/train/updater.h"
#include "engine/data/data_mix.h"
#include "engine/model/gpt.h"

namespace tessera::agents::train {

/// Floats of a message between the stages of `view`'s mesh; 0 where there is one stage.
std::size_t StageMessageFloats(const engine::JobSettings& settings, const tessera_view& view);

/// What the settings name, as OpenJobData opens it.
DataAccess AccessOf(const engine::JobSettings& settings);

/// The tensors of a step live in borrowed memory; everything that a step reads and that outlives it
/// is in there, so a trainer can be bound to other pieces between any two steps.
///
/// A step is ComputeGradients, the step decision, PrepareUpdate and CommitUpdate. While it
/// computes, the batch of the step after it is read on another thread, so that a step never begins
/// whose data cannot be read: this rank's record says so before, and all ranks stop at that
/// boundary.
class Trainer {
 public:
  /// \pre data.sequence() == settings.model.sequence
  /// Without `access.open` that of AccessOf is taken.
  Trainer(engine::JobSettings settings, engine::DataMix data, DataAccess access = {});

  /// Builds the views of `pieces`, whose memory outlives the trainer or the next Bind.
  /// `micro_batch` as in engine::StepOptions. Returns the groups of before, which the caller lets
  /// go in its own time.
  /// \error kInvalidArgument naming a tensor or a degree of the mesh that does not fit
  Result<Groups> Bind(std::span<const tessera_piece> pieces, Groups groups,
                      std::int64_t micro_batch);

  /// The mesh is another one since the last step: what the settings say of that (at_change) holds
  /// for the coming one. Every rank of the new mesh is told. \pre bound
  void OnChange() { is_changed_ = true; }

  const engine::JobSettings& settings() const { return settings_; }
  const Groups& groups() const { return groups_; }
  /// Steps made. \pre bound
  std::int64_t step() const { return *state_.step; }

  /// Whether the batch of step step() + 1 is read: after every step but the last, and where its
  /// data could be read. The same on all ranks of a job unless one of them could not read.
  bool HasBatch() const;
  /// Reads the batch of step step() + 1 where it is not there. After an error of this rank or of
  /// another, the data set is opened anew first. All that takes no longer than the patience of the
  /// access. Stages that look at no data always have their batch. \error as ReadBatch,
  /// OpenData; kDataLoss where the data set is now another one
  Status FetchBatch();
  /// Lets go of the batch, also where it was read: another rank's was not. What it was read from
  /// may be gone as well.
  void DropBatch();
  /// Why the batch of the coming step is not there; empty where no read failed.
  const std::string& data_problem() const { return data_problem_; }
  /// For so long the last step stood because its data were not there yet.
  std::chrono::duration<double> data_wait() const { return data_wait_; }

  /// Gradients of step step() + 1, summed over the data-parallel ranks and, where both end stages
  /// hold the token embedding, over the two, then copied to the pieces' gradient memory; state is
  /// not touched. Returns this rank's part of the step decision, which asks for a pause
  /// (TESSERA_PAUSE_DATA) where the batch of the step after this one cannot be read.
  /// \error what a group returns; as FetchBatch where HasBatch() is false
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
  bool reads_data() const { return is_first_stage() || is_last_stage(); }
  /// Where the coming step reads.
  engine::Cursor cursor() const;
  /// This rank's samples of the coming global batch.
  engine::BatchShare share() const;
  BatchRequest RequestAt(const engine::Cursor& cursor) const { return {cursor, share()}; }
  /// Begins to read for step step() + 2, if there is one.
  void StartReadAhead();
  /// Waits for it. Returns whether it came; where not, data_problem() says why.
  bool FinishReadAhead();
  Status FailedToRead(const Error& error);
  /// Runs all micro-batches. Returns this rank's share of the loss.
  Result<double> RunMicroBatches();
  /// Sets replicated_ and replicated_copy_.
  void FindReplicatedGradients();
  /// Replaces the gradients of tensors that every tensor-parallel rank holds whole by their mean
  /// over these ranks. Each rank computes them on its own; ranks on unlike processors round
  /// differently, and their copies of such a tensor would drift apart.
  Status AverageReplicatedGradients();
  /// Adds up the gradients of the two copies of a tied token embedding.
  Status ReduceTiedEmbedding();
  /// This rank's part of the squared norm of the gradient: every element counts on one rank only.
  double NormShare() const;
  UpdateCoefficients Coefficients(double clip) const;

  const engine::JobSettings settings_;
  const std::int64_t num_samples_;  // of the data set
  std::unique_ptr<BatchReader> reader_;
  std::optional<Batch> batch_, ahead_;  // of the coming step; of the one after it
  bool is_reading_ahead_ = false;
  bool opens_anew_ = false;  // before the next read
  std::string data_problem_;
  std::chrono::duration<double> data_wait_{}, waiting_{};  // of the last step; of this one so far
  Groups groups_;
  RankState state_;
  std::unique_ptr<GptModel> model_;
  Updater updater_;
  std::vector<std::span<float>> replicated_;  // gradients of tensors that tp does not cut
  std::vector<float> replicated_copy_;        // all of these, one after the other
  std::int64_t global_batch_ = 1, micro_batch_ = 1;  // samples
  bool is_changed_ = false;                          // OnChange, and no step since
  std::vector<StageAction> schedule_;                // of every step
  std::optional<UpdateCoefficients> prepared_;       // none: the step changes no parameter
};

}  // namespace tessera::agents::train
