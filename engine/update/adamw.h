// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The update of the state: AdamW (Loshchilov and Hutter, "Decoupled Weight Decay Regularization",
/// ICLR 2019, algorithm 2) as one elementwise pass with fixed rounding. The new value of an element
/// depends only on its old value, its moments, its gradient and the coefficients. Every cut of a
/// tensor therefore gives the same bits on every device.

#include <cstdint>
#include <span>

namespace tessera::engine {

struct AdamWSettings {
  double beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8, weight_decay = 0.1;
  friend bool operator==(const AdamWSettings&, const AdamWSettings&) = default;
};

/// Everything that the update of a step reads besides the tensors, rounded once to float.
struct AdamWCoefficients {
  float clip = 1;  // factor of the gradient
  float keep = 1;  // factor of the parameter: 1 - learning rate * weight decay
  float beta1 = 0, beta2 = 0, one_minus_beta1 = 1, one_minus_beta2 = 1;
  float step_size = 0;           // learning rate / (1 - beta1^step)
  float inverse_sqrt_bias2 = 1;  // 1 / sqrt(1 - beta2^step)
  float epsilon = 0;
  friend bool operator==(const AdamWCoefficients&, const AdamWCoefficients&) = default;
};

/// Returns the coefficients of step `step`, the same bits on every machine. `decay` is true for
/// tensors with weight decay.
/// \pre step >= 1
AdamWCoefficients MakeAdamW(const AdamWSettings& settings, std::int64_t step, double learning_rate,
                            double clip, bool decay);

/// Updates `param`, `exp_avg` and `exp_avg_sq` in place.
/// \pre equal sizes, no overlap
void AdamW(const AdamWCoefficients& c, std::span<float> param, std::span<float> exp_avg,
           std::span<float> exp_avg_sq, std::span<const float> gradient);

/// Returns the sum of squares in double precision. The order of the additions depends on how the
/// tensor is cut, and so do the last bits.
double SumOfSquares(std::span<const float> values);

}  // namespace tessera::engine
