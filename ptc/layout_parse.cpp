// SPDX-License-Identifier: Apache-2.0
/// \file
/// Reads the text of a layout (FORMAT.md).

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "ptc/base/json_items.h"
#include "ptc/base/json_reader.h"
#include "ptc/base/utf8.h"
#include "ptc/layout.h"

namespace tessera::ptc {
namespace {

/// Programs write layouts as one line, so errors name a path and no line.
const NamedText kUnnamed;

Result<JsonReader> ReadObject(const JsonValue& value, std::string_view what,
                              std::initializer_list<std::string_view> keys) {
  return JsonReader::Make(kUnnamed, value, what, keys);
}

Result<std::vector<Axis>> ParseAxes(const JsonReader& reader, std::string_view key) {
  TESSERA_TRY(const std::vector<std::string> names, reader.Texts(key));
  std::vector<Axis> axes;
  for (const std::string& name : names) {
    TESSERA_TRY(const Axis axis, ParseAxis(name));
    axes.push_back(axis);
  }
  return axes;
}

Result<HeadGroups> ParseHeads(const JsonValue& value) {
  TESSERA_TRY(const JsonReader reader, ReadObject(value, "heads", {"kv", "of", "query"}));
  HeadGroups heads;
  TESSERA_TRY(heads.kv, reader.Integer("kv"));
  TESSERA_TRY(heads.query, reader.Integer("query"));
  TESSERA_TRY(const std::string of, reader.Text("of"));
  if (of != "query" && of != "kv") return reader.Expected(*reader.Find("of"), "query or kv");
  heads.of_query = of == "query";
  return heads;
}

/// A list of axes, which is split by `of_lists`, or an object that names its split.
Result<DimCut> ParseCut(const JsonValue& value, Split of_lists) {
  DimCut cut;
  if (value.kind == JsonValue::Kind::kList) {
    cut.split = of_lists;
    for (const JsonValue& name : value.items) {
      if (name.kind != JsonValue::Kind::kText) {
        return InvalidArgument(fmt::format("expected the name of an axis, not {}", Describe(name)));
      }
      TESSERA_TRY(const Axis axis, ParseAxis(name.text));
      cut.axes.push_back(axis);
    }
    return cut;
  }
  if (value.kind != JsonValue::Kind::kObject) {
    return InvalidArgument(fmt::format(
        "expected a cut, which is a list of axes or an object, not {}", Describe(value)));
  }
  TESSERA_TRY(const JsonReader reader,
              ReadObject(value, "a cut", {"axes", "heads", "multiple", "split"}));
  TESSERA_TRY(cut.axes, ParseAxes(reader, "axes"));
  if (reader.Find("split") != nullptr) {
    TESSERA_TRY(const std::string split, reader.Text("split"));
    TESSERA_TRY(cut.split, ParseSplit(split));
  }
  TESSERA_RETURN_IF_ERROR(reader.Optional("multiple", cut.multiple));
  if (const JsonValue* heads = reader.Find("heads")) {
    TESSERA_TRY(cut.heads, ParseHeads(*heads));
  }
  return cut;
}

Result<ShardRule> ParseRule(const JsonReader& tensor) {
  ShardRule rule;
  Split of_lists = Split::kEven;
  if (tensor.Find("split") != nullptr) {
    TESSERA_TRY(const std::string split, tensor.Text("split"));
    TESSERA_TRY(of_lists, ParseSplit(split));
  }
  TESSERA_TRY(const auto* dims, tensor.List("rule"));
  for (const JsonValue& dim : *dims) {
    TESSERA_TRY(DimCut cut, ParseCut(dim, of_lists).Context("key 'rule'"));
    rule.dims.push_back(std::move(cut));
  }
  if (const JsonValue* flat = tensor.Find("flat"); flat == nullptr) {
    // Not flat.
  } else if (flat->kind == JsonValue::Kind::kText) {
    TESSERA_TRY(const Axis axis, ParseAxis(flat->text));
    rule.flat = {axis};
  } else {
    TESSERA_TRY(rule.flat, ParseAxes(tensor, "flat"));
  }
  TESSERA_RETURN_IF_ERROR(tensor.Optional("bucket", rule.bucket));
  return rule;
}

Result<Segments> ParseSegments(const JsonValue& value) {
  TESSERA_TRY(const JsonReader reader, ReadObject(value, "segments", {"cuts", "dim", "sizes"}));
  Segments segments;
  TESSERA_TRY(const std::int64_t dim, reader.Integer("dim", 0, kMaxRank - 1));
  segments.dim = static_cast<int>(dim);
  TESSERA_TRY(const std::vector<std::int64_t> sizes, reader.Integers("sizes"));
  for (std::int64_t size : sizes) segments.blocks.push_back({size});
  if (reader.Find("cuts") == nullptr) return segments;
  TESSERA_TRY(const auto* cuts, reader.List("cuts"));
  if (cuts->size() != sizes.size()) {
    return InvalidArgument(fmt::format("{} cuts for {} segments", cuts->size(), sizes.size()));
  }
  for (std::size_t s = 0; s < sizes.size(); ++s) {
    if ((*cuts)[s].kind == JsonValue::Kind::kNull) continue;
    TESSERA_TRY(segments.blocks[s].cut, ParseCut((*cuts)[s], Split::kEven).Context("key 'cuts'"));
  }
  return segments;
}

Result<ExpertIndex> ParseExpert(const JsonValue& value) {
  TESSERA_TRY(const JsonReader reader, ReadObject(value, "an expert", {"count", "index"}));
  ExpertIndex expert;
  TESSERA_TRY(expert.index, reader.Integer("index"));
  TESSERA_TRY(expert.count, reader.Integer("count"));
  return expert;
}

Result<TensorSpec> ParseTensor(const JsonValue& value) {
  TESSERA_TRY(const JsonReader reader,
              ReadObject(value, "a tensor",
                         {"aliases", "bucket", "dtype", "expert", "flat", "layer", "name", "place",
                          "role", "rule", "segments", "shape", "split"}));
  TensorSpec spec;
  TESSERA_TRY(spec.name, reader.Text("name"));
  TESSERA_TRY(const std::string dtype, reader.Text("dtype"));
  TESSERA_TRY(spec.dtype, ParseDType(dtype));
  TESSERA_TRY(spec.shape, reader.Integers("shape"));
  TESSERA_TRY(const std::string role, reader.Text("role"));
  TESSERA_TRY(spec.role, ParseTensorRole(role));
  TESSERA_TRY(const std::string place, reader.Text("place"));
  TESSERA_TRY(spec.place, ParseStagePlace(place));
  if (spec.place == StagePlace::kLayer) {
    TESSERA_TRY(spec.layer, reader.Integer("layer"));
  } else if (reader.Find("layer") != nullptr) {
    return InvalidArgument(fmt::format("key 'layer' cannot be combined with place '{}'", place));
  }
  if (const JsonValue* expert = reader.Find("expert")) {
    TESSERA_TRY(spec.expert, ParseExpert(*expert).Context("key 'expert'"));
  }
  if (const JsonValue* segments = reader.Find("segments")) {
    TESSERA_TRY(spec.segments, ParseSegments(*segments).Context("key 'segments'"));
  }
  TESSERA_TRY(spec.rule, ParseRule(reader));
  TESSERA_RETURN_IF_ERROR(reader.Optional("aliases", spec.aliases));
  return spec;
}

Result<Layout> ParseRoot(std::string_view text) {
  // The tree of all tensors would be far larger than the tensors. Errors are reported in the order
  // of the steps below.
  std::vector<TensorSpec> tensors;
  std::optional<Error> refused;
  const auto take = [&](const JsonValue& item) {
    if (refused) return;
    if (auto spec = ParseTensor(item)) {
      tensors.push_back(std::move(*spec));
    } else {
      refused = std::move(spec).Context(fmt::format("tensors[{}]", tensors.size())).error();
    }
  };
  TESSERA_TRY(const JsonValue root, ParseJsonItems({{}, std::string(text)}, {"tensors", take}));
  TESSERA_TRY(const JsonReader reader,
              ReadObject(root, "a layout", {"mesh", "num_layers", "stages", "tensors"}));
  TESSERA_TRY(const std::string mesh_text, reader.Text("mesh"));
  TESSERA_TRY(DeviceMesh mesh, ParseDeviceMesh(mesh_text));
  TESSERA_TRY(const std::int64_t num_layers, reader.Integer("num_layers"));
  StageRule stages;
  if (reader.Find("stages") != nullptr) {
    TESSERA_TRY(const std::string rule, reader.Text("stages"));
    TESSERA_TRY(stages, ParseStageRule(rule));
  }
  TESSERA_RETURN_IF_ERROR(reader.List("tensors"));
  if (refused) return *refused;
  TESSERA_TRY(CollectionPtr collection, Collection::Make(std::move(tensors), num_layers));
  return Layout::Make(std::move(mesh), std::move(collection), std::move(stages));
}

}  // namespace

Result<Layout> ParseLayout(std::string_view json) { return ParseRoot(json).Context("layout"); }

}  // namespace tessera::ptc
