// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// One layer of the GPT. For gpt_model*.cpp only: it includes libtorch.

#include <ATen/ATen.h>

#include <cstdint>

#include "agents/train/comm/collective.h"
#include "engine/model/gpt.h"

namespace tessera::agents::train {

/// What layers read besides weights and activations.
struct LayerContext {
  const engine::JobSettings& settings;
  Collective& tp;
  const at::Tensor& attention_mask;  // AttentionMask(config)
  std::int64_t first_sample = 0, num_samples = 0;

  const engine::GptConfig& config() const { return settings.model; }
};

/// Returns what is added to the scores of the query heads that share a key head, one after the
/// other: 0 for tokens up to the own position, -infinity for later ones.
at::Tensor AttentionMask(const engine::GptConfig& config);

/// Where dropout acts in the model. The numbers must never change, because the masks of a seed
/// depend on them.
enum class DropoutSite : std::uint8_t { kAttentionWeights, kAttentionOutput, kMlpOutput };
std::uint64_t SiteOf(std::int64_t layer, DropoutSite site);
inline constexpr std::uint64_t kEmbeddingSite = 0;

/// Returns `x` times its mask (engine::DropoutMask). The samples are the outermost dimension of
/// `x`; of each sample it holds elements from `first_element` of the uncut activation.
at::Tensor Dropout(const LayerContext& context, const at::Tensor& x, std::uint64_t site,
                   std::int64_t first_element);

struct Norm {
  at::Tensor weight, bias;
};
at::Tensor LayerNorm(const at::Tensor& x, const Norm& norm);

/// Weights of one tensor-parallel part, with its biases.
struct Linear {
  at::Tensor weight, bias;
};

/// proj and fc2 have inputs that are cut; their biases are whole on every rank.
struct Block {
  std::int64_t layer = 0;
  Norm ln1, ln2;
  Linear query, key, value, proj;
  Linear gate;  // only with a gated MLP
  Linear up, fc2;
};

/// Returns the activations of the layer for `x`, both [samples, sequence, width] and whole on every
/// rank.
at::Tensor Apply(const Block& block, const LayerContext& context, const at::Tensor& x);

}  // namespace tessera::agents::train
