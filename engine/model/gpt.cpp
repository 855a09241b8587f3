// SPDX-License-Identifier: Apache-2.0
#include "engine/model/gpt.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace tessera::engine {
namespace {

using ptc::Axis;
using ptc::StagePlace;
using ptc::TensorRole;
using ptc::TensorSpec;

std::vector<GptConfig> BuiltInModels() {
  return {
      {.name = "gpt-nano",
       .layers = 2,
       .width = 64,
       .heads = 4,
       .ffn = 256,
       .vocab = 256,
       .sequence = 64},
      {.name = "gpt-mini",
       .layers = 4,
       .width = 256,
       .heads = 8,
       .ffn = 1024,
       .vocab = 256,
       .sequence = 128},
      {.name = "gpt-10m",
       .layers = 6,
       .width = 384,
       .heads = 8,
       .ffn = 1536,
       .vocab = 256,
       .sequence = 128},
      {.name = "gpt-25m",
       .layers = 8,
       .width = 512,
       .heads = 8,
       .ffn = 2048,
       .vocab = 256,
       .sequence = 256},
  };
}

/// Where a tensor lives when there are pipeline stages.
struct Place {
  StagePlace place = StagePlace::kAll;
  std::int64_t layer = 0;
};

/// Collects each parameter together with its two moments, which are cut alike.
class Builder {
 public:
  /// Adds a parameter of which tp cuts dimension `cut_dim`, or that is replicated.
  void Add(const std::string& name, ptc::Shape shape, Place place,
           std::optional<std::size_t> cut_dim = std::nullopt,
           std::optional<ptc::Segments> segments = std::nullopt) {
    TensorSpec spec;
    spec.name = name;
    spec.place = place.place;
    spec.layer = place.layer;
    spec.rule.dims.resize(shape.size());
    if (cut_dim) spec.rule.dims[*cut_dim] = {Axis::kTp};
    spec.shape = std::move(shape);
    spec.segments = std::move(segments);
    tensors_.push_back(spec);
    spec.name = name + ".exp_avg";
    spec.role = TensorRole::kExpAvg;
    tensors_.push_back(spec);
    spec.name = name + ".exp_avg_sq";
    spec.role = TensorRole::kExpAvgSq;
    tensors_.push_back(std::move(spec));
  }

  void AddScalar(std::string name, ptc::Shape shape) {
    TensorSpec spec;
    spec.name = std::move(name);
    spec.dtype = ptc::DType::kI64;
    spec.role = TensorRole::kScalar;
    spec.rule.dims.resize(shape.size());
    spec.shape = std::move(shape);
    tensors_.push_back(std::move(spec));
  }

  std::vector<TensorSpec> Take() { return std::move(tensors_); }

 private:
  std::vector<TensorSpec> tensors_;
};

}  // namespace

std::vector<std::string> ModelNames() {
  std::vector<std::string> names;
  for (GptConfig& config : BuiltInModels()) names.push_back(std::move(config.name));
  return names;
}

Result<GptConfig> FindModel(std::string_view name) {
  for (GptConfig& config : BuiltInModels()) {
    if (config.name == name) return std::move(config);
  }
  return NotFound(fmt::format("no model '{}'; there are {}", name, fmt::join(ModelNames(), ", ")));
}

Result<ptc::CollectionPtr> MakeCollection(const GptConfig& config) {
  const std::int64_t d = config.width;
  Builder builder;
  builder.Add("tok_emb.weight", {config.vocab, d}, {StagePlace::kFirstAndLast}, 0);
  builder.Add("pos_emb.weight", {config.sequence, d}, {StagePlace::kFirst});
  builder.Add("ln_f.weight", {d}, {StagePlace::kLast});
  builder.Add("ln_f.bias", {d}, {StagePlace::kLast});
  for (std::int64_t layer = 0; layer < config.layers; ++layer) {
    const std::string h = fmt::format("h.{}.", layer);
    const Place place{StagePlace::kLayer, layer};
    const ptc::Segments qkv{.dim = 0, .sizes = {d, d, d}};
    builder.Add(h + "ln1.weight", {d}, place);
    builder.Add(h + "ln1.bias", {d}, place);
    builder.Add(h + "attn.qkv.weight", {3 * d, d}, place, 0, qkv);
    builder.Add(h + "attn.qkv.bias", {3 * d}, place, 0, qkv);
    builder.Add(h + "attn.proj.weight", {d, d}, place, 1);
    builder.Add(h + "attn.proj.bias", {d}, place);
    builder.Add(h + "ln2.weight", {d}, place);
    builder.Add(h + "ln2.bias", {d}, place);
    builder.Add(h + "mlp.fc1.weight", {config.ffn, d}, place, 0);
    builder.Add(h + "mlp.fc1.bias", {config.ffn}, place, 0);
    builder.Add(h + "mlp.fc2.weight", {d, config.ffn}, place, 1);
    builder.Add(h + "mlp.fc2.bias", {d}, place);
  }
  builder.AddScalar("job.step", {});
  builder.AddScalar("job.cursor", {3});
  return ptc::Collection::Make(builder.Take(), config.layers);
}

Status CheckMesh(const JobSettings& settings, const ptc::MeshShape& mesh) {
  const GptConfig& model = settings.model;
  for (const Axis axis : {Axis::kPp, Axis::kEp, Axis::kCp}) {
    if (mesh[axis] != 1) {
      return InvalidArgument(fmt::format("{} = {}: the built-in trainer runs {} = 1 only",
                                         ptc::ToString(axis), mesh[axis], ptc::ToString(axis)));
    }
  }
  const std::int64_t tp = mesh[Axis::kTp];
  const std::pair<std::string_view, std::int64_t> cut_by_tp[] = {
      {"heads", model.heads},
      {"ffn units", model.ffn},
      {"vocabulary entries", model.vocab},
      {"channels", model.width}};
  for (const auto& [what, size] : cut_by_tp) {
    if (size % tp != 0) {
      return InvalidArgument(
          fmt::format("{} {} of {} are not divisible by tp = {}", size, what, model.name, tp));
    }
  }
  if (settings.global_batch % mesh[Axis::kDp] != 0) {
    return InvalidArgument(fmt::format("global batch {} is not divisible by dp = {}",
                                       settings.global_batch, mesh[Axis::kDp]));
  }
  return OkStatus();
}

}  // namespace tessera::engine
