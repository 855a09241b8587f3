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

/// Samples that pass through a stage together.
struct MicroBatch {
  std::int64_t first_sample = 0;  // its number in the whole run: dropout depends on it
  std::int64_t num_samples = 0;
  /// sequence + 1 tokens per sample. The first stage reads the inputs, the last the targets; others
  /// read none.
  std::span<const std::int32_t> tokens;
};

/// A pre-norm transformer decoder with learned positions (GPT-2; Radford et al. 2019), with the
/// options of engine::GptConfig, cut over tensor-parallel ranks as in Megatron-LM (Shoeybi et al.
/// 2019, section 3): heads, MLP columns and vocabulary are divided. The first stage has the
/// embeddings; the last has the final norm, the head and the loss.
///
/// Parameters are views of the pieces' values, or f32 copies of bf16 values. Gradients are added up
/// in private memory, because an abandoned collective may still write to its buffer.
class GptModel {
 public:
  /// The memory behind `state` must outlive the model. `tp` has one rank for each part of the
  /// tensors. A rank of `pp` is its stage.
  /// \error kInvalidArgument naming a tensor whose pieces are not those that the model needs
  static Result<std::unique_ptr<GptModel>> Make(const engine::JobSettings& settings,
                                                const RankState& state, CollectivePtr tp,
                                                CollectivePtr pp);
  virtual ~GptModel() = default;

  /// Clears gradients and pending micro-batches, and reads bf16 parameters into their f32 copies.
  virtual void BeginStep() = 0;
  /// Receives activations from the previous stage, if there is one, and sends its own to the next.
  /// The last stage returns the micro-batch's share of the loss: the summed cross entropy divided
  /// by the tokens of the whole global batch, so that shares add up. Other stages return 0.
  /// \error what a group returns; kInternal for an error of libtorch
  virtual Result<double> Forward(const MicroBatch& micro_batch) = 0;
  /// Returns what Forward returns and stores nothing for a backward pass.
  /// \error as Forward
  virtual Result<double> EvaluateLoss(const MicroBatch& micro_batch) = 0;
  /// Adds up the gradients of the oldest micro-batch that has only been forwarded: receives the
  /// gradient of its activations from the next stage and sends that of its inputs to the previous
  /// one.
  /// \pre there is one
  /// \error as Forward
  virtual Status Backward() = 0;
  /// Returns all gradients as one range, in the order of state.parameters.
  virtual std::span<float> gradients() = 0;
  /// Returns the part of gradients() of this rank's rows of the token embedding if the other end of
  /// the pipeline holds a copy of them; else empty.
  virtual std::span<float> tied_gradient() = 0;
};

}  // namespace tessera::agents::train
