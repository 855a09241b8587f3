// SPDX-License-Identifier: Apache-2.0

/// \file
/// Job settings as JSON. Every key must be known and every value inside its limits; keys left out
/// keep their defaults.

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/data/formats/open_data.h"
#include "engine/model/gpt.h"

namespace tessera::engine {
namespace {

using nlohmann::json;

constexpr std::int64_t kMaxCount = std::int64_t{1} << 40;
constexpr std::int64_t kMaxDeviceBatch = std::int64_t{1} << 20;

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

  void Bool(const char* key, bool* out) {
    const json* value = Find(key);
    if (value == nullptr) return;
    if (!value->is_boolean()) {
      return Fail(fmt::format("{}: '{}' = {} is neither true nor false", where_, key,
                              value->dump(-1, ' ', false, json::error_handler_t::replace)));
    }
    *out = value->get<bool>();
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
  reader.Integer("kv_heads", 0, 1 << 20, &model.kv_heads);
  reader.Bool("gated_mlp", &model.gated_mlp);
  reader.Bool("tied_head", &model.tied_head);
  std::string gelu(ToString(model.gelu));
  reader.String("gelu", &gelu);
  TESSERA_RETURN_IF_ERROR(reader.Finish());
  TESSERA_TRY(model.gelu, ParseGelu(gelu));
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
  if (model.heads % model.num_kv_heads() != 0) {
    return InvalidArgument(
        fmt::format("model '{}': its {} heads are not divisible by {} key and value heads",
                    model.name, model.heads, model.num_kv_heads()));
  }
  return model;
}

json ToJsonObject(const GptConfig& m) {
  return {{"name", m.name},
          {"layers", m.layers},
          {"width", m.width},
          {"heads", m.heads},
          {"ffn", m.ffn},
          {"vocab", m.vocab},
          {"sequence", m.sequence},
          {"kv_heads", m.kv_heads},
          {"gated_mlp", m.gated_mlp},
          {"tied_head", m.tied_head},
          {"gelu", ToString(m.gelu)}};
}

json ToJsonObject(const ptc::NamedText& file) { return {{"name", file.name}, {"text", file.text}}; }

json ToJsonObject(const JobSettings& settings) {
  json out = {{"global_batch", settings.global_batch},
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
              {"precision", ToString(settings.precision)},
              {"dropout", settings.dropout},
              {"at_change", ToString(settings.at_change)},
              {"data", settings.data}};
  if (settings.device_batch > 0) out["device_batch"] = settings.device_batch;
  if (settings.program) {
    out["program"] = {{"command", settings.program->command},
                      {"tensors", ToJsonObject(settings.program->tensors)},
                      {"rules", ToJsonObject(settings.program->rules)}};
  } else {
    out["model"] = ToJsonObject(settings.model);
  }
  return out;
}

Result<ptc::NamedText> ParseNamedText(const json& value, const char* what) {
  ptc::NamedText file;
  ObjectReader reader(value, what);
  reader.String("name", &file.name);
  reader.String("text", &file.text);
  TESSERA_RETURN_IF_ERROR(reader.Finish());
  return file;
}

Result<OwnProgram> ParseProgram(const json& value) {
  OwnProgram program;
  ObjectReader reader(value, "program");
  reader.String("command", &program.command);
  for (const auto& [key, file] :
       {std::pair{"tensors", &program.tensors}, {"rules", &program.rules}}) {
    if (const json* text = reader.Find(key)) {
      TESSERA_TRY(*file, ParseNamedText(*text, key));
    } else {
      reader.Fail(fmt::format("program has no '{}'", key));
    }
  }
  if (program.command.empty()) reader.Fail("program has no 'command'");
  TESSERA_RETURN_IF_ERROR(reader.Finish());
  return program;
}

Result<JobSettings> ParseSettings(const json& value) {
  JobSettings settings;
  ObjectReader reader(value, "job settings");
  const json* const model = reader.Find("model");
  const json* const program = reader.Find("program");
  if (program != nullptr && model != nullptr) {
    reader.Fail("job settings have both a 'model' and a 'program'");
  } else if (program != nullptr) {
    TESSERA_TRY(settings.program, ParseProgram(*program));
  } else if (model != nullptr) {
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
  reader.Real("dropout", 0, 0.95, &settings.dropout);
  std::string at_change(ToString(settings.at_change));
  reader.String("at_change", &at_change);
  reader.Integer("device_batch", 0, kMaxDeviceBatch, &settings.device_batch);
  std::string precision(ToString(settings.precision));
  reader.String("precision", &precision);
  reader.Strings("data", &settings.data);
  TESSERA_RETURN_IF_ERROR(reader.Finish());
  TESSERA_TRY(settings.precision, ParsePrecision(precision));
  TESSERA_TRY(settings.at_change, ParseAtChange(at_change));
  if (settings.program && settings.at_change != AtChange::kKeep) {
    return InvalidArgument(fmt::format(
        "at_change '{}' is for the built-in models: a program reads its data itself", at_change));
  }
  for (const std::string& given : settings.data) {
    TESSERA_TRY(const WeightedPath data, ParseWeightedPath(given));
    const bool is_url = data.path.find("://") != std::string::npos;
    if (!data.path.starts_with('/') && !is_url) {
      return InvalidArgument(fmt::format("data path '{}' is not absolute", data.path));
    }
  }
  return settings;
}

/// Members that are chosen by flags of their own, or are no single value.
bool IsSetting(const std::string& key, const json& value) {
  return !value.is_structured() && key != "name" && key != "seed" && key != "max_steps" &&
         key != "global_batch" && key != "device_batch";
}

/// The object that holds setting `name`: the job's or its model's; nullptr if neither does.
json* OwnerOf(json& settings, const std::string& name) {
  for (json* object : {&settings, settings.contains("model") ? &settings["model"] : nullptr}) {
    if (object != nullptr && object->contains(name) && IsSetting(name, (*object)[name])) {
      return object;
    }
  }
  return nullptr;
}

}  // namespace

std::string ToJson(const JobSettings& settings) {
  // A path may hold bytes that are not UTF-8; they are replaced, never thrown at.
  return ToJsonObject(settings).dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<JobSettings> ParseJobSettings(std::string_view text) {
  const json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) return InvalidArgument("job settings are not JSON");
  return ParseSettings(value);
}

std::vector<std::string> SettingNames(const JobSettings& settings) {
  const json all = ToJsonObject(settings);
  std::vector<std::string> names;
  for (const json* object : {&all, all.contains("model") ? &all["model"] : nullptr}) {
    if (object == nullptr) continue;
    for (const auto& [key, value] : object->items()) {
      if (IsSetting(key, value)) {
        names.push_back(key + "=" + (value.is_string() ? value.get<std::string>() : value.dump()));
      }
    }
  }
  return names;
}

Status ApplySetting(JobSettings& settings, std::string_view name, std::string_view value) {
  json all = ToJsonObject(settings);
  const std::string key(name);
  json* const owner = OwnerOf(all, key);
  if (owner == nullptr) {
    return InvalidArgument(fmt::format("there is no setting '{}'; there are {}", name,
                                       fmt::join(SettingNames(settings), ", ")));
  }
  json& member = (*owner)[key];
  if (member.is_string()) {
    member = value;
  } else {
    // Anything but a number or a boolean is kept as text, which the reader then refuses by name.
    member = json::parse(value, nullptr, /*allow_exceptions=*/false);
    if (!member.is_number() && !member.is_boolean()) member = value;
  }
  TESSERA_TRY(settings, ParseSettings(all));
  return OkStatus();
}

}  // namespace tessera::engine
