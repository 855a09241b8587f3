// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What one rank of the built-in model computes and sends, in counts that do not depend on
/// measurements.

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

}  // namespace tessera::engine
