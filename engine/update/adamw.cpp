// SPDX-License-Identifier: Apache-2.0

// Compiled with -O3 -fno-math-errno -ffp-contract=off: sqrt then vectorizes (3.5 times as fast),
// and without fused multiply-adds every vector width rounds alike.
#include "engine/update/adamw.h"

#include <array>
#include <cmath>
#include <cstddef>

#include "engine/update/exact_math.h"
#include "ptc/base/check.h"

namespace tessera::engine {
namespace {

struct Element {
  float param, exp_avg, exp_avg_sq;
};

inline Element Update(const AdamWCoefficients& k, Element old, float gradient) {
  const float g = gradient * k.clip;
  const float m = k.beta1 * old.exp_avg + k.one_minus_beta1 * g;
  const float v = k.beta2 * old.exp_avg_sq + k.one_minus_beta2 * (g * g);
  const float denominator = std::sqrt(v) * k.inverse_sqrt_bias2 + k.epsilon;
  return {old.param * k.keep - k.step_size * (m / denominator), m, v};
}

}  // namespace

AdamWCoefficients MakeAdamW(const AdamWSettings& settings, std::int64_t step, double learning_rate,
                            double clip, bool decay) {
  TESSERA_CHECK(step >= 1);
  AdamWCoefficients c;
  c.clip = static_cast<float>(clip);
  c.keep = decay ? static_cast<float>(1.0 - learning_rate * settings.weight_decay) : 1.0F;
  c.beta1 = static_cast<float>(settings.beta1);
  c.beta2 = static_cast<float>(settings.beta2);
  c.one_minus_beta1 = static_cast<float>(1.0 - settings.beta1);
  c.one_minus_beta2 = static_cast<float>(1.0 - settings.beta2);
  c.step_size = static_cast<float>(learning_rate / (1.0 - Power(settings.beta1, step)));
  c.inverse_sqrt_bias2 = static_cast<float>(1.0 / std::sqrt(1.0 - Power(settings.beta2, step)));
  c.epsilon = static_cast<float>(settings.epsilon);
  return c;
}

void AdamW(const AdamWCoefficients& c, std::span<float> param, std::span<float> exp_avg,
           std::span<float> exp_avg_sq, std::span<const float> gradient) {
  TESSERA_CHECK(param.size() == gradient.size() && exp_avg.size() == gradient.size() &&
                exp_avg_sq.size() == gradient.size());
  const AdamWCoefficients k = c;
  float* __restrict p = param.data();
  float* __restrict m = exp_avg.data();
  float* __restrict v = exp_avg_sq.data();
  const float* __restrict gradients = gradient.data();
  const std::size_t size = gradient.size();
  for (std::size_t i = 0; i < size; ++i) {
    const Element updated = Update(k, {p[i], m[i], v[i]}, gradients[i]);
    p[i] = updated.param;
    m[i] = updated.exp_avg;
    v[i] = updated.exp_avg_sq;
  }
}

double SumOfSquares(std::span<const float> values) {
  // Eight independent sums let the loop vectorize without reassociation.
  constexpr std::size_t kLanes = 8;
  std::array<double, kLanes> lanes{};
  const float* data = values.data();
  const std::size_t whole = values.size() / kLanes * kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const double x = static_cast<double>(data[i + lane]);
      lanes[lane] += x * x;
    }
  }
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  for (std::size_t i = whole; i < values.size(); ++i) {
    const double x = static_cast<double>(data[i]);
    sum += x * x;
  }
  return sum;
}

}  // namespace tessera::engine
