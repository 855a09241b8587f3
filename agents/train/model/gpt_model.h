// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The forward and backward pass of a GPT over the pieces of one rank: one tensor-parallel part of
/// one pipeline stage.

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "agents/train/comm/collective.h"
#include "agents/train/model/rank_state.h"
#include "engine/model/gpt.h"

namespace tessera::agents::train {

inline constexpr std::string_view kTokenEmbedding = "tok_emb.weight";

/// Samples that go through a stage together.
struct MicroBatch {
  std::int64_t first_sample = 0;  // counted through the whole run: dropout depends on it
  std::int64_t num_samples = 0;
  /// sequence + 1 tokens a sample. First stage: inputs; last stage: targets; others do not look.
  std::span<const std::int32_t> tokens;
};

/// A pre-norm transformer decoder with learned positions (GPT-2; Radford et al. 2019), with the
/// options of engine::GptConfig, cut over tensor-parallel ranks as in Megatron-LM (Shoeybi et al.
/// 2019, section 3): heads, MLP columns and vocabulary are divided. The first stage has the
/// embeddings, the last the final norm, the head and the loss.
///
/// Parameters are views of the pieces' values, or f32 copies of bf16 ones; gradients are added up
/// in private memory, because a collective that is abandoned may still write to what it was given.
class GptModel {
 public:
  /// The memory behind `state` outlives the model. `tp` has as many ranks as the tensors have
  /// parts; a rank of `pp` is its stage.
  /// \error kInvalidArgument naming a tensor whose pieces are not what the model needs
  static Result<std::unique_ptr<GptModel>> Make(const engine::JobSettings& settings,
                                                const RankState& state, CollectivePtr tp,
                                                CollectivePtr pp);
  virtual ~GptModel() = default;

  /// Forgets gradients and micro-batches of before, and reads the parameters that it holds copies
  /// of.
  virtual void BeginStep() = 0;
  /// Takes the activations from the stage before, if there is one, and hands its own to the next.
  /// The last stage returns the micro-batch's share of the loss: the summed cross entropy over the
  /// tokens of the whole global batch, so that shares just add up; others return 0.
  /// \error what a group returns; kInternal for an error of libtorch
  virtual Result<double> Forward(const MicroBatch& micro_batch) = 0;
  /// Returns what Forward returns and stores nothing for a backward pass.
  /// \error as Forward
  virtual Result<double> EvaluateLoss(const MicroBatch& micro_batch) = 0;
  /// Adds up gradients of the oldest micro-batch that has only been forward: takes the gradient of
  /// its activations from the next stage and hands that of its inputs to the one before.
  /// \pre there is one
  /// \error as Forward
  virtual Status Backward() = 0;
  /// All gradients as one run, in order of state.parameters.
  virtual std::span<float> gradients() = 0;
  /// The part of gradients() that is this rank's rows of the token embedding, where the other end
  /// of the pipeline holds a copy of them; else empty.
  virtual std::span<float> tied_gradient() = 0;
};

}  // namespace tessera::agents::train
