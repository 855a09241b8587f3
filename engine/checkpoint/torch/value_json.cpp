// SPDX-License-Identifier: Apache-2.0
#include "engine/checkpoint/torch/value_json.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

namespace tessera::checkpoint {
namespace {

using Json = nlohmann::json;
using Kind = Pickle::Kind;
using Value = Pickle::Value;

constexpr std::size_t kMaxShownText = 4096;
constexpr std::int64_t kBytesPerVisit = 16;

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

class JsonWalk {
 public:
  Result<Json> Convert(Value value, int depth);

 private:
  Result<Json> ConvertItems(Value value, std::size_t first, int depth);
  Result<Json> ConvertDict(Value value, int depth);
  Result<Json> ConvertObject(Value value, int depth);
  Result<Json> ConvertText(Value value);
  Status Visit(Value value, int depth, std::int64_t cost = 1);

  std::int64_t left_ = WalkLimits::kShown;
};

Status JsonWalk::Visit(Value value, int depth, std::int64_t cost) {
  if (depth > WalkLimits::kDepth) {
    return value.At(fmt::format("values nest deeper than {}", WalkLimits::kDepth));
  }
  left_ -= cost;
  if (left_ < 0) return value.At(fmt::format("more than {} values to show", WalkLimits::kShown));
  return OkStatus();
}

Result<Json> JsonWalk::ConvertItems(Value value, std::size_t first, int depth) {
  Json list = Json::array();
  for (std::size_t i = first; i < value.size(); ++i) {
    TESSERA_TRY(Json item, Convert(value[i], depth + 1));
    list.push_back(std::move(item));
  }
  return list;
}

Result<Json> JsonWalk::ConvertDict(Value value, int depth) {
  Json object = Json::object();
  for (std::size_t i = 0; i + 1 < value.size(); i += 2) {
    TESSERA_TRY(const Json key, Convert(value[i], depth + 1));
    TESSERA_TRY(Json item, Convert(value[i + 1], depth + 1));
    object[key.is_string() ? key.get<std::string>() : Dump(key)] = std::move(item);
  }
  return object;
}

Result<Json> JsonWalk::ConvertObject(Value value, int depth) {
  const KnownGlobal& what = value[0].global();
  const Value arguments = value.arguments();
  if (what.id == Global::kNamespace && value.state()) return Convert(*value.state(), depth + 1);
  if (what.id == Global::kEnum && arguments.size() == 1) return Convert(arguments[0], depth + 1);
  if (what.id == Global::kAttribute && arguments.size() == 2)
    return Convert(arguments[1], depth + 1);
  if (what.id == Global::kUnknown) {
    return Json{{"object", fmt::format("{}.{}", what.module, what.name)}};
  }
  TESSERA_TRY(Json list, ConvertItems(arguments, 0, depth + 1));
  if (what.id == Global::kPath) {
    std::string path;
    for (const Json& part : list) {
      if (!path.empty() && path.back() != '/') path += '/';
      path += part.is_string() ? part.get<std::string>() : Dump(part);
    }
    return Json(std::move(path));
  }
  if (what.id == Global::kSize && list.size() == 1) return std::move(list[0]);
  Json object = {{"object", fmt::format("{}.{}", what.module, what.name)},
                 {"arguments", std::move(list)}};
  if (value.state()) {
    TESSERA_TRY(object["state"], Convert(*value.state(), depth + 1));
  }
  return object;
}

/// Truncates long text, because one text may occur in many places.
Result<Json> JsonWalk::ConvertText(Value value) {
  std::string text(value.text().substr(0, kMaxShownText));
  if (text.size() < value.text().size()) text += "…";
  TESSERA_RETURN_IF_ERROR(Visit(value, 0, static_cast<std::int64_t>(text.size()) / kBytesPerVisit));
  return Json(std::move(text));
}

Result<Json> JsonWalk::Convert(Value value, int depth) {
  TESSERA_RETURN_IF_ERROR(Visit(value, depth));
  switch (value.kind()) {
    case Kind::kNone:
      return Json(nullptr);
    case Kind::kBool:
      return Json(value.integer() != 0);
    case Kind::kInteger:
      return Json(value.integer());
    case Kind::kFloat:
      if (!std::isfinite(value.number())) return Json(fmt::format("{}", value.number()));
      return Json(value.number());
    case Kind::kText:
      return ConvertText(value);
    case Kind::kBytes:
    case Kind::kBigInteger:
      return Json{{"bytes", value.text().size()}};
    case Kind::kTuple:
    case Kind::kList:
    case Kind::kSet:
      return ConvertItems(value, 0, depth);
    case Kind::kDict:
      return ConvertDict(value, depth);
    case Kind::kGlobal:
      return Json(fmt::format("{}.{}", value.global().module, value.global().name));
    case Kind::kObject:
      return ConvertObject(value, depth);
    case Kind::kPersistent:
      return ConvertItems(value, 0, depth);
  }
  return Json(nullptr);
}

}  // namespace

Result<std::string> ToJson(Value value) {
  JsonWalk walk;
  TESSERA_TRY(const Json json, walk.Convert(value, 0));
  return Dump(json);
}

}  // namespace tessera::checkpoint
