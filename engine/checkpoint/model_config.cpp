// SPDX-License-Identifier: Apache-2.0
#include "engine/checkpoint/model_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <span>
#include <utility>

#include "engine/checkpoint/json_scanner.h"
#include "engine/checkpoint/open_files.h"

namespace tessera::checkpoint {
namespace {

constexpr std::int64_t kMaxModelSize = INT32_MAX;

struct ConfigKey {
  std::string_view key;
  std::string_view name;  // in rules
};
/// The keys of the configuration classes of transformers. GPT-2 has keys of its own.
constexpr auto kConfigKeys = std::to_array<ConfigKey>({
    {"hidden_size", "width"},
    {"n_embd", "width"},
    {"num_attention_heads", "heads"},
    {"n_head", "heads"},
    {"num_key_value_heads", "kv_heads"},
    {"head_dim", "head_dim"},
    {"intermediate_size", "ffn"},
    {"n_inner", "ffn"},
    {"vocab_size", "vocab"},
    {"num_local_experts", "experts"},
    {"n_routed_experts", "experts"},
    {"num_hidden_layers", "layers"},
    {"n_layer", "layers"},
});

struct FamilyRules {
  std::string_view type;
  std::string_view rules;
};
/// The types whose tensors have the names that the rule set matches.
constexpr auto kFamilies = std::to_array<FamilyRules>({
    {"bert", "bert"},
    {"bitnet", "llama"},
    {"deepseek_v2", "deepseek"},
    {"deepseek_v3", "deepseek"},
    {"gemma", "llama"},
    {"gemma2", "llama"},
    {"gpt2", "gpt2"},
    {"gpt_neox", "gpt_neox"},
    {"llama", "llama"},
    {"mistral", "llama"},
    {"mixtral", "mixtral"},
    {"olmo2", "llama"},
    {"phi3", "phi3"},
    {"qwen2", "llama"},
    {"qwen3", "llama"},
    {"vit", "vit"},
});

/// Reads the value of a size; nullopt for null.
Result<std::optional<std::int64_t>> ReadModelSize(JsonScanner& scan, std::string_view key) {
  if (scan.Null()) return std::optional<std::int64_t>();
  const std::size_t at = scan.Position();
  const auto size = scan.Count();
  if (!size || *size < 1 || *size > kMaxModelSize) {
    return scan.Wrong(at, fmt::format("'{}' is not an integer from 1 to {}", key, kMaxModelSize));
  }
  return std::optional(*size);
}

Status ReadConfigMember(JsonScanner& scan, const std::string& key, std::size_t at,
                        ModelConfig& config) {
  if (key == "model_type") {
    TESSERA_TRY(config.type, scan.String());
    return OkStatus();
  }
  const auto* const known = std::ranges::find(kConfigKeys, key, &ConfigKey::key);
  if (known == kConfigKeys.end()) return scan.Skip();
  TESSERA_TRY(const auto size, ReadModelSize(scan, key));
  if (!size) return OkStatus();
  const auto [entry, added] = config.values.try_emplace(std::string(known->name), *size);
  if (added || entry->second == *size) return OkStatus();
  return scan.Wrong(at, fmt::format("'{}' is {}, another key of the file has {} for the same size",
                                    key, *size, entry->second));
}

}  // namespace

std::string_view RuleSetOf(std::string_view model_type) {
  const auto* const family = std::ranges::find(kFamilies, model_type, &FamilyRules::type);
  return family == kFamilies.end() ? std::string_view() : family->rules;
}

Result<ModelConfig> ParseModelConfig(std::string_view json, const std::string& path) {
  JsonScanner scan(json, path);
  ModelConfig config;
  std::set<std::string> keys;
  TESSERA_RETURN_IF_ERROR(scan.Object([&](std::string key, std::size_t at) -> Status {
    const auto [entry, added] = keys.insert(std::move(key));
    if (!added) return scan.Wrong(at, fmt::format("key '{}' appears twice", Printable(*entry)));
    return ReadConfigMember(scan, *entry, at, config);
  }));
  TESSERA_RETURN_IF_ERROR(scan.End());
  if (const auto heads = config.values.find("heads"); heads != config.values.end()) {
    config.values.try_emplace("kv_heads", heads->second);
    const auto width = config.values.find("width");
    if (width != config.values.end() && width->second % heads->second == 0) {
      config.values.try_emplace("head_dim", width->second / heads->second);
    }
  }
  config.rules = RuleSetOf(config.type);
  return config;
}

Result<std::optional<ModelConfig>> ReadModelConfig(const Checkpoint& checkpoint) {
  std::filesystem::path folder = checkpoint.path();
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) folder = folder.parent_path();
  const std::string path = (folder / "config.json").string();
  auto file = File::Open(path, File::Mode::kRead);
  if (!file && file.error().code == ErrorCode::kNotFound) return std::optional<ModelConfig>();
  if (!file) return std::move(file).error();
  TESSERA_TRY(
      const std::string text,
      (*file)->ReadAll(kMaxConfigBytes, "if it is no configuration of a model, move it away"));
  TESSERA_TRY(ModelConfig config, ParseModelConfig(text, path));
  return std::optional(std::move(config));
}

}  // namespace tessera::checkpoint
