// SPDX-License-Identifier: Apache-2.0
#include "engine/data/data_mix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/data/order_key.h"
#include "engine/data/permutation.h"
#include "ptc/base/check.h"
#include "ptc/digest.h"

namespace tessera::engine {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::size_t kMaxParts = 65536;
constexpr std::int64_t kMaxPosition = std::int64_t{1} << 62;

Status CheckParts(const std::vector<DataMix::Part>& parts) {
  if (parts.empty() || parts.size() > kMaxParts) {
    return InvalidArgument(
        fmt::format("a data mix has {} parts, the limits are 1 and {}", parts.size(), kMaxParts));
  }
  const bool is_weighted = parts.front().weight != 0;
  std::int64_t num_samples = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto& [data, weight] = parts[i];
    if (!std::isfinite(weight) || weight < 0) {
      return InvalidArgument(
          fmt::format("weight {} of data part {} is not a positive number", weight, i));
    }
    if ((weight != 0) != is_weighted) {
      return InvalidArgument(
          fmt::format("data part {} has {} weight and part 0 has {}: give one to all or to none", i,
                      weight != 0 ? "a" : "no", is_weighted ? "one" : "none"));
    }
    if (data->sequence() != parts.front().data->sequence()) {
      return InvalidArgument(fmt::format("data part {} has samples of {} tokens, part 0 of {}", i,
                                         data->sequence(), parts.front().data->sequence()));
    }
    const std::int64_t samples = data->num_samples();
    if (samples < 1 || samples > Permutation::kMaxSize - num_samples) {
      return InvalidArgument(
          fmt::format("data part {} brings the samples to more than {}, or has none: {}", i,
                      Permutation::kMaxSize, samples));
    }
    num_samples += samples;
  }
  return OkStatus();
}

/// Rounds the weights to whole numbers, by quotients and products only: the same on every machine.
std::vector<std::int64_t> WholeWeights(const std::vector<DataMix::Part>& parts) {
  double largest = 0;
  for (const auto& part : parts) largest = std::max(largest, part.weight);
  double sum = 0;  // of weights / largest, which is finite whatever the weights are
  for (const auto& part : parts) sum += largest > 0 ? part.weight / largest : 0;
  std::vector<std::int64_t> whole;
  for (const auto& [data, weight] : parts) {
    const double units = weight / largest / sum * static_cast<double>(DataMix::kWeightUnit);
    whole.push_back(weight == 0 ? data->num_samples()
                                : std::max<std::int64_t>(1, std::llround(units)));
  }
  return whole;
}

/// Fills in the samples [first, first + out.size()) of a part's own order, over its passes.
Status FillOwnOrder(std::int64_t seed, std::size_t part, std::int64_t num_samples,
                    std::int64_t first, std::span<std::int64_t> out) {
  while (!out.empty()) {
    const std::int64_t index = first % num_samples;
    const auto count = static_cast<std::size_t>(
        std::min(static_cast<std::int64_t>(out.size()), num_samples - index));
    const auto key = OrderKey(seed, first / num_samples, static_cast<int>(part));
    TESSERA_TRY(const Permutation order, Permutation::Make(num_samples, key));
    order.Fill(index, out.first(count));
    out = out.subspan(count);
    first += static_cast<std::int64_t>(count);
  }
  return OkStatus();
}

}  // namespace

Result<DataMix> DataMix::Make(std::vector<Part> parts) {
  TESSERA_RETURN_IF_ERROR(CheckParts(parts));
  DataMix mix(std::move(parts));
  mix.weights_before_.push_back(0);
  for (const std::int64_t weight : WholeWeights(mix.parts_)) {
    mix.weights_before_.push_back(mix.weights_before_.back() + weight);
  }
  for (const Part& part : mix.parts_) mix.num_samples_ += part.data->num_samples();
  return mix;
}

double DataMix::share(int part) const {
  const auto i = static_cast<std::size_t>(part);
  return static_cast<double>(weights_before_[i + 1] - weights_before_[i]) /
         static_cast<double>(weights_before_.back());
}

std::uint64_t DataMix::fingerprint() const {
  if (parts_.size() == 1) return parts_.front().data->fingerprint();
  std::uint64_t hash = ptc::Mix(parts_.size());
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    hash = ptc::Mix(hash + parts_[i].data->fingerprint());
    hash = ptc::Mix(hash + static_cast<std::uint64_t>(weights_before_[i + 1]));
  }
  return hash;
}

DataMix::PartPosition DataMix::PartPositionAt(std::int64_t position) const {
  std::size_t begin = 0, end = parts_.size();
  while (end - begin > 1) {
    const std::size_t middle = begin + (end - begin) / 2;
    const auto left = static_cast<std::uint64_t>(weights_before_[middle] - weights_before_[begin]);
    const auto both = static_cast<std::uint64_t>(weights_before_[end] - weights_before_[begin]);
    const Wide product = static_cast<Wide>(position) * left;  // < 2^62 * 2^49
    const auto to_left = static_cast<std::int64_t>(product / both);
    const auto rest = static_cast<std::uint64_t>(product % both);
    if (rest + left >= both) {  // the floor steps up
      end = middle;
      position = to_left;
    } else {
      begin = middle;
      position -= to_left;
    }
  }
  return {begin, position};
}

Result<std::vector<SampleId>> DataMix::SamplesAt(const Cursor& cursor, std::int64_t begin,
                                                 std::int64_t end) const {
  std::vector<SampleId> ids;
  if (parts_.size() == 1) {
    TESSERA_TRY(const auto samples, engine::SamplesAt(cursor, begin, end, num_samples_));
    ids.reserve(samples.size());
    for (const std::int64_t sample : samples) ids.push_back({0, sample});
    return ids;
  }
  const bool is_range = 0 <= begin && begin <= end && end <= Permutation::kMaxSize;
  const bool is_cursor = cursor.pass >= 0 && cursor.next >= 0 &&
                         cursor.next <= Permutation::kMaxSize &&
                         cursor.pass < (kMaxPosition - 2 * Permutation::kMaxSize) / num_samples_;
  if (!is_range || !is_cursor) {
    return InvalidArgument(fmt::format("no samples [{}, {}) after cursor pass {}, next {}", begin,
                                       end, cursor.pass, cursor.next));
  }
  // First find the part of each position. The indices in each part are consecutive, so its samples
  // are then computed side by side.
  const std::int64_t first = cursor.pass * num_samples_ + cursor.next + begin;
  struct Stretch {
    std::int64_t first = 0;
    std::vector<std::int64_t> samples = {};
    std::size_t taken = 0;
  };
  std::vector<Stretch> stretches(parts_.size());
  ids.resize(static_cast<std::size_t>(end - begin));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const PartPosition place = PartPositionAt(first + static_cast<std::int64_t>(i));
    Stretch& stretch = stretches[place.part];
    if (stretch.samples.empty()) stretch.first = place.index;
    stretch.samples.push_back(0);
    ids[i].part = static_cast<int>(place.part);
  }
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    TESSERA_RETURN_IF_ERROR(FillOwnOrder(cursor.seed, part, parts_[part].data->num_samples(),
                                         stretches[part].first, stretches[part].samples));
  }
  for (SampleId& id : ids) {
    Stretch& stretch = stretches[static_cast<std::size_t>(id.part)];
    id.sample = stretch.samples[stretch.taken++];
  }
  return ids;
}

}  // namespace tessera::engine
