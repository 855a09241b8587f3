// SPDX-License-Identifier: Apache-2.0
#include "engine/history/decimate.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tessera::engine {

Decimator::Decimator(double from, double to, std::int64_t max_points)
    : from_(from),
      width_(0),
      num_buckets_(std::max<std::int64_t>(1, max_points / kPointsPerBucket)) {
  width_ = (to - from) / static_cast<double>(num_buckets_);
}

void Decimator::Add(const Sample& sample, double x) {
  const double at = width_ > 0 ? (x - from_) / width_ : 0;
  const auto last = static_cast<double>(num_buckets_ - 1);
  // NaN stays in the present bucket, and earlier buckets are finished.
  const auto bucket =
      std::isnan(at) ? bucket_ : static_cast<std::int64_t>(std::clamp(std::floor(at), 0.0, last));
  if (bucket > bucket_) {
    FinishBucket();
    bucket_ = bucket;
  }
  const Chosen chosen{sample, added_++};
  const auto put = [&](Role role, bool better) {
    if (!roles_[role] || better) roles_[role] = chosen;
  };
  put(kFirst, false);
  put(kLast, true);
  if (std::isfinite(sample.loss)) {
    put(kLeastLoss, roles_[kLeastLoss] && sample.loss < roles_[kLeastLoss]->sample.loss);
    put(kMostLoss, roles_[kMostLoss] && sample.loss > roles_[kMostLoss]->sample.loss);
  } else {
    put(kNotANumber, false);
  }
  if (std::isfinite(sample.tokens_per_second)) {
    const double rate = sample.tokens_per_second;
    put(kLeastRate, roles_[kLeastRate] && rate < roles_[kLeastRate]->sample.tokens_per_second);
    put(kMostRate, roles_[kMostRate] && rate > roles_[kMostRate]->sample.tokens_per_second);
  }
}

void Decimator::FinishBucket() {
  std::vector<Chosen> chosen;
  for (auto& role : roles_) {
    if (role) chosen.push_back(*std::exchange(role, std::nullopt));
  }
  std::ranges::sort(chosen, {}, &Chosen::order);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (i > 0 && chosen[i].order == chosen[i - 1].order) continue;
    taken_.push_back(std::move(chosen[i].sample));
  }
}

std::vector<Sample> Decimator::Take() {
  FinishBucket();
  return std::move(taken_);
}

}  // namespace tessera::engine
