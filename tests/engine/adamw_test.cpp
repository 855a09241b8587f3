// SPDX-License-Identifier: Apache-2.0
#include "engine/update/adamw.h"

#include <QTest>
#include <bit>
#include <cmath>
#include <cstring>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

#include "engine/update/exact_math.h"
#include "engine/update/schedule.h"
#include "tests/support/random.h"
#include "tests/support/test_main.h"

using namespace tessera;
using engine::AdamW;
using engine::AdamWCoefficients;
using engine::AdamWSettings;

namespace {

struct State {
  std::vector<float> param, exp_avg, exp_avg_sq;
  friend bool operator==(const State& a, const State& b) {
    const auto equal_bits = [](const std::vector<float>& x, const std::vector<float>& y) {
      return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * 4) == 0;
    };
    return equal_bits(a.param, b.param) && equal_bits(a.exp_avg, b.exp_avg) &&
           equal_bits(a.exp_avg_sq, b.exp_avg_sq);
  }
};

std::vector<float> AnyValues(std::mt19937_64& rng, std::size_t size, float scale) {
  std::normal_distribution<float> normal(0, scale);
  std::vector<float> values(size);
  for (float& value : values) value = normal(rng);
  return values;
}

State AnyState(std::mt19937_64& rng, std::size_t size) {
  State state{AnyValues(rng, size, 1), AnyValues(rng, size, 0.1F), AnyValues(rng, size, 0.1F)};
  for (float& value : state.exp_avg_sq) value *= value;
  return state;
}

}  // namespace

class AdamWTest : public QObject {
  Q_OBJECT
 private slots:
  void anyCutGivesTheSameBits() {
    std::mt19937_64 rng(test::Seed());
    for (int round = 0; round < 200; ++round) {
      const std::size_t size = 1 + rng() % 700;
      const State before = AnyState(rng, size);
      const std::vector<float> gradient = AnyValues(rng, size, 0.3F);
      const AdamWCoefficients c = engine::MakeAdamW({}, static_cast<std::int64_t>(1 + rng() % 1000),
                                                    1e-3, 0.37, rng() % 2 == 0);
      State whole = before;
      AdamW(c, whole.param, whole.exp_avg, whole.exp_avg_sq, gradient);
      State cut = before;
      for (std::size_t begin = 0; begin < size;) {
        const std::size_t count = std::min(size - begin, std::size_t{1} + rng() % 40);
        // Each part in memory of its own, at any alignment.
        const std::size_t shift = rng() % 5;
        const auto part = [&](const std::vector<float>& from) {
          std::vector<float> out(shift + count);
          std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(begin), count,
                      out.begin() + static_cast<std::ptrdiff_t>(shift));
          return out;
        };
        auto p = part(cut.param), m = part(cut.exp_avg), v = part(cut.exp_avg_sq),
             g = part(gradient);
        const auto span = [&](std::vector<float>& x) { return std::span(x).subspan(shift); };
        AdamW(c, span(p), span(m), span(v), span(g));
        std::copy_n(span(p).begin(), count, cut.param.begin() + static_cast<std::ptrdiff_t>(begin));
        std::copy_n(span(m).begin(), count,
                    cut.exp_avg.begin() + static_cast<std::ptrdiff_t>(begin));
        std::copy_n(span(v).begin(), count,
                    cut.exp_avg_sq.begin() + static_cast<std::ptrdiff_t>(begin));
        begin += count;
      }
      QVERIFY(cut == whole);
      QVERIFY(!(whole == before));
    }
  }

  void followsThePaper() {
    std::mt19937_64 rng(test::Seed());
    constexpr std::size_t kSize = 257;
    const AdamWSettings settings{.beta1 = 0.9, .beta2 = 0.95, .epsilon = 1e-8, .weight_decay = 0.1};
    State state{AnyValues(rng, kSize, 1), std::vector<float>(kSize), std::vector<float>(kSize)};
    std::vector<double> p(state.param.begin(), state.param.end()), m(kSize), v(kSize);
    for (std::int64_t step = 1; step <= 100; ++step) {
      const double learning_rate = 1e-2 / static_cast<double>(step), clip = 0.5;
      const bool decay = step % 3 != 0;
      const std::vector<float> gradient = AnyValues(rng, kSize, 0.3F);
      AdamW(engine::MakeAdamW(settings, step, learning_rate, clip, decay), state.param,
            state.exp_avg, state.exp_avg_sq, gradient);
      for (std::size_t i = 0; i < kSize; ++i) {
        const double g = clip * static_cast<double>(gradient[i]);
        if (decay) p[i] -= learning_rate * settings.weight_decay * p[i];
        m[i] = settings.beta1 * m[i] + (1 - settings.beta1) * g;
        v[i] = settings.beta2 * v[i] + (1 - settings.beta2) * g * g;
        const double m_hat = m[i] / (1 - std::pow(settings.beta1, static_cast<double>(step)));
        const double v_hat = v[i] / (1 - std::pow(settings.beta2, static_cast<double>(step)));
        p[i] -= learning_rate * m_hat / (std::sqrt(v_hat) + settings.epsilon);
        QVERIFY(std::abs(p[i] - static_cast<double>(state.param[i])) < 1e-5);
        QVERIFY(std::abs(m[i] - static_cast<double>(state.exp_avg[i])) < 1e-6);
      }
    }
  }

  // Golden bits from Python's floats, which are IEEE doubles without fused operations. In most rows
  // the mathematics library of this machine gives other last bits.
  void powersAndCosinesHaveFixedBits() {
    const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
    QCOMPARE(bits(engine::Power(0.9, 0)), bits(1.0));
    QCOMPARE(bits(engine::Power(0.9, 1)), bits(0.9));
    QCOMPARE(bits(engine::Power(0.95, 7)), std::uint64_t{0x3fe658c775099758});
    QCOMPARE(bits(engine::Power(0.9, 1000)), std::uint64_t{0x366fee7413dac412});
    QCOMPARE(bits(engine::Power(0.999, 12345)), std::uint64_t{0x3ed22391fb9458b0});
    QCOMPARE(bits(engine::Power(0.95, 1'000'000)), bits(0.0));
    const engine::CosineSchedule schedule{
        .peak = 1e-3, .floor = 1e-4, .warmup_steps = 20, .cosine_steps = 2000};
    const std::pair<std::int64_t, std::uint64_t> rates[] = {
        {21, 0x3f50624d373e2ff5},   {228, 0x3f4ff8e49b08ef03},  {287, 0x3f4f76e7d5850845},
        {1010, 0x3f4205bc01a36e2f}, {1980, 0x3f1a46171e9e011d}, {1985, 0x3f1a3f705ca92493}};
    for (const auto& [step, expected] : rates)
      QCOMPARE(bits(schedule.LearningRate(step)), expected);
    const AdamWCoefficients c = engine::MakeAdamW({}, 7, 1e-3, 1, true);
    QCOMPARE(std::bit_cast<std::uint32_t>(c.step_size), 0x3afb3d1aU);
    QCOMPARE(std::bit_cast<std::uint32_t>(c.inverse_sqrt_bias2), 0x3fe90ccfU);
  }

  void cosinesAndSinesAreAccurate() {
    for (int i = 0; i < 4096; ++i) {
      const double turns = i / 4096.0, angle = 2 * std::numbers::pi * turns;
      const engine::CosSin exact = engine::CosSinOfTurns(turns);
      QVERIFY(std::abs(exact.cos - std::cos(angle)) < 1e-15);
      QVERIFY(std::abs(exact.sin - std::sin(angle)) < 1e-15);
    }
  }

  void sumOfSquaresOfAnyLength() {
    std::mt19937_64 rng(test::Seed());
    for (std::size_t size = 0; size < 70; ++size) {
      const std::vector<float> values = AnyValues(rng, size, 2);
      long double expected = 0;
      for (const float x : values) expected += static_cast<long double>(x) * x;
      QVERIFY(std::abs(engine::SumOfSquares(values) - static_cast<double>(expected)) <=
              1e-13 * static_cast<double>(expected));
    }
  }

  void learningRateWarmsUpAndFalls() {
    const engine::CosineSchedule schedule{
        .peak = 1e-3, .floor = 1e-4, .warmup_steps = 20, .cosine_steps = 2000};
    QCOMPARE(schedule.LearningRate(1), 5e-5);
    QCOMPARE(schedule.LearningRate(20), 1e-3);
    QCOMPARE(schedule.LearningRate(1010), 5.5e-4);  // half way
    QCOMPARE(schedule.LearningRate(2000), 1e-4);
    QCOMPARE(schedule.LearningRate(1'000'000), 1e-4);
    for (std::int64_t step = 21; step <= 2000; ++step) {
      QVERIFY(schedule.LearningRate(step) <= schedule.LearningRate(step - 1));
    }
    const engine::CosineSchedule bare{.warmup_steps = 0, .cosine_steps = 1};
    QCOMPARE(bare.LearningRate(1), bare.floor);
  }
};
TESSERA_TEST_APPLESS(AdamWTest)
#include "adamw_test.moc"
