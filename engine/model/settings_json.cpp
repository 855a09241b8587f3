// SPDX-License-Identifier: Apache-2.0

/// \file
/// Job settings as JSON. Every key must be known and every value inside its limits; keys left out
/// keep their defaults.

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/model/gpt.h"

namespace tessera::engine {
namespace {

using nlohmann::json;

constexpr std::int64_t kMaxCount = std::int64_t{1} << 40;

/// Reads the members of one JSON object; keeps the first error.
class ObjectReader {
 public:
  ObjectReader(const json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object_.is_object()) Fail(fmt::format("{}: not a JSON object", where_));
  }

  void Integer(const char* key, std::int64_t low, std::int64_t high, std::int64_t* out) {
    const json* value = Find(key);
    if (value == nullptr) return;
    const bool is_integer =
        value->is_number_integer() &&
        (!value->is_number_unsigned() ||
         value->get<std::uint64_t>() <=
             static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
    if (!is_integer || value->get<std::int64_t>() < low || value->get<std::int64_t>() > high) {
      return Fail(fmt::format("{}: '{}' = {} is not an integer from {} to {}", where_, key,
                              value->dump(), low, high));
    }
    *out = value->get<std::int64_t>();
  }

  void Real(const char* key, double low, double high, double* out) {
    const json* value = Find(key);
    if (value == nullptr) return;
    if (!value->is_number() || !(value->get<double>() >= low && value->get<double>() <= high)) {
      return Fail(fmt::format("{}: '{}' = {} is not a number from {} to {}", where_, key,
                              value->dump(), low, high));
    }
    *out = value->get<double>();
  }

  void String(const char* key, std::string* out) {
    const json* value = Find(key);
    if (value == nullptr) return;
    if (!value->is_string()) {
      return Fail(fmt::format("{}: '{}' = {} is not a string", where_, key, value->dump()));
    }
    *out = value->get<std::string>();
  }

  void Strings(const char* key, std::vector<std::string>* out) {
    const json* value = Find(key);
    if (value == nullptr) return;
    if (!value->is_array()) {
      return Fail(fmt::format("{}: '{}' is not a list of strings", where_, key));
    }
    out->clear();
    for (const json& entry : *value) {
      if (!entry.is_string()) {
        return Fail(fmt::format("{}: '{}' is not a list of strings", where_, key));
      }
      out->push_back(entry.get<std::string>());
    }
  }

  /// The member, which then counts as known; nullptr if it is absent.
  const json* Find(const char* key) {
    known_.insert(key);
    if (!object_.is_object()) return nullptr;
    const auto it = object_.find(key);
    return it == object_.end() ? nullptr : &*it;
  }

  void Fail(std::string message) {
    if (status_) status_ = InvalidArgument(std::move(message));
  }

  /// The first error, else the first key that nobody asked for.
  Status Finish() {
    if (!status_) return status_;
    for (const auto& item : object_.items()) {
      if (!known_.contains(item.key())) {
        return InvalidArgument(fmt::format("{}: unknown key '{}'", where_, item.key()));
      }
    }
    return OkStatus();
  }

 private:
  const json& object_;
  std::string where_;
  std::set<std::string> known_;
  Status status_;
};

Result<GptConfig> ParseModel(const json& value) {
  GptConfig model;
  ObjectReader reader(value, "model");
  reader.String("name", &model.name);
  reader.Integer("layers", 1, 4096, &model.layers);
  reader.Integer("width", 1, 1 << 20, &model.width);
  reader.Integer("heads", 1, 1 << 20, &model.heads);
  reader.Integer("ffn", 1, 1 << 22, &model.ffn);
  reader.Integer("vocab", 256, 1 << 22, &model.vocab);
  reader.Integer("sequence", 1, 1 << 22, &model.sequence);
  TESSERA_RETURN_IF_ERROR(reader.Finish());
  if (model.name.empty()) return InvalidArgument("model has no 'name'");
  const std::pair<const char*, std::int64_t> required[] = {{"layers", model.layers},
                                                           {"width", model.width},
                                                           {"heads", model.heads},
                                                           {"ffn", model.ffn},
                                                           {"sequence", model.sequence}};
  for (const auto& [key, size] : required) {
    if (size == 0) return InvalidArgument(fmt::format("model '{}' has no '{}'", model.name, key));
  }
  if (model.width % model.heads != 0) {
    return InvalidArgument(fmt::format("model '{}': width {} is not divisible by its {} heads",
                                       model.name, model.width, model.heads));
  }
  return model;
}

}  // namespace

std::string ToJson(const JobSettings& settings) {
  const GptConfig& m = settings.model;
  const json out = {{"model",
                     {{"name", m.name},
                      {"layers", m.layers},
                      {"width", m.width},
                      {"heads", m.heads},
                      {"ffn", m.ffn},
                      {"vocab", m.vocab},
                      {"sequence", m.sequence}}},
                    {"global_batch", settings.global_batch},
                    {"seed", settings.seed},
                    {"max_steps", settings.max_steps},
                    {"cosine_steps", settings.cosine_steps},
                    {"warmup_steps", settings.warmup_steps},
                    {"learning_rate", settings.learning_rate},
                    {"min_learning_rate", settings.min_learning_rate},
                    {"weight_decay", settings.weight_decay},
                    {"beta1", settings.beta1},
                    {"beta2", settings.beta2},
                    {"epsilon", settings.epsilon},
                    {"max_norm", settings.max_norm},
                    {"data", settings.data}};
  // A path may hold bytes that are not UTF-8; they are replaced, never thrown at.
  return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<JobSettings> ParseJobSettings(std::string_view text) {
  const json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) return InvalidArgument("job settings are not JSON");
  JobSettings settings;
  ObjectReader reader(value, "job settings");
  if (const json* model = reader.Find("model")) {
    TESSERA_TRY(settings.model, ParseModel(*model));
  } else {
    reader.Fail("job settings have no 'model'");
  }
  reader.Integer("global_batch", 1, kMaxCount, &settings.global_batch);
  reader.Integer("seed", std::numeric_limits<std::int64_t>::min(),
                 std::numeric_limits<std::int64_t>::max(), &settings.seed);
  reader.Integer("max_steps", 0, kMaxCount, &settings.max_steps);
  reader.Integer("cosine_steps", 1, kMaxCount, &settings.cosine_steps);
  reader.Integer("warmup_steps", 0, kMaxCount, &settings.warmup_steps);
  reader.Real("learning_rate", 0, 1e6, &settings.learning_rate);
  reader.Real("min_learning_rate", 0, 1e6, &settings.min_learning_rate);
  reader.Real("weight_decay", 0, 1e6, &settings.weight_decay);
  reader.Real("beta1", 0, 0.999999, &settings.beta1);
  reader.Real("beta2", 0, 0.999999999, &settings.beta2);
  reader.Real("epsilon", 1e-30, 1, &settings.epsilon);
  reader.Real("max_norm", 0, 1e30, &settings.max_norm);
  reader.Strings("data", &settings.data);
  TESSERA_RETURN_IF_ERROR(reader.Finish());
  for (const std::string& path : settings.data) {
    if (!path.starts_with('/')) {
      return InvalidArgument(fmt::format("data path '{}' is not absolute", path));
    }
  }
  return settings;
}

}  // namespace tessera::engine
