// SPDX-License-Identifier: Apache-2.0
#include "engine/model/large_models.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace tessera::engine {
namespace {

// Grattafiori et al. 2024, section 3.4: the context of most of the pre-training.
constexpr std::int64_t kLlamaContext = 8192;
constexpr std::int64_t kLlamaVocabulary = 128256;
constexpr std::int64_t kGptContext = 2048;
constexpr std::int64_t kGptVocabulary = 50257;

GptConfig Gpt3(std::string name, std::int64_t layers, std::int64_t width, std::int64_t heads) {
  return {.name = std::move(name),
          .layers = layers,
          .width = width,
          .heads = heads,
          .ffn = 4 * width,
          .vocab = kGptVocabulary,
          .sequence = kGptContext};
}

GptConfig Llama3(std::string name, std::int64_t layers, std::int64_t width, std::int64_t ffn) {
  constexpr std::int64_t kHeadWidth = 128, kKeyValueHeads = 8;
  return {.name = std::move(name),
          .layers = layers,
          .width = width,
          .heads = width / kHeadWidth,
          .ffn = ffn,
          .vocab = kLlamaVocabulary,
          .sequence = kLlamaContext,
          .kv_heads = kKeyValueHeads,
          .gated_mlp = true,
          .tied_head = false};
}

std::vector<GptConfig> LargeModels() {
  return {
      // Brown et al. 2020, table 2.1.
      Gpt3("gpt3-1.3b", 24, 2048, 16),
      Gpt3("gpt3-2.7b", 32, 2560, 32),
      Gpt3("gpt3-6.7b", 32, 4096, 32),
      // Grattafiori et al. 2024, table 3.
      Llama3("llama-3-8b", 32, 4096, 14336),
      Llama3("llama-3-70b", 80, 8192, 28672),
      Gpt3("gpt3-175b", 96, 12288, 96),
      Llama3("llama-3-405b", 126, 16384, 53248),
  };
}

}  // namespace

std::vector<std::string> LargeModelNames() {
  std::vector<std::string> names;
  for (GptConfig& config : LargeModels()) names.push_back(std::move(config.name));
  return names;
}

bool IsLargeModel(std::string_view name) {
  return std::ranges::count(LargeModels(), name, &GptConfig::name) > 0;
}

Result<GptConfig> FindAnyModel(std::string_view name) {
  if (auto model = FindModel(name)) return model;
  for (GptConfig& config : LargeModels()) {
    if (config.name == name) return std::move(config);
  }
  return NotFound(fmt::format("no model '{}'; there are {}, and on simulated clusters {}", name,
                              fmt::join(ModelNames(), ", "), fmt::join(LargeModelNames(), ", ")));
}

}  // namespace tessera::engine
