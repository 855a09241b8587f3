// SPDX-License-Identifier: Apache-2.0
#include "engine/search/workload.h"

#include "engine/search/to_double.h"

namespace tessera::engine {
namespace {

/// Those that ptc::StageOfLayer assigns to the stage.
std::int64_t LayersOf(const GptConfig& model, std::int64_t stage, std::int64_t stages) {
  return model.layers / stages + (stage < model.layers % stages ? 1 : 0);
}

/// Rows of q, k and v together.
std::int64_t QkvRows(const GptConfig& model) {
  return model.width + 2 * (model.width / model.heads * model.num_kv_heads());
}

/// Elements of the embedding, or of the head, on the tp rank that has the most.
std::int64_t VocabularyOf(const GptConfig& model, std::int64_t tp) {
  return (model.vocab + tp - 1) / tp * model.width;
}

}  // namespace

PassWork WorkOf(const GptConfig& model, std::int64_t tp, std::int64_t stage, std::int64_t stages,
                std::int64_t samples) {
  const double tokens = ToDouble(samples * model.sequence);
  const double d = ToDouble(model.width), ffn = ToDouble(model.ffn), qkv = ToDouble(QkvRows(model));
  const double scores = ToDouble(model.heads * model.sequence);  // per token, over all heads
  const double up = model.gated_mlp ? 2 * ffn : ffn;
  const bool first = stage == 0, last = stage == stages - 1;
  constexpr double kPasses = 3;  // backward costs two forwards

  PassWork work;
  work.layers = ToDouble(LayersOf(model, stage, stages));
  work.has_loss = last;
  const double parts = ToDouble(tp);
  // qkv, proj, fc1 (gate|up), fc2; scores = q k^T and scores v.
  const double block_flops =
      2 * tokens * (d * qkv + d * d + d * up + ffn * d + 2 * ToDouble(model.sequence) * d) / parts;
  // Cut over tp: q|k|v, scores (scaled, masked, softmax) and the MLP's inside (before and after the
  // activation). On every tp rank: two norms, two residual sums, two biases.
  const double block_elements = tokens * ((qkv + 3 * scores + 2 * up) / parts + 6 * d);
  const double head_flops = last ? 2 * tokens * d * ToDouble(model.vocab) / parts : 0;
  const double ends = (first ? 2 * tokens * d : 0) +
                      (last ? tokens * (2 * d + 3 * ToDouble(model.vocab) / parts) : 0);
  work.flops = kPasses * (work.layers * block_flops + head_flops);
  work.elements = kPasses * (work.layers * block_elements + ends);
  work.tensor_reduces = 4 * work.layers + (first ? 1 : 0) + (last ? 1 : 0);
  return work;
}

std::int64_t ParametersOf(const GptConfig& model, std::int64_t tp, std::int64_t stage,
                          std::int64_t stages) {
  const std::int64_t d = model.width, qkv = QkvRows(model);
  const std::int64_t up = model.gated_mlp ? 2 * model.ffn : model.ffn;
  const std::int64_t cut = qkv * d + qkv + d * d + up * d + up + d * model.ffn;
  const std::int64_t whole = 4 * d + 2 * d;  // two norms, the biases of proj and fc2
  const std::int64_t vocabulary = VocabularyOf(model, tp);
  const bool first = stage == 0, last = stage == stages - 1;
  std::int64_t count = LayersOf(model, stage, stages) * (cut / tp + whole);
  if (first) count += vocabulary + model.sequence * d;
  if (last) count += 2 * d;
  // A tied head is the embedding: one tensor if both are on one stage.
  if (last && (!model.tied_head || !first)) count += vocabulary;
  return count;
}

std::int64_t HiddenBytes(const GptConfig& model, std::int64_t samples) {
  return samples * model.sequence * model.width * static_cast<std::int64_t>(sizeof(float));
}

std::int64_t TiedBytes(const GptConfig& model, std::int64_t tp) {
  return VocabularyOf(model, tp) * static_cast<std::int64_t>(sizeof(float));
}

std::array<Passes, 2> PassesOf(std::int64_t share, std::int64_t micro_batch) {
  const std::int64_t rest = share % micro_batch;
  return {Passes{share / micro_batch, micro_batch}, Passes{rest > 0 ? 1 : 0, rest}};
}

}  // namespace tessera::engine
