// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The forward and backward pass of a GPT over one tensor-parallel rank's pieces.

#include <cstdint>
#include <memory>
#include <span>

#include "agents/train/comm/collective.h"
#include "agents/train/model/rank_state.h"
#include "engine/model/gpt.h"

namespace tessera::agents::train {

/// A pre-norm transformer decoder with learned positions, erf GELU and a head tied to the token
/// embedding (GPT-2; Radford et al. 2019), cut over tensor-parallel ranks as in Megatron-LM
/// (Shoeybi et al. 2019, section 3): heads, MLP columns and vocabulary are divided.
///
/// Parameters are views of the pieces' values; gradients are added up in private memory, because a
/// collective that is abandoned may still write to what it was given.
class GptModel {
 public:
  /// The memory behind `state` outlives the model. `tp` has as many ranks as the tensors have
  /// parts. \error kInvalidArgument naming a tensor whose pieces are not what the model needs
  static Result<std::unique_ptr<GptModel>> Make(const engine::GptConfig& config,
                                                const RankState& state, CollectivePtr tp);
  virtual ~GptModel() = default;

  /// Adds the gradients of `scale` times the summed cross entropy of the samples, and returns that
  /// sum times `scale`. A sample is sequence + 1 tokens.
  /// \pre tokens.size() is a multiple of sequence + 1
  /// \error what the tp group returns; kInternal for an error of libtorch
  virtual Result<double> Accumulate(std::span<const std::uint8_t> tokens, double scale) = 0;
  virtual void ZeroGradients() = 0;
  /// All gradients as one run, in order of state.parameters.
  virtual std::span<float> gradients() = 0;
};

}  // namespace tessera::agents::train
