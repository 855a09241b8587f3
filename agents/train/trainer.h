// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The part of one rank in a training step, between the points where all ranks agree.

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
#include "agents/train/updater.h"
#include "engine/data/data_mix.h"
#include "engine/model/gpt.h"
#include "engine/model/pass_order.h"

namespace tessera::agents::train {

/// Returns the floats of a message between the stages of the mesh of `view`; 0 if there is one
/// stage.
std::size_t StageMessageFloats(const engine::JobSettings& settings, const tessera_view& view);

/// Returns access to the data that the settings name, opened by OpenJobData.
DataAccess AccessOf(const engine::JobSettings& settings);

/// Trains on pieces in borrowed memory. All state that outlives a step is in the pieces, so a
/// trainer can be bound to other pieces between any two steps.
///
/// A step is ComputeGradients, the step decision, PrepareUpdate and CommitUpdate. During
/// ComputeGradients another thread reads the batch of the next step. If that fails, the record of
/// this rank requests a pause, and all ranks stop at that boundary: no step begins without its
/// data.
class Trainer {
 public:
  /// Without `access.open`, AccessOf(settings) is used.
  /// \pre data.sequence() == settings.model.sequence
  Trainer(engine::JobSettings settings, engine::DataMix data, DataAccess access = {});

  /// Binds the trainer to `pieces`, whose memory must outlive the trainer or the next Bind.
  /// `micro_batch` is as in engine::StepOptions. Returns the groups that it was bound to before.
  /// \error kInvalidArgument naming a tensor or a degree of the mesh that does not fit
  Result<Groups> Bind(std::span<const tessera_piece> pieces, Groups groups,
                      std::int64_t micro_batch);

  /// Applies settings.at_change to the next step, the first on another mesh. Called on every rank
  /// of the new mesh.
  /// \pre bound
  void OnChange() { is_changed_ = true; }

  const engine::JobSettings& settings() const { return settings_; }
  const Groups& groups() const { return groups_; }
  /// Returns the number of steps made.
  /// \pre bound
  std::int64_t step() const { return *state_.step; }

  /// Whether the batch of step step() + 1 has been read. It has after every step but the last,
  /// unless its data could not be read. All ranks of a job agree, except ranks that failed to read.
  bool HasBatch() const;
  /// Reads the batch of step step() + 1 unless HasBatch(). After a failure of this or another rank,
  /// the data set is opened again first. Takes at most the patience of the access. Stages that read
  /// no data always have their batch.
  /// \error as ReadBatch, OpenData; kDataLoss if the data set has another fingerprint now
  Status FetchBatch();
  /// Drops the batch, because another rank could not read its own. The data set is opened again
  /// before the next read.
  void DropBatch();
  /// Why the next batch could not be read; empty if no read failed.
  const std::string& data_problem() const { return data_problem_; }
  /// How long the last step waited for its data.
  std::chrono::duration<double> data_wait() const { return data_wait_; }

  /// Computes the gradients of step step() + 1 and copies them to the gradient memory of the
  /// pieces: sums over the data-parallel ranks, averages over the tensor-parallel ranks of the
  /// gradients of tensors that these hold whole, and the sum of both copies of a tied token
  /// embedding. Does not touch state. Returns this rank's part of the step decision, which requests
  /// a pause (TESSERA_PAUSE_DATA) if the batch of the next step cannot be read.
  /// \error what a group returns; as FetchBatch if HasBatch() is false
  Result<tessera_record> ComputeGradients();

  /// Prepares the update with the gradients times `clip`, or, with `skip`, a step that changes no
  /// parameter. Makes the last collectives of the step. Does not touch state.
  /// \error what a group returns
  Status PrepareUpdate(double clip, bool skip);
  /// Makes the prepared update: parameters and optimizer state, then cursor and step count.
  /// Elementwise, without collectives.
  /// \pre PrepareUpdate since the last step
  void CommitUpdate();

 private:
  bool is_first_stage() const { return groups_.pp->rank() == 0; }
  bool is_last_stage() const { return groups_.pp->rank() == groups_.pp->size() - 1; }
  bool reads_data() const { return is_first_stage() || is_last_stage(); }
  /// Returns the data position of the next step.
  engine::Cursor cursor() const;
  /// Returns this rank's range of the next global batch.
  engine::BatchShare share() const;
  BatchRequest RequestAt(const engine::Cursor& cursor) const { return {cursor, share()}; }
  /// Starts to read the batch of step step() + 2, if there is one.
  void StartReadAhead();
  /// Waits for that batch. On failure returns false and sets data_problem().
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
  /// Returns this rank's part of the squared gradient norm. Every element counts on one rank only.
  double NormShare() const;

  const engine::JobSettings settings_;
  const std::int64_t num_samples_;  // of the data set
  std::unique_ptr<BatchReader> reader_;
  std::optional<Batch> batch_, ahead_;  // of the next step; of the one after it
  bool is_reading_ahead_ = false;
  bool opens_anew_ = false;  // before the next read
  std::string data_problem_;
  std::chrono::duration<double> data_wait_{}, waiting_{};  // of the last step; of this one so far
  Groups groups_;
  RankState state_;
  std::unique_ptr<GptModel> model_;
  Updater updater_;
  std::vector<std::span<float>> replicated_;            // gradients of tensors that tp does not cut
  std::vector<float> replicated_copy_;                  // all of these, one after the other
  std::int64_t global_batch_ = 1, micro_batch_ = 1;     // samples
  bool is_changed_ = false;                             // OnChange was called after the last step
  std::vector<engine::StageAction> schedule_;           // of every step
  std::optional<engine::UpdateCoefficients> prepared_;  // nullopt: the step changes no parameter
};

}  // namespace tessera::agents::train
