// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The `config.json` of a Hugging Face folder: which family a model belongs to, and the sizes that
/// the shapes of its tensors do not show, such as the number of heads.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "engine/checkpoint/checkpoint.h"
#include "ptc/base/result.h"

namespace tessera::checkpoint {

/// What a config.json states, in the words of the rule sets (ptc/FORMAT.md).
struct ModelConfig {
  std::string type;   // model_type: "llama"; empty if the file has none
  std::string rules;  // the rule set of that type: "llama"; empty if there is none for it
  /// Sizes by the names that rules use: width, heads, kv_heads, head_dim, ffn, vocab, experts,
  /// layers. A size that the file lacks or has as null is missing here; kv_heads is heads then.
  std::map<std::string, std::int64_t> values = {};
};

inline constexpr std::int64_t kMaxConfigBytes = std::int64_t{16} << 20;

/// The rule set of the catalogue that cuts the tensors of a model_type; empty if there is none.
std::string_view RuleSetOf(std::string_view model_type);

/// \param path for errors
/// \error kInvalidArgument "'PATH' at byte N: …" for: no JSON object, a key twice, a size that is
///     not an integer from 1 to 2^31-1, a model_type that is not a string, two spellings of a size
///     with different values
Result<ModelConfig> ParseModelConfig(std::string_view json, const std::string& path);

/// Reads config.json from the folder of a checkpoint, which for a single file is the folder that it
/// lies in. nullopt if there is no such file.
/// \error as ParseModelConfig; kInvalidArgument for a file of more than kMaxConfigBytes;
///     kUnavailable if it cannot be read
Result<std::optional<ModelConfig>> ReadModelConfig(const Checkpoint& checkpoint);

}  // namespace tessera::checkpoint
