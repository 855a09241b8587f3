// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The update of the state: AdamW (Loshchilov and Hutter, "Decoupled Weight Decay Regularization",
/// ICLR 2019, algorithm 2) as one elementwise pass with fixed rounding. An element's new value
/// depends on nothing but its old value, its moments, its gradient and the coefficients, so that
/// any cut of a tensor gives the same bits on any device.

#include <cstdint>
#include <span>

namespace tessera::engine {

struct AdamWSettings {
  double beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8, weight_decay = 0.1;
  friend bool operator==(const AdamWSettings&, const AdamWSettings&) = default;
};

/// All that a step's update reads besides the tensors, rounded once to float.
struct AdamWCoefficients {
  float clip = 1;  // factor of the gradient
  float keep = 1;  // factor of the parameter: 1 - learning rate * weight decay
  float beta1 = 0, beta2 = 0, one_minus_beta1 = 1, one_minus_beta2 = 1;
  float step_size = 0;           // learning rate / (1 - beta1^step)
  float inverse_sqrt_bias2 = 1;  // 1 / sqrt(1 - beta2^step)
  float epsilon = 0;
  friend bool operator==(const AdamWCoefficients&, const AdamWCoefficients&) = default;
};

/// Coefficients of step `step` (from 1). `decay` says whether the tensor's weights decay.
/// \pre step >= 1
AdamWCoefficients MakeAdamW(const AdamWSettings& settings, std::int64_t step, double learning_rate,
                            double clip, bool decay);

/// Updates `param`, `exp_avg` and `exp_avg_sq` in place.
/// \pre equal sizes, no overlap
void AdamW(const AdamWCoefficients& c, std::span<float> param, std::span<float> exp_avg,
           std::span<float> exp_avg_sq, std::span<const float> gradient);

/// The same bits as AdamW, out of place: the old values stay as they are.
/// \pre equal sizes; no output overlaps another span
void AdamWInto(const AdamWCoefficients& c, std::span<const float> param,
               std::span<const float> exp_avg, std::span<const float> exp_avg_sq,
               std::span<const float> gradient, std::span<float> new_param,
               std::span<float> new_exp_avg, std::span<float> new_exp_avg_sq);

/// Sum of squares in double precision. The order of additions depends on the cut, so the last bits
/// do too.
double SumOfSquares(std::span<const float> values);

}  // namespace tessera::engine
