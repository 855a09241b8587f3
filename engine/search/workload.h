// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What one rank of the built-in model computes and sends, in counts that do not depend on
/// measurements.

#include <array>
#include <cstdint>

#include "engine/model/gpt.h"

namespace tessera::engine {

/// The tensor-parallel part of one stage for one micro-batch, forward and backward.
struct PassWork {
  double layers = 0;    // blocks of this stage
  double flops = 0;     // of matrix products: twice the multiply-adds, backward twice the forward
  double elements = 0;  // of activations that other operations read or write
  /// All-reduces over tp of one hidden state (samples x sequence x width) each: two forward and two
  /// backward in each block (Shoeybi et al. 2019, figure 3), one for the embedding, one for the
  /// head's input gradient.
  double tensor_reduces = 0;
  bool has_loss = false;  // the last stage: two small all-reduces over tp
};

/// Returns the work of a rank at pipeline `stage`.
/// \pre 0 <= stage < stages <= layers, tp cuts the model
PassWork WorkOf(const GptConfig& model, std::int64_t tp, std::int64_t stage, std::int64_t stages,
                std::int64_t samples);

/// Returns the parameters of a rank of `stage`: those of the tp rank that has the most.
std::int64_t ParametersOf(const GptConfig& model, std::int64_t tp, std::int64_t stage,
                          std::int64_t stages);

/// Returns the bytes of one hidden state.
std::int64_t HiddenBytes(const GptConfig& model, std::int64_t samples);

/// The bytes per token of the two all-reduces of the loss over tp: the largest logit, then the sum
/// of the exponentials and the logit of the target.
inline constexpr std::int64_t kLossMaxBytes = 4, kLossSumBytes = 8;

/// Returns the bytes of the part of a tied embedding that a tp rank has. The first and the last
/// stage send it each other once in each direction.
std::int64_t TiedBytes(const GptConfig& model, std::int64_t tp);

/// Micro-batches of one size.
struct Passes {
  std::int64_t count = 0, samples = 0;
};
/// Returns the passes of a share of the batch: full micro-batches, then one with the remainder.
std::array<Passes, 2> PassesOf(std::int64_t share, std::int64_t micro_batch);

}  // namespace tessera::engine
