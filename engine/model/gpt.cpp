// SPDX-License-Identifier: Apache-2.0
#include "engine/model/gpt.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/data/cursor.h"

namespace tessera::engine {
namespace {

/// More samples need more memory for activations, but make matrix products no faster.
constexpr std::int64_t kLargestMicroBatch = 8;

using ptc::Axis;
using ptc::StagePlace;
using ptc::TensorRole;
using ptc::TensorSpec;

std::vector<GptConfig> BuiltInModels() {
  // name, layers, width, heads, feed-forward width, vocabulary, sequence
  return {
      {"gpt-nano", 2, 64, 4, 256, 256, 64},
      {"gpt-mini", 4, 256, 8, 1024, 256, 128},
      {"gpt-10m", 6, 384, 8, 1536, 256, 128},
      {"gpt-25m", 8, 512, 8, 2048, 256, 256},
      // Radford et al. 2019. It is trained on bytes like the others, so most of its vocabulary is
      // not used.
      {"gpt2", 12, 768, 12, 3072, 50257, 1024},
  };
}

/// The pipeline stage of a tensor.
struct TensorStage {
  StagePlace place = StagePlace::kAll;
  std::int64_t layer = 0;
};

/// How tp cuts a parameter.
struct Cut {
  std::optional<std::size_t> dim = std::nullopt;  // none: replicated
  std::optional<ptc::Segments> segments = std::nullopt;
  ptc::Split split = ptc::Split::kEven;
};

/// Collects each parameter with its optimizer state, which is cut like the parameter and, with
/// ZeRO, also flat over dp.
class Builder {
 public:
  Builder(Precision precision, bool zero) : precision_(precision), zero_(zero) {}

  void Add(const std::string& name, ptc::Shape shape, TensorStage stage, Cut cut = {}) {
    TensorSpec spec;
    spec.name = name;
    spec.place = stage.place;
    spec.layer = stage.layer;
    spec.rule.dims.resize(shape.size());
    if (cut.dim) {
      spec.rule.dims[*cut.dim] = {.axes = {Axis::kTp}, .split = cut.split};
    }
    spec.shape = std::move(shape);
    spec.segments = std::move(cut.segments);
    if (precision_ == Precision::kBf16) spec.dtype = ptc::DType::kBF16;
    tensors_.push_back(spec);
    spec.dtype = ptc::DType::kF32;
    if (zero_) spec.rule.flat = {Axis::kDp};
    if (precision_ == Precision::kBf16) AddState(spec, name + ".master", TensorRole::kMaster);
    AddState(spec, name + ".exp_avg", TensorRole::kExpAvg);
    AddState(spec, name + ".exp_avg_sq", TensorRole::kExpAvgSq);
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
  void AddState(TensorSpec spec, std::string name, TensorRole role) {
    spec.name = std::move(name);
    spec.role = role;
    tensors_.push_back(std::move(spec));
  }

  const Precision precision_;
  const bool zero_;
  std::vector<TensorSpec> tensors_;
};

/// Checks the conditions of the built-in trainer.
Status CheckModel(const JobSettings& settings, const ptc::MeshShape& mesh) {
  const GptConfig& model = settings.model;
  for (const Axis axis : {Axis::kEp, Axis::kCp}) {
    if (mesh[axis] != 1) {
      return InvalidArgument(fmt::format("{} = {}: the built-in trainer runs {} = 1 only",
                                         ptc::ToString(axis), mesh[axis], ptc::ToString(axis)));
    }
  }
  const std::int64_t tp = mesh[Axis::kTp];
  const std::pair<std::string_view, std::int64_t> cut_by_tp[] = {
      {"heads", model.heads},
      {"key and value heads", model.num_kv_heads()},
      {"ffn units", model.ffn}};
  for (const auto& [what, size] : cut_by_tp) {
    if (size % tp == 0) continue;
    return InvalidArgument(
        fmt::format("{} {} of {} are not divisible by tp = {}", size, what, model.name, tp));
  }
  if (mesh[Axis::kPp] > model.layers) {
    return InvalidArgument(fmt::format("pp = {} is more stages than the {} layers of {}",
                                       mesh[Axis::kPp], model.layers, model.name));
  }
  return OkStatus();
}

/// The samples of the data-parallel rank with the largest share.
std::int64_t LargestShare(const JobSettings& settings, const ptc::MeshShape& mesh) {
  return ShareOfBatch(GlobalBatchOn(settings, mesh), 0, mesh[Axis::kDp]).size();
}

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

std::string_view ToString(Gelu gelu) { return gelu == Gelu::kErf ? "erf" : "tanh"; }

Result<Gelu> ParseGelu(std::string_view name) {
  for (const Gelu gelu : {Gelu::kTanh, Gelu::kErf}) {
    if (ToString(gelu) == name) return gelu;
  }
  return InvalidArgument(fmt::format("gelu '{}' is neither tanh nor erf", name));
}

std::string_view ToString(Precision precision) {
  return precision == Precision::kBf16 ? "bf16" : "fp32";
}

Result<Precision> ParsePrecision(std::string_view name) {
  for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
    if (ToString(precision) == name) return precision;
  }
  return InvalidArgument(fmt::format("precision '{}' is neither fp32 nor bf16", name));
}

Result<ptc::CollectionPtr> MakeCollection(const JobSettings& settings, bool zero) {
  if (settings.program) {
    TESSERA_TRY(auto ruled,
                ptc::ApplyRules(settings.program->tensors, settings.program->rules, zero));
    return std::move(ruled.tensors);
  }
  const GptConfig& config = settings.model;
  const std::int64_t d = config.width;
  const std::int64_t kv = d / config.heads * config.num_kv_heads();
  const Cut rows{.dim = 0}, columns{.dim = 1};
  const Cut vocabulary{.dim = 0, .split = ptc::Split::kCeil};
  const Cut qkv{.dim = 0, .segments = ptc::Segments{.dim = 0, .blocks = {{d}, {kv}, {kv}}}};
  const Cut fc1 = config.gated_mlp
                      ? Cut{.dim = 0, .segments = ptc::Segments{0, {{config.ffn}, {config.ffn}}}}
                      : rows;
  const std::int64_t fc1_rows = config.gated_mlp ? 2 * config.ffn : config.ffn;

  Builder builder(settings.precision, zero);
  const StagePlace embedding = config.tied_head ? StagePlace::kFirstAndLast : StagePlace::kFirst;
  builder.Add("tok_emb.weight", {config.vocab, d}, {embedding}, vocabulary);
  if (!config.tied_head) {
    builder.Add("head.weight", {config.vocab, d}, {StagePlace::kLast}, vocabulary);
  }
  builder.Add("pos_emb.weight", {config.sequence, d}, {StagePlace::kFirst});
  builder.Add("ln_f.weight", {d}, {StagePlace::kLast});
  builder.Add("ln_f.bias", {d}, {StagePlace::kLast});
  for (std::int64_t layer = 0; layer < config.layers; ++layer) {
    const std::string h = fmt::format("h.{}.", layer);
    const TensorStage stage{StagePlace::kLayer, layer};
    builder.Add(h + "ln1.weight", {d}, stage);
    builder.Add(h + "ln1.bias", {d}, stage);
    builder.Add(h + "attn.qkv.weight", {d + 2 * kv, d}, stage, qkv);
    builder.Add(h + "attn.qkv.bias", {d + 2 * kv}, stage, qkv);
    builder.Add(h + "attn.proj.weight", {d, d}, stage, columns);
    builder.Add(h + "attn.proj.bias", {d}, stage);
    builder.Add(h + "ln2.weight", {d}, stage);
    builder.Add(h + "ln2.bias", {d}, stage);
    builder.Add(h + "mlp.fc1.weight", {fc1_rows, d}, stage, fc1);
    builder.Add(h + "mlp.fc1.bias", {fc1_rows}, stage, fc1);
    builder.Add(h + "mlp.fc2.weight", {d, config.ffn}, stage, columns);
    builder.Add(h + "mlp.fc2.bias", {d}, stage);
  }
  builder.AddScalar("job.step", {});
  builder.AddScalar(std::string(kCursorTensor), {3});
  return ptc::Collection::Make(builder.Take(), config.layers);
}

Status CheckMesh(const JobSettings& settings, const ptc::MeshShape& mesh,
                 const StepOptions& options) {
  if (options.micro_batch < 0) {
    return InvalidArgument(fmt::format("micro-batch {} is below 0", options.micro_batch));
  }
  // A program of the user divides its batch itself.
  if (settings.program) return OkStatus();
  TESSERA_RETURN_IF_ERROR(CheckModel(settings, mesh));
  const std::int64_t dp = mesh[Axis::kDp];
  const std::int64_t batch = GlobalBatchOn(settings, mesh);
  if (batch < dp) {
    return InvalidArgument(fmt::format("global batch {} is smaller than dp = {}", batch, dp));
  }
  const std::int64_t share = LargestShare(settings, mesh);
  if (options.micro_batch > share) {
    return InvalidArgument(fmt::format("micro-batch {} is larger than a rank's share of {} samples",
                                       options.micro_batch, share));
  }
  return OkStatus();
}

std::int64_t MicroBatch(const JobSettings& settings, const ptc::MeshShape& mesh,
                        const StepOptions& options) {
  if (options.micro_batch > 0) return options.micro_batch;
  const std::int64_t share = LargestShare(settings, mesh);
  const std::int64_t stages = mesh[Axis::kPp];
  std::int64_t most = kLargestMicroBatch;
  if (stages > 1) most = std::clamp<std::int64_t>(share / (2 * stages), 1, most);
  const std::int64_t passes = NumMicroBatches(share, most);
  return (share + passes - 1) / passes;
}

}  // namespace tessera::engine
