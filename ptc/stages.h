// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Assigns layers and tensors to pipeline stages (phi).

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ptc/base/result.h"
#include "ptc/tensor_spec.h"

namespace tessera::ptc {

/// How layers are distributed over pipeline stages.
struct StageRule {
  enum class Kind : std::uint8_t {
    kUniform,   // L layers in C = stages * interleave chunks; the first L mod C have one more
    kExplicit,  // stage_of_layer
    kBalanced,  // contiguous chunks that minimize the bytes of the largest stage, exactly;
                // embedding, head and final norm count on their stages
  };
  Kind kind = Kind::kUniform;
  /// The number of virtual stages per stage (Narayanan et al., SC 2021, section 2.2): chunk c of
  /// layers is on stage c mod stages. 1: not interleaved.
  std::int64_t interleave = 1;
  std::vector<std::int64_t> stage_of_layer = {};  // kExplicit: one entry per layer
  friend bool operator==(const StageRule&, const StageRule&) = default;
};
/// "uniform", "uniform*2", "balanced", "0,0,1,1".
std::string ToString(const StageRule& rule);
/// \error kInvalidArgument naming the text
Result<StageRule> ParseStageRule(std::string_view text);

/// The stage of each layer under a rule.
/// \pre num_stages >= 1
/// \error kInvalidArgument if an explicit rule has another length or a stage outside
///     [0, num_stages), or if the interleave is not in 1..kMaxLayers, or not 1 if balanced
Result<std::vector<std::int64_t>> StagesOfLayers(const StageRule& rule, const Collection& tensors,
                                                 std::int64_t num_stages);
/// The stages that hold the tensor, ascending.
std::vector<std::int64_t> StagesHolding(const TensorSpec& spec,
                                        const std::vector<std::int64_t>& stage_of_layer,
                                        std::int64_t num_stages);
/// Whether `stage` is one of them. Allocates nothing.
bool IsOnStage(const TensorSpec& spec, const std::vector<std::int64_t>& stage_of_layer,
               std::int64_t stage, std::int64_t num_stages);
/// The uniform rule for one layer.
/// \pre 0 <= layer < num_layers, num_stages >= 1
std::int64_t StageOfLayer(std::int64_t layer, std::int64_t num_layers, std::int64_t num_stages);

}  // namespace tessera::ptc
