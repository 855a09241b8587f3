// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "ptc/base/json_reader.h"
#include "ptc/base/utf8.h"
#include "ptc/rules/rules_files.h"

namespace tessera::ptc {
namespace {

/// More than any model has. A file that describes more is a mistake.
constexpr std::size_t kMostTensors = 1'000'000;

std::string ReplaceAll(std::string text, std::string_view what, std::string_view by) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

/// The optimizer state that the file requests for each parameter.
struct ParameterState {
  bool masters = false;
  std::vector<TensorRole> moments;
};

Result<ParameterState> ReadParameterState(const JsonReader& file, OptimizerState asked) {
  ParameterState state;
  if (file.Find("optimizer") != nullptr) {
    TESSERA_TRY(const std::string optimizer, file.Text("optimizer"));
    if (optimizer != "adamw") return file.Expected(*file.Find("optimizer"), "'adamw'");
    state.moments = {TensorRole::kExpAvg, TensorRole::kExpAvgSq};
  }
  TESSERA_RETURN_IF_ERROR(file.Optional("masters", state.masters));
  if (asked == OptimizerState::kNone) return ParameterState{};
  if (asked == OptimizerState::kAdamW) {
    return ParameterState{true, {TensorRole::kExpAvg, TensorRole::kExpAvgSq}};
  }
  return state;
}

Result<Segments> ReadSegments(const NamedText& file, const JsonValue& value, const Values& values) {
  TESSERA_TRY(const auto reader, JsonReader::Make(file, value, "segments", {"dim", "sizes"}));
  TESSERA_TRY(const std::int64_t dim, reader.Integer("dim", 0, kMaxRank - 1));
  Segments segments;
  segments.dim = static_cast<int>(dim);
  TESSERA_TRY(const std::vector<std::int64_t> sizes, ReadNumbers(reader, "sizes", values));
  for (std::int64_t size : sizes) segments.blocks.push_back({size});
  return segments;
}

Result<LayerRange> ReadLayerRange(const JsonReader& reader, std::int64_t num_layers) {
  const JsonValue* range = reader.Find("layers");
  if (range == nullptr) return LayerRange{0, num_layers};
  TESSERA_TRY(const std::vector<std::int64_t> ends, reader.Integers("layers"));
  if (ends.size() != 2 || ends[0] < 0 || ends[0] >= ends[1] || ends[1] > num_layers) {
    return reader.At(
        *range,
        fmt::format("'layers' must be [first, end] with 0 <= first < end <= {}", num_layers));
  }
  return LayerRange{ends[0], ends[1]};
}

/// Reads the names of one storage. The first in byte order becomes the name of the tensor.
Status ReadAliases(const JsonReader& reader, TensorSpec& spec) {
  TESSERA_TRY(spec.aliases, reader.Texts("aliases"));
  if (std::ranges::count(spec.aliases, std::string()) > 0) {
    return reader.At(*reader.Find("aliases"), "'aliases' has an empty name");
  }
  std::sort(spec.aliases.begin(), spec.aliases.end());
  if (!spec.aliases.empty() && spec.aliases.front() < spec.name) {
    std::swap(spec.aliases.front(), spec.name);
    std::sort(spec.aliases.begin(), spec.aliases.end());
  }
  return OkStatus();
}

Result<ListedTensor> ReadTensor(const NamedText& file, const JsonValue& value,
                                const TensorsFile& head) {
  const Values& values = head.values;
  TESSERA_TRY(const auto reader, JsonReader::Make(file, value, "a tensor",
                                                  {"name", "dtype", "shape", "role", "layer",
                                                   "layers", "expert", "segments", "aliases"}));
  ListedTensor tensor;
  tensor.line = value.line;
  TESSERA_TRY(tensor.spec.name, reader.Text("name"));
  if (!IsPrintableUtf8(tensor.spec.name)) {
    TESSERA_TRY(const JsonValue* name, reader.Member("name"));
    return reader.Expected(*name, "text without control characters");
  }
  TESSERA_TRY(const JsonValue* dtype, reader.Member("dtype"));
  const auto known_dtype = ParseDType(dtype->text);
  if (!known_dtype) return reader.Expected(*dtype, "a dtype such as f32, bf16 or i64");
  tensor.spec.dtype = *known_dtype;
  TESSERA_TRY(tensor.spec.shape, ReadNumbers(reader, "shape", values));
  if (const JsonValue* role = reader.Find("role")) {
    const auto known = ParseTensorRole(role->text);
    if (!known) {
      return reader.Expected(*role,
                             "one of param, master, exp_avg, exp_avg_sq, buffer, rng and scalar");
    }
    tensor.spec.role = *known;
  }
  if (reader.Find("layer") != nullptr) {
    TESSERA_TRY(tensor.layer, reader.Integer("layer"));
  }
  if (const JsonValue* segments = reader.Find("segments")) {
    TESSERA_TRY(tensor.spec.segments, ReadSegments(file, *segments, values));
  }
  if (const JsonValue* expert = reader.Find("expert")) {
    TESSERA_TRY(const std::int64_t count, ValueOf(reader, *expert, "experts", values));
    TESSERA_TRY(const std::int64_t index, reader.Integer("expert", 0, count - 1));
    tensor.spec.expert = ExpertIndex{index, count};
  }
  if (reader.Find("aliases") != nullptr) {
    TESSERA_RETURN_IF_ERROR(ReadAliases(reader, tensor.spec));
  }
  tensor.pattern = tensor.spec.name;
  TESSERA_TRY(tensor.layers, ReadLayerRange(reader, head.num_layers));
  if (reader.Find("layers") != nullptr && tensor.spec.name.find(kLayerMark) == std::string::npos) {
    return reader.At(*reader.Find("layers"), "'layers' needs {layer} in the name");
  }
  for (const auto& [mark, key] : {std::pair{kLayerMark, "layer"}, {kExpertMark, "expert"}}) {
    if (tensor.spec.name.find(mark) == std::string::npos) continue;
    if (const JsonValue* given = reader.Find(key)) {
      return reader.At(*given,
                       fmt::format("'{}' cannot be combined with {} in the name", key, mark));
    }
  }
  if (tensor.spec.name.find(kExpertMark) != std::string::npos) {
    TESSERA_TRY(const JsonValue* name, reader.Member("name"));
    TESSERA_TRY(const std::int64_t count, ValueOf(reader, *name, "experts", values));
    tensor.spec.expert = ExpertIndex{0, count};
  }
  return tensor;
}

Result<JsonReader> ReaderOfTensorsFile(const NamedText& file, const JsonValue& root) {
  return JsonReader::Make(
      file, root, "the tensors file",
      {"title", "source", "rules", "layers", "values", "optimizer", "masters", "tensors"});
}

/// Replaces `what` in all names of the tensor.
void Rename(TensorSpec& spec, std::string_view what, std::string_view by) {
  spec.name = ReplaceAll(spec.name, what, by);
  for (std::string& alias : spec.aliases) alias = ReplaceAll(alias, what, by);
}

/// Appends the tensor and its optimizer state. A name with `{layer}` or `{expert}` is expanded
/// first.
void Append(const ListedTensor& tensor, const ParameterState& state, TensorsFile& out) {
  if (tensor.spec.name.find(kLayerMark) != std::string::npos) {
    for (std::int64_t layer = tensor.layers.begin; layer < tensor.layers.end; ++layer) {
      ListedTensor one = tensor;
      Rename(one.spec, kLayerMark, fmt::format("{}", layer));
      one.layer = layer;
      Append(one, state, out);
      if (out.tensors.size() > kMostTensors) return;
    }
    return;
  }
  if (tensor.spec.name.find(kExpertMark) != std::string::npos) {
    for (std::int64_t expert = 0; expert < tensor.spec.expert->count; ++expert) {
      ListedTensor one = tensor;
      Rename(one.spec, kExpertMark, fmt::format("{}", expert));
      one.spec.expert->index = expert;
      Append(one, state, out);
      if (out.tensors.size() > kMostTensors) return;
    }
    return;
  }
  out.tensors.push_back(tensor);
  if (tensor.spec.role != TensorRole::kParam) return;
  const auto add = [&](TensorRole role) {
    ListedTensor beside = tensor;
    const std::string suffix = fmt::format(".{}", ToString(role));
    beside.spec.name += suffix;
    beside.pattern += suffix;
    for (std::string& alias : beside.spec.aliases) alias += suffix;
    beside.spec.role = role;
    beside.spec.dtype = DType::kF32;
    out.tensors.push_back(std::move(beside));
  };
  if (state.masters && tensor.spec.dtype != DType::kF32) add(TensorRole::kMaster);
  for (TensorRole role : state.moments) add(role);
}

}  // namespace

std::string_view ToString(OptimizerState state) {
  if (state == OptimizerState::kAdamW) return "adamw";
  return state == OptimizerState::kNone ? "none" : "as the file says";
}

Result<OptimizerState> ParseOptimizerState(std::string_view text) {
  for (const OptimizerState state : {OptimizerState::kNone, OptimizerState::kAdamW}) {
    if (ToString(state) == text) return state;
  }
  return InvalidArgument(fmt::format("optimizer '{}' is neither adamw nor none", text));
}

Result<std::string> ReadRuleSetName(const NamedText& file) {
  TESSERA_TRY(const JsonValue root, ParseJson(file));
  TESSERA_TRY(const auto reader, ReaderOfTensorsFile(file, root));
  std::string rules;
  TESSERA_RETURN_IF_ERROR(reader.Optional("rules", rules));
  return rules;
}

Result<TensorsFile> ReadTensors(const NamedText& file, OptimizerState asked) {
  TESSERA_TRY(const JsonValue root, ParseJson(file));
  TESSERA_TRY(const auto reader, ReaderOfTensorsFile(file, root));
  TensorsFile out;
  TESSERA_RETURN_IF_ERROR(reader.Optional("title", out.title));
  TESSERA_RETURN_IF_ERROR(reader.Optional("source", out.source));
  TESSERA_RETURN_IF_ERROR(reader.Optional("rules", out.rules));
  TESSERA_TRY(out.num_layers, reader.Integer("layers", 0, kMaxLayers));
  TESSERA_TRY(out.values, ReadValues(file, reader));
  TESSERA_TRY(const ParameterState state, ReadParameterState(reader, asked));
  TESSERA_TRY(const auto* list, reader.List("tensors"));
  for (const JsonValue& item : *list) {
    TESSERA_TRY(const ListedTensor tensor, ReadTensor(file, item, out));
    Append(tensor, state, out);
    if (out.tensors.size() > kMostTensors) {
      return reader.At(item, fmt::format("more than {} tensors", kMostTensors));
    }
  }
  return out;
}

}  // namespace tessera::ptc
