// SPDX-License-Identifier: Apache-2.0
/// \file
/// Text form of a layout. The printer writes the canonical form itself (the hash is taken of it);
/// the parser is the only place that sees nlohmann::json, and its exceptions end here.

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>

#include "ptc/layout.h"

namespace tessera::ptc {
namespace {

using Json = nlohmann::json;

void AppendQuoted(std::string& out, std::string_view text) {
  out += '"';
  for (char c : text) {  // control characters were refused by Collection::Make
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

void AppendTensor(std::string& out, const TensorSpec& spec) {
  const auto sink = std::back_inserter(out);
  fmt::format_to(sink, R"({{"dtype":"{}")", ToString(spec.dtype));
  if (spec.rule.flat) fmt::format_to(sink, R"(,"flat":"{}")", ToString(*spec.rule.flat));
  if (spec.place == StagePlace::kLayer) fmt::format_to(sink, R"(,"layer":{})", spec.layer);
  out += R"(,"name":)";
  AppendQuoted(out, spec.name);
  fmt::format_to(sink, R"(,"place":"{}","role":"{}","rule":[)", ToString(spec.place),
                 ToString(spec.role));
  for (std::size_t d = 0; d < spec.rule.dims.size(); ++d) {
    out += d == 0 ? "[" : ",[";
    for (std::size_t a = 0; a < spec.rule.dims[d].size(); ++a) {
      fmt::format_to(sink, R"({}"{}")", a == 0 ? "" : ",", ToString(spec.rule.dims[d][a]));
    }
    out += ']';
  }
  out += ']';
  if (spec.segments) {
    fmt::format_to(sink, R"(,"segments":{{"dim":{},"sizes":[{}]}})", spec.segments->dim,
                   fmt::join(spec.segments->sizes, ","));
  }
  fmt::format_to(sink, R"(,"shape":[{}])", fmt::join(spec.shape, ","));
  if (spec.rule.split != Split::kEven) {
    fmt::format_to(sink, R"(,"split":"{}")", ToString(spec.rule.split));
  }
  out += '}';
}

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
      return InvalidArgument(fmt::format("unknown key '{}'", item.key()));
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

Result<std::vector<std::int64_t>> IntegersField(const Json& object, const char* key) {
  TESSERA_TRY(const Json* value, Field(object, key));
  if (!value->is_array()) return InvalidArgument(fmt::format("key '{}' is not an array", key));
  std::vector<std::int64_t> numbers;
  for (const Json& item : *value) {
    TESSERA_TRY(const std::int64_t number, Integer(item, key));
    numbers.push_back(number);
  }
  return numbers;
}

Result<ShardRule> ParseRule(const Json& object) {
  TESSERA_TRY(const Json* dims, Field(object, "rule"));
  const auto bad = [] {
    return InvalidArgument("key 'rule' is not an array of arrays of axis names");
  };
  if (!dims->is_array()) return bad();
  ShardRule rule;
  for (const Json& dim : *dims) {
    if (!dim.is_array()) return bad();
    std::vector<Axis>& axes = rule.dims.emplace_back();
    for (const Json& name : dim) {
      if (!name.is_string()) return bad();
      TESSERA_TRY(const Axis axis, ParseAxis(name.get<std::string>()));
      axes.push_back(axis);
    }
  }
  if (object.contains("split")) {
    TESSERA_TRY(const std::string split, StringField(object, "split"));
    TESSERA_TRY(rule.split, ParseSplit(split));
  }
  if (object.contains("flat")) {
    TESSERA_TRY(const std::string flat, StringField(object, "flat"));
    TESSERA_TRY(rule.flat, ParseAxis(flat));
  }
  return rule;
}

Result<Segments> ParseSegments(const Json& object) {
  TESSERA_RETURN_IF_ERROR(CheckKeys(object, {"dim", "sizes"}));
  TESSERA_TRY(const std::int64_t dim, IntegerField(object, "dim"));
  if (dim < 0 || dim >= kMaxRank) {
    return InvalidArgument(fmt::format("dim {} is not in 0..{}", dim, kMaxRank - 1));
  }
  Segments segments;
  segments.dim = static_cast<int>(dim);
  TESSERA_TRY(segments.sizes, IntegersField(object, "sizes"));
  return segments;
}

Result<TensorSpec> ParseTensor(const Json& object) {
  TESSERA_RETURN_IF_ERROR(CheckKeys(object, {"dtype", "flat", "layer", "name", "place", "role",
                                             "rule", "segments", "shape", "split"}));
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
  if (const auto it = object.find("segments"); it != object.end()) {
    auto segments = ParseSegments(*it);
    if (!segments) return std::move(segments).Context("key 'segments'").error();
    spec.segments = std::move(*segments);
  }
  TESSERA_TRY(spec.rule, ParseRule(object));
  return spec;
}

Result<Layout> FromJson(const Json& root) {
  TESSERA_RETURN_IF_ERROR(CheckKeys(root, {"mesh", "num_layers", "tensors"}));
  TESSERA_TRY(const std::string mesh_text, StringField(root, "mesh"));
  TESSERA_TRY(DeviceMesh mesh, ParseDeviceMesh(mesh_text));
  TESSERA_TRY(const std::int64_t num_layers, IntegerField(root, "num_layers"));
  TESSERA_TRY(const Json* list, Field(root, "tensors"));
  if (!list->is_array()) return InvalidArgument("key 'tensors' is not an array");
  std::vector<TensorSpec> tensors;
  for (const Json& item : *list) {
    auto spec = ParseTensor(item);
    if (!spec) return std::move(spec).Context(fmt::format("tensors[{}]", tensors.size())).error();
    tensors.push_back(std::move(*spec));
  }
  TESSERA_TRY(CollectionPtr collection, Collection::Make(std::move(tensors), num_layers));
  return Layout::Make(std::move(mesh), std::move(collection));
}

}  // namespace

std::string ToJson(const Layout& layout) {
  std::string out = fmt::format(R"({{"mesh":"{}","num_layers":{},"tensors":[)",
                                ToString(layout.mesh()), layout.collection().num_layers());
  bool first = true;
  for (const TensorSpec& spec : layout.collection().tensors()) {
    if (!first) out += ',';
    first = false;
    AppendTensor(out, spec);
  }
  out += "]}";
  return out;
}

Result<Layout> ParseLayout(std::string_view json) {
  try {
    return FromJson(Json::parse(json.begin(), json.end())).Context("layout");
  } catch (const Json::parse_error& error) {
    return InvalidArgument(fmt::format("layout: not json at byte {}", error.byte));
  } catch (const Json::exception& error) {
    return InvalidArgument(fmt::format("layout: {}", error.what()));
  }
}

std::string Hex16(std::uint64_t value) { return fmt::format("{:016x}", value); }

Result<std::uint64_t> ParseHex16(std::string_view text) {
  std::uint64_t value = 0;
  bool valid = text.size() == 16;
  for (std::size_t i = 0; valid && i < text.size(); ++i) {
    const char c = text[i];
    const bool digit = c >= '0' && c <= '9';
    valid = digit || (c >= 'a' && c <= 'f');
    value = value << 4U | static_cast<std::uint64_t>(digit ? c - '0' : c - 'a' + 10);
  }
  if (!valid) return InvalidArgument(fmt::format("'{}' is not 16 lower-case hex digits", text));
  return value;
}

}  // namespace tessera::ptc
