// SPDX-License-Identifier: Apache-2.0

/// \file
/// Job settings as JSON. Every key must be known and every value inside its limits. A missing key
/// leaves its default.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "engine/data/formats/open_data.h"
#include "engine/data/is_url.h"
#include "engine/model/gpt.h"
#include "engine/model/shown_settings.h"
#include "ptc/base/json_reader.h"

namespace tessera::engine {
namespace {

using nlohmann::json;

constexpr std::int64_t kMaxCount = std::int64_t{1} << 40;

/// The least and the largest value of a number. Counts are below 2^53, so that they are exact.
struct Limits {
  std::string_view key;
  double least = 0, most = 0;
};
constexpr auto kMost = static_cast<double>(kMaxCount);
constexpr Limits kLimits[] = {
    // of a model
    {"layers", 1, 4096},
    {"width", 1, 1 << 20},
    {"heads", 1, 1 << 20},
    {"ffn", 1, 1 << 22},
    {"sequence", 1, 1 << 22},
    {"vocab", 256, 1 << 22},
    {"kv_heads", 0, 1 << 20},
    // of a job
    {"global_batch", 1, kMost},
    {"max_steps", 0, kMost},
    {"cosine_steps", 1, kMost},
    {"warmup_steps", 0, kMost},
    {"learning_rate", 0, 1e6},
    {"min_learning_rate", 0, 1e6},
    {"weight_decay", 0, 1e6},
    {"beta1", 0, 0.999999},
    {"beta2", 0, 0.999999999},
    {"epsilon", 1e-30, 1},
    {"max_norm", 0, 1e30},
    {"dropout", 0, 0.95},
    {"device_batch", 0, 1 << 20},
    {"collective_timeout", 0, 86400},
};

const Limits* FindLimits(std::string_view key) {
  const auto* const found = std::ranges::find(kLimits, key, &Limits::key);
  return found == std::end(kLimits) ? nullptr : found;
}

/// Reads a number within its limits; `out` stays if it is missing.
/// \pre FindLimits(key)
template <typename Number>
Status ReadLimited(const JsonReader& reader, std::string_view key, Number& out) {
  const Limits& limits = *FindLimits(key);
  return reader.Optional(key, out, static_cast<Number>(limits.least),
                         static_cast<Number>(limits.most));
}

/// The same for a number of which there is no default.
Result<std::int64_t> NeedLimited(const JsonReader& reader, std::string_view key) {
  const Limits& limits = *FindLimits(key);
  return reader.Integer(key, static_cast<std::int64_t>(limits.least),
                        static_cast<std::int64_t>(limits.most));
}

/// Prints compact JSON. Bytes that are not UTF-8, which paths and the command line may contain,
/// become U+FFFD; nlohmann throws by default.
std::string Shown(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<GptConfig> ParseModel(const NamedText& file, const JsonValue& value) {
  TESSERA_TRY(const auto reader,
              JsonReader::Make(file, value, "a model",
                               {"name", "layers", "width", "heads", "ffn", "vocab", "sequence",
                                "kv_heads", "gated_mlp", "tied_head", "gelu"}));
  GptConfig model;
  TESSERA_TRY(model.name, reader.Text("name"));
  TESSERA_TRY(model.layers, NeedLimited(reader, "layers"));
  TESSERA_TRY(model.width, NeedLimited(reader, "width"));
  TESSERA_TRY(model.heads, NeedLimited(reader, "heads"));
  TESSERA_TRY(model.ffn, NeedLimited(reader, "ffn"));
  TESSERA_TRY(model.sequence, NeedLimited(reader, "sequence"));
  TESSERA_RETURN_IF_ERROR(ReadLimited(reader, "vocab", model.vocab));
  TESSERA_RETURN_IF_ERROR(ReadLimited(reader, "kv_heads", model.kv_heads));
  TESSERA_RETURN_IF_ERROR(reader.Optional("gated_mlp", model.gated_mlp));
  TESSERA_RETURN_IF_ERROR(reader.Optional("tied_head", model.tied_head));
  std::string gelu(ToString(model.gelu));
  TESSERA_RETURN_IF_ERROR(reader.Optional("gelu", gelu));
  TESSERA_TRY(model.gelu, ParseGelu(gelu));
  if (model.name.empty()) return reader.At("a model needs a 'name' that is not empty");
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

json ToJsonObject(const NamedText& file) { return {{"name", file.name}, {"text", file.text}}; }

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
              {"collective_timeout", settings.collective_timeout},
              {"data", settings.data}};
  if (settings.device_batch > 0) out["device_batch"] = settings.device_batch;
  if (settings.program) {
    out["program"] = {{"command", settings.program->command},
                      {"tensors", ToJsonObject(settings.program->tensors)},
                      {"rules", ToJsonObject(settings.program->rules)}};
    if (!settings.program->title.empty()) out["program"]["title"] = settings.program->title;
    if (settings.program->finishes_updates) out["program"]["finishes_updates"] = true;
    if (settings.program->pauses_before_updates) out["program"]["pauses_before_updates"] = true;
  } else {
    out["model"] = ToJsonObject(settings.model);
  }
  return out;
}

Result<NamedText> ParseNamedText(const NamedText& file, const JsonValue& value,
                                 std::string_view what) {
  TESSERA_TRY(const auto reader, JsonReader::Make(file, value, what, {"name", "text"}));
  NamedText named;
  TESSERA_TRY(named.name, reader.Text("name"));
  TESSERA_TRY(named.text, reader.Text("text"));
  return named;
}

Result<OwnProgram> ParseProgram(const NamedText& file, const JsonValue& value) {
  TESSERA_TRY(const auto reader,
              JsonReader::Make(file, value, "a program",
                               {"command", "tensors", "rules", "title", "finishes_updates",
                                "pauses_before_updates"}));
  OwnProgram program;
  TESSERA_TRY(program.command, reader.Text("command"));
  TESSERA_TRY(const JsonValue* tensors, reader.Member("tensors"));
  TESSERA_TRY(program.tensors, ParseNamedText(file, *tensors, "a tensors file"));
  TESSERA_TRY(const JsonValue* rules, reader.Member("rules"));
  TESSERA_TRY(program.rules, ParseNamedText(file, *rules, "a rules file"));
  TESSERA_RETURN_IF_ERROR(reader.Optional("title", program.title));
  TESSERA_RETURN_IF_ERROR(reader.Optional("finishes_updates", program.finishes_updates));
  TESSERA_RETURN_IF_ERROR(reader.Optional("pauses_before_updates", program.pauses_before_updates));
  if (program.command.empty()) return reader.At("a program needs a 'command' that is not empty");
  return program;
}

Status CheckData(const std::vector<std::string>& data) {
  for (const std::string& given : data) {
    TESSERA_TRY(const WeightedPath weighted, ParseWeightedPath(given));
    if (!weighted.path.starts_with('/') && !IsUrl(weighted.path)) {
      return InvalidArgument(fmt::format("data path '{}' is not absolute", weighted.path));
    }
  }
  return OkStatus();
}

Result<JobSettings> ParseSettings(const NamedText& file) {
  TESSERA_TRY(const JsonValue parsed, ParseJson(file));
  TESSERA_TRY(const auto reader, JsonReader::Make(file, parsed, "a job",
                                                  {"model",
                                                   "program",
                                                   "global_batch",
                                                   "seed",
                                                   "max_steps",
                                                   "cosine_steps",
                                                   "warmup_steps",
                                                   "learning_rate",
                                                   "min_learning_rate",
                                                   "weight_decay",
                                                   "beta1",
                                                   "beta2",
                                                   "epsilon",
                                                   "max_norm",
                                                   "dropout",
                                                   "at_change",
                                                   "collective_timeout",
                                                   "device_batch",
                                                   "precision",
                                                   "data"}));
  JobSettings settings;
  const JsonValue* const model = reader.Find("model");
  const JsonValue* const program = reader.Find("program");
  if ((model == nullptr) == (program == nullptr)) {
    return reader.At("a job needs either a 'model' or a 'program'");
  }
  if (program != nullptr) {
    TESSERA_TRY(settings.program, ParseProgram(file, *program));
  } else {
    TESSERA_TRY(settings.model, ParseModel(file, *model));
  }
  TESSERA_RETURN_IF_ERROR(ReadLimited(reader, "global_batch", settings.global_batch));
  TESSERA_RETURN_IF_ERROR(reader.Optional("seed", settings.seed));
  TESSERA_RETURN_IF_ERROR(ReadLimited(reader, "max_steps", settings.max_steps));
  TESSERA_RETURN_IF_ERROR(ReadLimited(reader, "cosine_steps", settings.cosine_steps));
  TESSERA_RETURN_IF_ERROR(ReadLimited(reader, "warmup_steps", settings.warmup_steps));
  TESSERA_RETURN_IF_ERROR(ReadLimited(reader, "learning_rate", settings.learning_rate));
  TESSERA_RETURN_IF_ERROR(ReadLimited(reader, "min_learning_rate", settings.min_learning_rate));
  TESSERA_RETURN_IF_ERROR(ReadLimited(reader, "weight_decay", settings.weight_decay));
  TESSERA_RETURN_IF_ERROR(ReadLimited(reader, "beta1", settings.beta1));
  TESSERA_RETURN_IF_ERROR(ReadLimited(reader, "beta2", settings.beta2));
  TESSERA_RETURN_IF_ERROR(ReadLimited(reader, "epsilon", settings.epsilon));
  TESSERA_RETURN_IF_ERROR(ReadLimited(reader, "max_norm", settings.max_norm));
  TESSERA_RETURN_IF_ERROR(ReadLimited(reader, "dropout", settings.dropout));
  TESSERA_RETURN_IF_ERROR(ReadLimited(reader, "device_batch", settings.device_batch));
  TESSERA_RETURN_IF_ERROR(ReadLimited(reader, "collective_timeout", settings.collective_timeout));
  std::string at_change(ToString(settings.at_change));
  TESSERA_RETURN_IF_ERROR(reader.Optional("at_change", at_change));
  TESSERA_TRY(settings.at_change, ParseAtChange(at_change));
  std::string precision(ToString(settings.precision));
  TESSERA_RETURN_IF_ERROR(reader.Optional("precision", precision));
  TESSERA_TRY(settings.precision, ParsePrecision(precision));
  TESSERA_RETURN_IF_ERROR(reader.Optional("data", settings.data));
  TESSERA_RETURN_IF_ERROR(CheckData(settings.data));
  if (settings.program && settings.at_change != AtChange::kKeep) {
    return InvalidArgument(fmt::format(
        "at_change '{}' is for the built-in models: a program reads its data itself", at_change));
  }
  return settings;
}

/// Whether a member is one value, and has no command line option of its own.
bool IsSetting(const std::string& key, const json& value) {
  return !value.is_structured() && key != "name" && key != "seed" && key != "max_steps" &&
         key != "global_batch" && key != "device_batch";
}

/// The only values of a setting; empty for a number.
std::vector<std::string> ChoicesOf(const std::string& key, const json& value) {
  if (value.is_boolean()) return {"false", "true"};
  std::vector<std::string> out;
  const auto add = [&out](const auto&... each) { (out.emplace_back(ToString(each)), ...); };
  if (key == "precision") add(Precision::kFp32, Precision::kBf16);
  if (key == "gelu") add(Gelu::kTanh, Gelu::kErf);
  if (key == "at_change") {
    add(AtChange::kKeep, AtChange::kLosePosition, AtChange::kKeepDeviceBatch);
  }
  return out;
}

/// Returns the object with setting `name`, the job or its model, or nullptr.
json* OwnerOf(json& settings, const std::string& name) {
  for (json* object : {&settings, settings.contains("model") ? &settings["model"] : nullptr}) {
    if (object != nullptr && object->contains(name) && IsSetting(name, (*object)[name])) {
      return object;
    }
  }
  return nullptr;
}

}  // namespace

std::string ToJson(const JobSettings& settings) { return Shown(ToJsonObject(settings)); }

std::string ShownJson(JobSettings settings) {
  for (std::string& name : settings.data) name = ShownName(name);
  return ToJson(settings);
}

Result<JobSettings> ParseJobSettings(std::string_view text) {
  return ParseSettings({"", std::string(text)});
}

std::vector<JobSetting> SettingsOf(const JobSettings& settings) {
  const json all = ToJsonObject(settings);
  std::vector<JobSetting> out;
  for (const json* object : {&all, all.contains("model") ? &all["model"] : nullptr}) {
    if (object == nullptr) continue;
    for (const auto& [key, value] : object->items()) {
      if (!IsSetting(key, value)) continue;
      JobSetting setting{key, value.is_string() ? value.get<std::string>() : Shown(value)};
      setting.of_model = object != &all;
      setting.is_integer = value.is_number_integer();
      setting.choices = ChoicesOf(key, value);
      if (const Limits* const limits = FindLimits(key)) {
        setting.least = limits->least;
        setting.most = limits->most;
      }
      out.push_back(std::move(setting));
    }
  }
  return out;
}

std::vector<std::string> SettingNames(const JobSettings& settings) {
  std::vector<std::string> names;
  for (const JobSetting& setting : SettingsOf(settings)) {
    names.push_back(setting.name + "=" + setting.value);
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
    // Other values than numbers and booleans become text, which the reader refuses.
    member = json::parse(value, nullptr, /*allow_exceptions=*/false);
    if (!member.is_number() && !member.is_boolean()) member = value;
  }
  TESSERA_TRY(JobSettings changed, ParseJobSettings(Shown(all)));
  changed.data = std::move(settings.data);  // paths may have bytes that JSON cannot hold
  settings = std::move(changed);
  return OkStatus();
}

}  // namespace tessera::engine
