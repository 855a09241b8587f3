// SPDX-License-Identifier: Apache-2.0
#include "ptc/stages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <utility>

#include "ptc/base/utf8.h"

namespace tessera::ptc {
namespace {

/// The bytes that stages must hold: those of each layer, and those of other tensors on the first
/// and on the last stage. Tensors that are on all stages add equally to each and are left out.
struct Weights {
  std::vector<std::int64_t> layers;
  std::int64_t first = 0;
  std::int64_t last = 0;
};

Weights WeightsOf(const Collection& tensors) {
  Weights weights;
  weights.layers.resize(static_cast<std::size_t>(tensors.num_layers()));
  for (const TensorSpec& spec : tensors.tensors()) {
    const std::int64_t bytes = *NumElements(spec.shape) * SizeBytes(spec.dtype);
    const StagePlace place = spec.place;
    if (place == StagePlace::kLayer) weights.layers[static_cast<std::size_t>(spec.layer)] += bytes;
    if (place == StagePlace::kFirst || place == StagePlace::kFirstAndLast) weights.first += bytes;
    if (place == StagePlace::kLast || place == StagePlace::kFirstAndLast) weights.last += bytes;
  }
  return weights;
}

/// Cuts the layers into contiguous chunks, one per stage. For a given limit of bytes per stage,
/// filling each stage up to the limit covers the most layers, so one pass decides whether the limit
/// can be kept. Bisection finds the least limit exactly, in O((layers + stages) * log bytes).
/// \pre num_stages >= 2
class Balancer {
 public:
  Balancer(const Weights& weights, std::int64_t num_stages)
      : weights_(weights), num_stages_(num_stages), up_to_(weights.layers.size() + 1) {
    std::partial_sum(weights.layers.begin(), weights.layers.end(), up_to_.begin() + 1);
  }

  std::vector<std::int64_t> Run() const {
    const std::int64_t limit = LeastLimit();
    // The earliest layer at which stage s may begin, found by filling stages from the last one
    // back.
    std::vector<std::size_t> earliest(static_cast<std::size_t>(num_stages_) + 1, num_layers());
    for (auto s = static_cast<std::size_t>(num_stages_); s-- > 0;) {
      std::size_t begin = earliest[s + 1];
      while (begin > 0 && Bytes(s, begin - 1, earliest[s + 1]) <= limit) --begin;
      earliest[s] = begin;
    }
    // Among the chunks that keep the limit, choose those nearest to an equal share of the rest.
    std::vector<std::int64_t> stages;
    std::size_t begin = 0;
    for (std::size_t s = 0; s < static_cast<std::size_t>(num_stages_); ++s) {
      // Unsigned, because a tensor of the first and last stage counts twice.
      auto left = static_cast<std::uint64_t>(Bytes(s, begin, num_layers()));
      if (s + 1 < static_cast<std::size_t>(num_stages_)) {
        left += static_cast<std::uint64_t>(weights_.last);
      }
      const auto stages_left = static_cast<std::uint64_t>(num_stages_) - s;
      const auto share =
          static_cast<std::int64_t>(left / stages_left + (left % stages_left != 0 ? 1 : 0));
      std::size_t end = begin;
      while (end < num_layers() && (end < earliest[s + 1] || (Bytes(s, begin, end) < share &&
                                                              Bytes(s, begin, end + 1) <= limit))) {
        ++end;
      }
      stages.insert(stages.end(), end - begin, static_cast<std::int64_t>(s));
      begin = end;
    }
    return stages;
  }

 private:
  std::size_t num_layers() const { return weights_.layers.size(); }

  /// The bytes of stage `s` with the layers [begin, end).
  std::int64_t Bytes(std::size_t s, std::size_t begin, std::size_t end) const {
    std::int64_t bytes = up_to_[end] - up_to_[begin];
    if (s == 0) bytes += weights_.first;
    if (s + 1 == static_cast<std::size_t>(num_stages_)) bytes += weights_.last;
    return bytes;
  }

  bool Fits(std::int64_t limit) const {
    std::size_t begin = 0;
    for (std::size_t s = 0; s < static_cast<std::size_t>(num_stages_); ++s) {
      if (Bytes(s, begin, begin) > limit) return false;
      std::size_t end = begin;
      while (end < num_layers() && Bytes(s, begin, end + 1) <= limit) ++end;
      begin = end;
    }
    return begin == num_layers();
  }

  std::int64_t LeastLimit() const {
    std::int64_t too_small = -1;
    std::int64_t enough = up_to_.back() + std::max(weights_.first, weights_.last);
    while (enough - too_small > 1) {
      const std::int64_t middle = too_small + (enough - too_small) / 2;
      (Fits(middle) ? enough : too_small) = middle;
    }
    return enough;
  }

  const Weights& weights_;
  const std::int64_t num_stages_;
  std::vector<std::int64_t> up_to_;  // bytes of the layers before each
};

std::vector<std::int64_t> UniformStages(std::int64_t num_layers, std::int64_t num_stages,
                                        std::int64_t interleave) {
  std::vector<std::int64_t> stages;
  for (std::int64_t layer = 0; layer < num_layers; ++layer) {
    stages.push_back(StageOfLayer(layer, num_layers, num_stages * interleave) % num_stages);
  }
  return stages;
}

std::optional<std::int64_t> ParseNumber(std::string_view text) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || text.empty() || text.front() == '-') return {};
  return number;
}

}  // namespace

std::string ToString(const StageRule& rule) {
  switch (rule.kind) {
    case StageRule::Kind::kUniform:
      return rule.interleave == 1 ? "uniform" : fmt::format("uniform*{}", rule.interleave);
    case StageRule::Kind::kExplicit:
      return fmt::format("{}", fmt::join(rule.stage_of_layer, ","));
    case StageRule::Kind::kBalanced:
      return "balanced";
  }
  return {};
}

Result<StageRule> ParseStageRule(std::string_view text) {
  const auto bad = [text] {
    return InvalidArgument(fmt::format(
        "stage rule '{}' is none of uniform, uniform*N, balanced and a stage for each layer "
        "(0,0,1,1)",
        Escaped(text)));
  };
  StageRule rule;
  if (text == "uniform") return rule;
  if (text == "balanced") {
    rule.kind = StageRule::Kind::kBalanced;
    return rule;
  }
  constexpr std::string_view kInterleaved = "uniform*";
  if (text.starts_with(kInterleaved)) {
    const auto interleave = ParseNumber(text.substr(kInterleaved.size()));
    if (!interleave || *interleave < 1) return bad();
    rule.interleave = *interleave;
    return rule;
  }
  rule.kind = StageRule::Kind::kExplicit;
  while (true) {
    const std::size_t comma = text.find(',');
    const auto stage = ParseNumber(text.substr(0, comma));
    if (!stage) return bad();
    rule.stage_of_layer.push_back(*stage);
    if (comma == std::string_view::npos) return rule;
    text.remove_prefix(comma + 1);
  }
}

Result<std::vector<std::int64_t>> StagesOfLayers(const StageRule& rule, const Collection& tensors,
                                                 std::int64_t num_stages) {
  const std::int64_t num_layers = tensors.num_layers();
  switch (rule.kind) {
    case StageRule::Kind::kUniform:
      // Chunks beyond the number of layers are empty. The limit keeps their number from
      // overflowing.
      if (rule.interleave < 1 || rule.interleave > kMaxLayers) {
        return InvalidArgument(fmt::format("stages are interleaved {} times, not 1 to {}",
                                           rule.interleave, kMaxLayers));
      }
      return UniformStages(num_layers, num_stages, rule.interleave);
    case StageRule::Kind::kExplicit: {
      if (std::ssize(rule.stage_of_layer) != num_layers) {
        return InvalidArgument(fmt::format("stages are given for {} layers, but there are {}",
                                           rule.stage_of_layer.size(), num_layers));
      }
      for (std::size_t layer = 0; layer < rule.stage_of_layer.size(); ++layer) {
        const std::int64_t stage = rule.stage_of_layer[layer];
        if (stage < 0 || stage >= num_stages) {
          return InvalidArgument(
              fmt::format("stage {} of layer {} is not in 0..{}", stage, layer, num_stages - 1));
        }
      }
      return rule.stage_of_layer;
    }
    case StageRule::Kind::kBalanced: {
      if (rule.interleave != 1) {
        return InvalidArgument(
            fmt::format("balanced stages cannot be interleaved, but {} per stage are requested",
                        rule.interleave));
      }
      const Weights weights = WeightsOf(tensors);
      const bool has_bytes = std::any_of(weights.layers.begin(), weights.layers.end(),
                                         [](std::int64_t bytes) { return bytes > 0; });
      if (!has_bytes || num_stages == 1) return UniformStages(num_layers, num_stages, 1);
      return Balancer(weights, num_stages).Run();
    }
  }
  return Internal("unknown stage rule");
}

bool IsOnStage(const TensorSpec& spec, const std::vector<std::int64_t>& stage_of_layer,
               std::int64_t stage, std::int64_t num_stages) {
  switch (spec.place) {
    case StagePlace::kLayer:
      return stage == stage_of_layer[static_cast<std::size_t>(spec.layer)];
    case StagePlace::kFirst:
      return stage == 0;
    case StagePlace::kLast:
      return stage == num_stages - 1;
    case StagePlace::kFirstAndLast:
      return stage == 0 || stage == num_stages - 1;
    case StagePlace::kAll:
      return true;
  }
  return false;
}

std::vector<std::int64_t> StagesHolding(const TensorSpec& spec,
                                        const std::vector<std::int64_t>& stage_of_layer,
                                        std::int64_t num_stages) {
  std::vector<std::int64_t> stages;
  for (std::int64_t stage = 0; stage < num_stages; ++stage) {
    if (IsOnStage(spec, stage_of_layer, stage, num_stages)) stages.push_back(stage);
  }
  return stages;
}

std::int64_t StageOfLayer(std::int64_t layer, std::int64_t num_layers, std::int64_t num_stages) {
  const std::int64_t size = num_layers / num_stages;
  const std::int64_t longer = num_layers % num_stages;  // stages with size + 1 layers
  const std::int64_t in_longer = longer * (size + 1);
  if (layer < in_longer) return layer / (size + 1);
  return longer + (layer - in_longer) / size;
}

}  // namespace tessera::ptc
