// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/llama.h"

#include <string>
#include <utility>
#include <vector>

namespace tessera::test {
namespace {

using ptc::Axis;
using ptc::DimCut;
using ptc::HeadGroups;
using ptc::Shape;
using ptc::Split;
using ptc::StagePlace;
using ptc::TensorRole;

class Builder {
 public:
  explicit Builder(bool zero) : zero_(zero) {}

  void Add(const std::string& name, Shape shape, std::vector<DimCut> cuts, StagePlace place,
           std::int64_t layer = 0) {
    for (const auto& [suffix, role] :
         {std::pair{"", TensorRole::kParam}, std::pair{".master", TensorRole::kMaster},
          std::pair{".exp_avg", TensorRole::kExpAvg},
          std::pair{".exp_avg_sq", TensorRole::kExpAvgSq}}) {
      ptc::TensorSpec spec;
      spec.name = name + suffix;
      spec.dtype = role == TensorRole::kParam ? ptc::DType::kBF16 : ptc::DType::kF32;
      spec.shape = shape;
      spec.role = role;
      spec.place = place;
      spec.layer = layer;
      spec.rule.dims = cuts;
      if (zero_ && role != TensorRole::kParam) spec.rule.flat = {Axis::kDp};
      specs_.push_back(std::move(spec));
    }
  }
  std::vector<ptc::TensorSpec> Take() && { return std::move(specs_); }

 private:
  bool zero_;
  std::vector<ptc::TensorSpec> specs_;
};

DimCut Even() { return {.axes = {Axis::kTp}}; }
DimCut Ceil() { return {.axes = {Axis::kTp}, .split = Split::kCeil}; }
DimCut Heads(const Llama& model, bool of_query) {
  return {.axes = {Axis::kTp},
          .split = Split::kHeads,
          .heads = HeadGroups{model.kv_heads, model.query_heads, of_query}};
}

}  // namespace

ptc::CollectionPtr MakeLlama(const Llama& model, bool zero) {
  Builder out(zero);
  const std::int64_t hidden = model.hidden;
  const std::int64_t kv = hidden / model.query_heads * model.kv_heads;
  out.Add("embed_tokens", {model.vocabulary, hidden}, {Ceil(), {}}, StagePlace::kFirst);
  for (std::int64_t layer = 0; layer < model.layers; ++layer) {
    const std::string at = "layers." + std::to_string(layer) + ".";
    const auto add = [&](const char* name, Shape shape, std::vector<DimCut> cuts) {
      out.Add(at + name, std::move(shape), std::move(cuts), StagePlace::kLayer, layer);
    };
    add("q_proj", {hidden, hidden}, {Heads(model, true), {}});
    add("k_proj", {kv, hidden}, {Heads(model, false), {}});
    add("v_proj", {kv, hidden}, {Heads(model, false), {}});
    add("o_proj", {hidden, hidden}, {{}, Heads(model, true)});
    add("gate_proj", {model.feed_forward, hidden}, {Even(), {}});
    add("up_proj", {model.feed_forward, hidden}, {Even(), {}});
    add("down_proj", {hidden, model.feed_forward}, {{}, Even()});
    add("input_layernorm", {hidden}, {});
    add("post_attention_layernorm", {hidden}, {});
  }
  out.Add("norm", {hidden}, {}, StagePlace::kLast);
  out.Add("lm_head", {model.vocabulary, hidden}, {Ceil(), {}}, StagePlace::kLast);
  return *ptc::Collection::Make(std::move(out).Take(), model.layers);
}

}  // namespace tessera::test
