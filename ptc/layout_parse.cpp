// SPDX-License-Identifier: Apache-2.0
/// \file
/// Reads the text of a layout: the only place that sees nlohmann::json as a tree, and its
/// exceptions end here.

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>

#include "ptc/base/utf8.h"
#include "ptc/layout.h"

namespace tessera::ptc {
namespace {

using Json = nlohmann::json;

/// The value of a required key.
Result<const Json*> Field(const Json& object, const char* key) {
  const auto it = object.find(key);
  if (it == object.end()) return InvalidArgument(fmt::format("key '{}' is missing", key));
  return &*it;
}

Status CheckKeys(const Json& object, std::initializer_list<std::string_view> known) {
  if (!object.is_object()) return InvalidArgument("not an object");
  for (const auto& item : object.items()) {
    if (std::find(known.begin(), known.end(), item.key()) == known.end()) {
      return InvalidArgument(fmt::format("unknown key '{}'", Escaped(item.key())));
    }
  }
  return OkStatus();
}

Result<std::string> StringField(const Json& object, const char* key) {
  TESSERA_TRY(const Json* value, Field(object, key));
  if (!value->is_string()) return InvalidArgument(fmt::format("key '{}' is not a string", key));
  return value->get<std::string>();
}

Result<std::int64_t> Integer(const Json& value, const char* key) {
  const bool fits =
      value.is_number_unsigned()
          ? value.get<std::uint64_t>() <= std::uint64_t{std::numeric_limits<std::int64_t>::max()}
          : value.is_number_integer();
  if (!fits) return InvalidArgument(fmt::format("key '{}' is not a 64-bit integer", key));
  return value.get<std::int64_t>();
}

Result<std::int64_t> IntegerField(const Json& object, const char* key) {
  TESSERA_TRY(const Json* value, Field(object, key));
  return Integer(*value, key);
}

Result<const Json*> ArrayField(const Json& object, const char* key) {
  TESSERA_TRY(const Json* value, Field(object, key));
  if (!value->is_array()) return InvalidArgument(fmt::format("key '{}' is not an array", key));
  return value;
}

Result<std::vector<std::int64_t>> IntegersField(const Json& object, const char* key) {
  TESSERA_TRY(const Json* value, ArrayField(object, key));
  std::vector<std::int64_t> numbers;
  for (const Json& item : *value) {
    TESSERA_TRY(const std::int64_t number, Integer(item, key));
    numbers.push_back(number);
  }
  return numbers;
}

Result<std::vector<Axis>> ParseAxes(const Json& list, const char* key) {
  std::vector<Axis> axes;
  for (const Json& name : list) {
    if (!name.is_string()) {
      return InvalidArgument(fmt::format("key '{}' is not an array of axis names", key));
    }
    TESSERA_TRY(const Axis axis, ParseAxis(name.get<std::string>()));
    axes.push_back(axis);
  }
  return axes;
}

Result<HeadGroups> ParseHeads(const Json& object) {
  TESSERA_RETURN_IF_ERROR(CheckKeys(object, {"kv", "of", "query"}));
  HeadGroups heads;
  TESSERA_TRY(heads.kv, IntegerField(object, "kv"));
  TESSERA_TRY(heads.query, IntegerField(object, "query"));
  TESSERA_TRY(const std::string of, StringField(object, "of"));
  if (of != "query" && of != "kv") {
    return InvalidArgument(fmt::format("heads of '{}', known are query, kv", Escaped(of)));
  }
  heads.of_query = of == "query";
  return heads;
}

/// A list of axes, which is split as `of_lists` says, or an object that says it itself.
Result<DimCut> ParseCut(const Json& value, Split of_lists, const char* key) {
  DimCut cut;
  if (value.is_array()) {
    cut.split = of_lists;
    TESSERA_TRY(cut.axes, ParseAxes(value, key));
    return cut;
  }
  if (!value.is_object()) {
    return InvalidArgument(
        fmt::format("key '{}' is not an array of cuts: arrays of axis names, or objects", key));
  }
  TESSERA_RETURN_IF_ERROR(CheckKeys(value, {"axes", "heads", "multiple", "split"}));
  TESSERA_TRY(const Json* axes, ArrayField(value, "axes"));
  TESSERA_TRY(cut.axes, ParseAxes(*axes, "axes"));
  if (value.contains("split")) {
    TESSERA_TRY(const std::string split, StringField(value, "split"));
    TESSERA_TRY(cut.split, ParseSplit(split));
  }
  if (value.contains("multiple")) {
    TESSERA_TRY(cut.multiple, IntegerField(value, "multiple"));
  }
  if (value.contains("heads")) {
    TESSERA_TRY(cut.heads, ParseHeads(value["heads"]));
  }
  return cut;
}

Result<ShardRule> ParseRule(const Json& object) {
  ShardRule rule;
  Split of_lists = Split::kEven;
  if (object.contains("split")) {
    TESSERA_TRY(const std::string split, StringField(object, "split"));
    TESSERA_TRY(of_lists, ParseSplit(split));
  }
  TESSERA_TRY(const Json* dims, ArrayField(object, "rule"));
  for (const Json& dim : *dims) {
    TESSERA_TRY(DimCut cut, ParseCut(dim, of_lists, "rule"));
    rule.dims.push_back(std::move(cut));
  }
  if (const auto flat = object.find("flat"); flat != object.end()) {
    if (flat->is_string()) {
      TESSERA_TRY(const Axis axis, ParseAxis(flat->get<std::string>()));
      rule.flat = {axis};
    } else {
      TESSERA_TRY(const Json* axes, ArrayField(object, "flat"));
      TESSERA_TRY(rule.flat, ParseAxes(*axes, "flat"));
    }
  }
  if (object.contains("bucket")) {
    TESSERA_TRY(rule.bucket, StringField(object, "bucket"));
  }
  return rule;
}

Result<Segments> ParseSegments(const Json& object) {
  TESSERA_RETURN_IF_ERROR(CheckKeys(object, {"cuts", "dim", "sizes"}));
  TESSERA_TRY(const std::int64_t dim, IntegerField(object, "dim"));
  if (dim < 0 || dim >= kMaxRank) {
    return InvalidArgument(fmt::format("dim {} is not in 0..{}", dim, kMaxRank - 1));
  }
  Segments segments;
  segments.dim = static_cast<int>(dim);
  TESSERA_TRY(const std::vector<std::int64_t> sizes, IntegersField(object, "sizes"));
  for (std::int64_t size : sizes) segments.blocks.push_back({size});
  if (!object.contains("cuts")) return segments;
  TESSERA_TRY(const Json* cuts, ArrayField(object, "cuts"));
  if (cuts->size() != sizes.size()) {
    return InvalidArgument(fmt::format("{} cuts for {} segments", cuts->size(), sizes.size()));
  }
  for (std::size_t s = 0; s < sizes.size(); ++s) {
    if ((*cuts)[s].is_null()) continue;
    TESSERA_TRY(segments.blocks[s].cut, ParseCut((*cuts)[s], Split::kEven, "cuts"));
  }
  return segments;
}

Result<ExpertIndex> ParseExpert(const Json& object) {
  TESSERA_RETURN_IF_ERROR(CheckKeys(object, {"count", "index"}));
  ExpertIndex expert;
  TESSERA_TRY(expert.index, IntegerField(object, "index"));
  TESSERA_TRY(expert.count, IntegerField(object, "count"));
  return expert;
}

Result<std::vector<std::string>> ParseAliases(const Json& object) {
  TESSERA_TRY(const Json* list, ArrayField(object, "aliases"));
  std::vector<std::string> aliases;
  for (const Json& name : *list) {
    if (!name.is_string()) return InvalidArgument("key 'aliases' is not an array of strings");
    aliases.push_back(name.get<std::string>());
  }
  return aliases;
}

Result<TensorSpec> ParseTensor(const Json& object) {
  TESSERA_RETURN_IF_ERROR(
      CheckKeys(object, {"aliases", "bucket", "dtype", "expert", "flat", "layer", "name", "place",
                         "role", "rule", "segments", "shape", "split"}));
  TensorSpec spec;
  TESSERA_TRY(spec.name, StringField(object, "name"));
  TESSERA_TRY(const std::string dtype, StringField(object, "dtype"));
  TESSERA_TRY(spec.dtype, ParseDType(dtype));
  TESSERA_TRY(spec.shape, IntegersField(object, "shape"));
  TESSERA_TRY(const std::string role, StringField(object, "role"));
  TESSERA_TRY(spec.role, ParseTensorRole(role));
  TESSERA_TRY(const std::string place, StringField(object, "place"));
  TESSERA_TRY(spec.place, ParseStagePlace(place));
  if (spec.place == StagePlace::kLayer) {
    TESSERA_TRY(spec.layer, IntegerField(object, "layer"));
  } else if (object.contains("layer")) {
    return InvalidArgument(fmt::format("key 'layer' does not go with place '{}'", place));
  }
  if (const auto it = object.find("expert"); it != object.end()) {
    auto expert = ParseExpert(*it);
    if (!expert) return std::move(expert).Context("key 'expert'").error();
    spec.expert = *expert;
  }
  if (const auto it = object.find("segments"); it != object.end()) {
    auto segments = ParseSegments(*it);
    if (!segments) return std::move(segments).Context("key 'segments'").error();
    spec.segments = std::move(*segments);
  }
  TESSERA_TRY(spec.rule, ParseRule(object));
  if (object.contains("aliases")) {
    TESSERA_TRY(spec.aliases, ParseAliases(object));
  }
  return spec;
}

Result<Layout> FromJson(const Json& root) {
  TESSERA_RETURN_IF_ERROR(CheckKeys(root, {"mesh", "num_layers", "stages", "tensors"}));
  TESSERA_TRY(const std::string mesh_text, StringField(root, "mesh"));
  TESSERA_TRY(DeviceMesh mesh, ParseDeviceMesh(mesh_text));
  TESSERA_TRY(const std::int64_t num_layers, IntegerField(root, "num_layers"));
  StageRule stages;
  if (root.contains("stages")) {
    TESSERA_TRY(const std::string text, StringField(root, "stages"));
    TESSERA_TRY(stages, ParseStageRule(text));
  }
  TESSERA_TRY(const Json* list, Field(root, "tensors"));
  if (!list->is_array()) return InvalidArgument("key 'tensors' is not an array");
  std::vector<TensorSpec> tensors;
  for (const Json& item : *list) {
    auto spec = ParseTensor(item);
    if (!spec) return std::move(spec).Context(fmt::format("tensors[{}]", tensors.size())).error();
    tensors.push_back(std::move(*spec));
  }
  TESSERA_TRY(CollectionPtr collection, Collection::Make(std::move(tensors), num_layers));
  return Layout::Make(std::move(mesh), std::move(collection), std::move(stages));
}

}  // namespace

Result<Layout> ParseLayout(std::string_view json) {
  try {
    return FromJson(Json::parse(json.begin(), json.end())).Context("layout");
  } catch (const Json::parse_error& error) {
    return InvalidArgument(fmt::format("layout: not json at byte {}", error.byte));
  } catch (const Json::exception& error) {
    return InvalidArgument(fmt::format("layout: {}", error.what()));
  }
}

}  // namespace tessera::ptc
