// SPDX-License-Identifier: Apache-2.0
#include "agents/train/model/gpt_model_block.h"

#include <cmath>
#include <limits>

#include "agents/train/model/gpt_model_parallel.h"
#include "engine/data/dropout.h"

namespace tessera::agents::train {
namespace {

using at::Tensor;

/// Each key and value head serves heads / kv_heads query heads, whose rows are stacked in one
/// product.
Tensor Attention(const Block& block, const LayerContext& context, const Tensor& x) {
  const engine::GptConfig& config = context.config();
  const std::int64_t batch = context.num_samples;
  const std::int64_t sequence = config.sequence;
  const std::int64_t heads = config.heads / context.tp.size();
  const std::int64_t kv_heads = config.num_kv_heads() / context.tp.size();
  const std::int64_t head_width = config.width / config.heads;
  const Tensor input = CopyToGroup(x, context.tp);
  const auto project = [&](const Linear& linear, std::int64_t of_heads) {
    return at::linear(input, linear.weight, linear.bias)
        .view({batch, sequence, of_heads, head_width})
        .transpose(1, 2)
        .reshape({batch * kv_heads, -1, head_width});
  };
  const Tensor query = project(block.query, heads);  // rows of heads / kv_heads heads
  const Tensor key = project(block.key, kv_heads);
  const Tensor value = project(block.value, kv_heads);
  const double temperature = 1.0 / std::sqrt(static_cast<double>(head_width));
  Tensor weights =
      at::baddbmm(context.attention_mask, query, key.transpose(1, 2), 1, temperature).softmax(-1);
  weights = Dropout(context, weights, SiteOf(block.layer, DropoutSite::kAttentionWeights),
                    context.tp.rank() * heads * sequence * sequence);
  const Tensor mixed = at::bmm(weights, value)
                           .view({batch, heads, sequence, head_width})
                           .transpose(1, 2)
                           .reshape({batch, sequence, heads * head_width});
  // Every rank has the whole bias: it is added once, after the sum.
  return ReduceFromGroup(at::linear(mixed, block.proj.weight), context.tp) + block.proj.bias;
}

/// libtorch's word for a form of GELU.
const char* GeluForm(engine::Gelu gelu) { return gelu == engine::Gelu::kErf ? "none" : "tanh"; }

Tensor Mlp(const Block& block, const LayerContext& context, const Tensor& x) {
  const Tensor input = CopyToGroup(x, context.tp);
  const Tensor up = at::linear(input, block.up.weight, block.up.bias);
  const Tensor hidden = context.config().gated_mlp
                            ? at::silu(at::linear(input, block.gate.weight, block.gate.bias)) * up
                            : at::gelu(up, GeluForm(context.config().gelu));
  return ReduceFromGroup(at::linear(hidden, block.fc2.weight), context.tp) + block.fc2.bias;
}

}  // namespace

Tensor AttentionMask(const engine::GptConfig& config) {
  return at::full({config.sequence, config.sequence}, -std::numeric_limits<float>::infinity(),
                  at::kFloat)
      .triu_(1)
      .repeat({config.heads / config.num_kv_heads(), 1});
}

std::uint64_t SiteOf(std::int64_t layer, DropoutSite site) {
  return 1 + 3 * static_cast<std::uint64_t>(layer) + static_cast<std::uint64_t>(site);
}

Tensor Dropout(const LayerContext& context, const Tensor& x, std::uint64_t site,
               std::int64_t first_element) {
  const engine::JobSettings& settings = context.settings;
  if (settings.dropout == 0) return x;
  const Tensor mask = at::empty(x.sizes(), at::kFloat);
  const std::span<float> all = SpanOf(mask);
  const std::size_t elements = all.size() / static_cast<std::size_t>(context.num_samples);
  for (std::int64_t i = 0; i < context.num_samples; ++i) {
    engine::DropoutMask(settings.seed, site, context.first_sample + i, first_element,
                        settings.dropout,
                        all.subspan(static_cast<std::size_t>(i) * elements, elements));
  }
  return x * mask;
}

Tensor LayerNorm(const Tensor& x, const Norm& norm) {
  return at::layer_norm(x, norm.weight.sizes(), norm.weight, norm.bias, 1e-5);
}

Tensor Apply(const Block& block, const LayerContext& context, const Tensor& x) {
  const Tensor attention = Attention(block, context, LayerNorm(x, block.ln1));
  const Tensor middle =
      x + Dropout(context, attention, SiteOf(block.layer, DropoutSite::kAttentionOutput), 0);
  const Tensor mlp = Mlp(block, context, LayerNorm(middle, block.ln2));
  return middle + Dropout(context, mlp, SiteOf(block.layer, DropoutSite::kMlpOutput), 0);
}

}  // namespace tessera::agents::train
