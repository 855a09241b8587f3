// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "ptc/rules/json_text.h"
#include "ptc/rules/rules_files.h"

namespace tessera::ptc {
namespace {

/// More than any model has; a file that means more is a mistake.
constexpr std::int64_t kMostLayers = 65536;
constexpr std::size_t kMostTensors = 1'000'000;

std::string ReplaceAll(std::string text, std::string_view what, std::string_view by) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

/// State that the file asks for beside each parameter.
struct ParameterState {
  bool masters = false;
  std::vector<TensorRole> moments;
};

Result<ParameterState> ReadParameterState(const ObjectReader& file) {
  ParameterState state;
  if (file.Find("optimizer") != nullptr) {
    TESSERA_TRY(const std::string optimizer, file.Text("optimizer"));
    if (optimizer != "adamw") return file.Expected(*file.Find("optimizer"), "'adamw'");
    state.moments = {TensorRole::kExpAvg, TensorRole::kExpAvgSq};
  }
  if (const JsonValue* masters = file.Find("masters")) {
    if (masters->kind != JsonValue::Kind::kBool) return file.Expected(*masters, "true or false");
    state.masters = masters->integer != 0;
  }
  return state;
}

Result<Segments> ReadSegments(const NamedText& file, const JsonValue& value) {
  TESSERA_TRY(const auto reader, ObjectReader::Make(file, value, "segments", {"dim", "sizes"}));
  TESSERA_TRY(const std::int64_t dim, reader.Integer("dim"));
  if (dim < 0 || dim >= kMaxRank) {
    return reader.Expected(*reader.Find("dim"), fmt::format("a dim in 0..{}", kMaxRank - 1));
  }
  Segments segments;
  segments.dim = static_cast<int>(dim);
  TESSERA_TRY(segments.sizes, reader.Integers("sizes"));
  return segments;
}

Result<ListedTensor> ReadTensor(const NamedText& file, const JsonValue& value) {
  TESSERA_TRY(const auto reader,
              ObjectReader::Make(file, value, "a tensor",
                                 {"name", "dtype", "shape", "role", "layer", "segments"}));
  ListedTensor tensor;
  tensor.line = value.line;
  TESSERA_TRY(tensor.spec.name, reader.Text("name"));
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  if (std::any_of(tensor.spec.name.begin(), tensor.spec.name.end(), is_control)) {
    TESSERA_TRY(const JsonValue* name, reader.Member("name"));
    return reader.Expected(*name, "text without control characters");
  }
  TESSERA_TRY(const JsonValue* dtype, reader.Member("dtype"));
  const auto known_dtype = ParseDType(dtype->text);
  if (!known_dtype) return reader.Expected(*dtype, "a dtype such as f32, bf16 or i64");
  tensor.spec.dtype = *known_dtype;
  TESSERA_TRY(tensor.spec.shape, reader.Integers("shape"));
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
    TESSERA_TRY(tensor.spec.segments, ReadSegments(file, *segments));
  }
  return tensor;
}

/// The tensor and the optimizer state of it, or of the tensors that its `{layer}` stands for.
void Append(const ListedTensor& tensor, const ParameterState& state, TensorsFile& out) {
  if (tensor.spec.name.find(kLayerMark) != std::string::npos) {
    for (std::int64_t layer = 0; layer < out.num_layers; ++layer) {
      ListedTensor one = tensor;
      one.spec.name = ReplaceAll(tensor.spec.name, kLayerMark, fmt::format("{}", layer));
      one.layer = layer;
      Append(one, state, out);
      if (out.tensors.size() > kMostTensors) return;
    }
    return;
  }
  out.tensors.push_back(tensor);
  if (tensor.spec.role != TensorRole::kParam) return;
  const auto add = [&](TensorRole role) {
    ListedTensor beside = tensor;
    beside.spec.name += fmt::format(".{}", ToString(role));
    beside.spec.role = role;
    beside.spec.dtype = DType::kF32;
    out.tensors.push_back(std::move(beside));
  };
  if (state.masters && tensor.spec.dtype != DType::kF32) add(TensorRole::kMaster);
  for (TensorRole role : state.moments) add(role);
}

}  // namespace

Result<TensorsFile> ReadTensors(const NamedText& file) {
  TESSERA_TRY(const JsonValue root, ParseJsonText(file));
  TESSERA_TRY(const auto reader, ObjectReader::Make(file, root, "the tensors file",
                                                    {"layers", "optimizer", "masters", "tensors"}));
  TensorsFile out;
  TESSERA_TRY(out.num_layers, reader.Integer("layers"));
  if (out.num_layers < 0 || out.num_layers > kMostLayers) {
    return reader.Expected(*reader.Find("layers"), fmt::format("a number in 0..{}", kMostLayers));
  }
  TESSERA_TRY(const ParameterState state, ReadParameterState(reader));
  TESSERA_TRY(const auto* list, reader.List("tensors"));
  for (const JsonValue& item : *list) {
    TESSERA_TRY(const ListedTensor tensor, ReadTensor(file, item));
    if (tensor.layer && tensor.spec.name.find(kLayerMark) != std::string::npos) {
      return reader.At(*item.Find("layer"),
                       fmt::format("'layer' does not go with {} in the name", kLayerMark));
    }
    Append(tensor, state, out);
    if (out.tensors.size() > kMostTensors) {
      return reader.At(item, fmt::format("more than {} tensors", kMostTensors));
    }
  }
  return out;
}

}  // namespace tessera::ptc
