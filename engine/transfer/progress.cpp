// SPDX-License-Identifier: Apache-2.0
#include "engine/transfer/progress.h"

#include <algorithm>
#include <cmath>

#include "ptc/base/check.h"

namespace tessera::engine {
namespace {

constexpr double kEtaAfterSeconds = 2;
constexpr double kEtaAfterFraction = 0.02;

double Seconds(Progress::Time::duration time) {
  return std::chrono::duration<double>(time).count();
}

/// The factor by which the weight of older rates shrinks in `seconds`.
double Decay(double seconds) { return std::exp(-seconds / Seconds(Progress::kTimeConstant)); }

}  // namespace

Progress::Progress(std::int64_t bytes_total, Time start)
    : bytes_total_(bytes_total), start_(start), last_(start) {
  TESSERA_DCHECK(bytes_total >= 0);
}

void Progress::Update(std::int64_t bytes_done, Time now) {
  TESSERA_DCHECK(0 <= bytes_done && bytes_done <= bytes_total_);
  bytes_done_ = bytes_done;
  const double passed = Seconds(now - last_);
  if (passed <= 0) return;  // the next update with a duration counts these bytes
  const double decay = Decay(passed);
  const double rate = static_cast<double>(bytes_done_ - counted_) / passed;
  // The first update has no mean to differ from.
  const double off = last_ == start_ ? 0 : rate - Rate(last_);
  variance_ = decay * (variance_ + (1 - decay) * off * off);
  squares_ = decay * decay * squares_ + (1 - decay) * (1 - decay);
  mean_ = decay * mean_ + (1 - decay) * rate;
  counted_ = bytes_done_;
  last_ = now;
}

double Progress::Rate(Time now) const {
  const double age = Seconds(now - start_);
  if (age <= 0) return 0;
  return mean_ * Decay(Seconds(now - last_)) / (1 - Decay(age));
}

std::optional<double> Progress::Eta(Time now) const {
  const auto left = static_cast<double>(bytes_total_ - bytes_done_);
  if (left <= 0) return 0.0;
  const bool known =
      Seconds(now - start_) >= kEtaAfterSeconds ||
      static_cast<double>(bytes_done_) >= kEtaAfterFraction * static_cast<double>(bytes_total_);
  const double rate = Rate(now);
  if (!known || rate <= 0) return std::nullopt;
  return left / rate;
}

std::optional<Progress::Range> Progress::EtaRange(Time now) const {
  constexpr double kSlowest = 0.25;  // of the mean rate
  const auto eta = Eta(now);
  if (!eta) return std::nullopt;
  const double rate = Rate(now);
  if (*eta == 0 || rate <= 0) return Range{*eta, *eta};
  // Single updates come in bursts of whole frames. The mean over many of them is steadier.
  const double weights = 1 - Decay(Seconds(last_ - start_));
  const double error = 2 * std::sqrt(variance_ * squares_) / weights / rate;
  return Range{*eta / (1 + error), *eta / std::max(kSlowest, 1 - error)};
}

}  // namespace tessera::engine
