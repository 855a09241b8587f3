// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/checkpoint_layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "app/commands/model_source.h"
#include "app/commands/offline_layouts.h"
#include "app/commands/placement.h"
#include "engine/checkpoint/manifest.h"
#include "engine/checkpoint/model_config.h"
#include "engine/checkpoint/name_prefix.h"
#include "engine/model/gpt.h"
#include "ptc/base/counted.h"
#include "ptc/rules/rule_matcher.h"
#include "ptc/rules/rules_files.h"

namespace tessera::app {
namespace {

using Json = nlohmann::ordered_json;
using checkpoint::Checkpoint;
using checkpoint::StoredTensor;

/// Numbers that rules use, by name.
using Numbers = std::map<std::string, std::int64_t>;

/// What a file next to the tensors states about their model.
struct StatedModel {
  std::string file;   // "config.json"
  std::string rules;  // the rule set; empty if none fits
  Numbers values;
};
using Config = std::optional<StatedModel>;

/// Reads the model from tessera.json, which the cluster writes into its checkpoints. Returns
/// nullopt without that file, and for a program of the user, whose rules are not in it.
/// \error as ReadManifest and ParseJobSettings
Result<Config> readSavedModel(const Checkpoint& source) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(source.path(), ignored)) return Config();
  const auto manifest = checkpoint::ReadManifest(source.path());
  if (!manifest && manifest.error().code == ErrorCode::kNotFound) return Config();
  if (!manifest) return manifest.error();
  if (manifest->settings.empty()) return Config();
  const std::string file(checkpoint::kManifestName);
  TESSERA_TRY(const auto settings, engine::ParseJobSettings(manifest->settings).Context(file));
  if (settings.program) return Config();
  const engine::GptConfig& model = settings.model;
  // The rule set cuts a gated MLP as one matrix, the trainer cuts gate and up separately.
  return StatedModel{file,
                     model.gated_mlp ? "" : "gpt",
                     {{"layers", model.layers},
                      {"width", model.width},
                      {"heads", model.heads},
                      {"kv_heads", model.num_kv_heads()},
                      {"kv_width", model.width / model.heads * model.num_kv_heads()}}};
}

Result<Config> readStatedModel(const Checkpoint& source) {
  TESSERA_TRY(auto saved, readSavedModel(source));
  if (saved) return Config(std::move(saved));
  TESSERA_TRY(auto config, checkpoint::ReadModelConfig(source));
  if (!config) return Config();
  return Config(StatedModel{"config.json", std::move(config->rules), std::move(config->values)});
}

/// "heads=32,kv_heads=8".
Status readNumbers(const std::string& text, Numbers& numbers) {
  std::stringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t equal = part.find('=');
    std::int64_t number = 0;
    const char* end = part.data() + part.size();
    if (equal == std::string::npos || equal == 0 ||
        std::from_chars(part.data() + equal + 1, end, number).ptr != end ||
        equal + 1 == part.size())
      return InvalidArgument(fmt::format("--values '{}' is not NAME=NUMBER,…", part));
    numbers[part.substr(0, equal)] = number;
  }
  return OkStatus();
}

/// "exp_avg" if the name is X.exp_avg and X is a tensor as well.
std::string_view roleOf(const Checkpoint& source, const std::string& name) {
  for (const std::string_view role : {"master", "exp_avg", "exp_avg_sq"}) {
    const std::size_t base = name.size() - std::min(name.size(), role.size() + 1);
    if (base > 0 && name[base] == '.' && name.ends_with(role) &&
        source.Find(std::string_view(name).substr(0, base)))
      return role;
  }
  return "param";
}

/// The tensors of a checkpoint as a tensors file, one per line.
ptc::NamedText listTensors(const Checkpoint& source, const Numbers& numbers,
                           std::int64_t numLayers) {
  std::string text =
      fmt::format("{{\"layers\": {}, \"values\": {}, \"tensors\": [", numLayers,
                  Json(numbers).dump(-1, ' ', false, Json::error_handler_t::replace));
  for (std::size_t t = 0; t < source.tensors().size(); ++t) {
    const StoredTensor& tensor = source.tensors()[t];
    const Json json = {{"name", tensor.name},
                       {"dtype", ToString(tensor.dtype)},
                       {"shape", tensor.shape},
                       {"role", roleOf(source, tensor.name)}};
    text += fmt::format("{}\n{}", t == 0 ? "" : ",",
                        json.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  return {fmt::format("tensors of {}", source.path()), text + "\n]}\n"};
}

/// The highest layer that the names state, by the rules, plus one.
std::int64_t numLayersOf(const Checkpoint& source, const ptc::RulesFile& rules) {
  const ptc::RuleMatcher matcher(rules.rules);
  std::int64_t layers = 0;
  for (const StoredTensor& tensor : source.tensors()) {
    for (const std::size_t r : matcher.Candidates(tensor.name)) {
      const auto fit = matcher.Match(r, tensor.name);
      if (!fit) continue;
      if (fit->layer()) layers = std::max(layers, *fit->layer() + 1);
      break;
    }
  }
  return layers;
}

/// Warns if the file next to the tensors states another number of layers, because a layer more or
/// less is usually a file too many or too few.
std::string layersNote(std::int64_t layers, const Config& config) {
  if (!config) return {};
  const auto stated = config->values.find("layers");
  if (stated == config->values.end() || stated->second == layers) return {};
  return fmt::format("{} here, {} says {}", Counted(layers, "layer"), config->file, stated->second);
}

/// The name of the number that the rules use and nothing provides; empty for any other error.
std::string missingNumber(const Error& error) {
  constexpr std::string_view kMissing = "has no '";
  const std::size_t at = error.message.find(kMissing);
  if (at == std::string::npos || error.message.find("'values' of") == std::string::npos) return {};
  const std::size_t begin = at + kMissing.size();
  return error.message.substr(begin, error.message.find('\'', begin) - begin);
}

/// Names the option for the numbers that the rules use and nothing provides: all of them, so that
/// one more attempt is enough.
Error withOption(Error error, const ptc::NamedText& rules, const ptc::Values& values) {
  std::string name = missingNumber(error);
  if (name.empty()) return error;
  std::vector<std::string> names;
  // Reading stops at the first unknown number, so each one gets a value to find the next.
  for (ptc::Values tried = values; !name.empty() && !tried.by_name.contains(name);) {
    names.push_back(name);
    tried.by_name.emplace(name, 1);
    const auto read = ptc::ReadRules(rules, tried);
    name = read ? std::string() : missingNumber(read.error());
  }
  if (names.empty()) return error;
  error.message += fmt::format("; give {} as --values {}=NUMBER", names.size() == 1 ? "it" : "them",
                               fmt::join(names, "=NUMBER,"));
  return error;
}

/// Applies the rules to --tensors, or to the tensors of the checkpoint.
Result<ptc::RuledTensors> ruledTensors(const Checkpoint& source, const ptc::NamedText& rules,
                                       const Numbers& numbers, const Config& config,
                                       const Arguments& arguments) {
  std::string note;
  ptc::NamedText tensors;
  ptc::Values values;
  if (const auto path = arguments.value("tensors")) {
    TESSERA_TRY(tensors, readTextFile(*path));
  } else {
    TESSERA_TRY(ptc::TensorsFile listed, ptc::ReadTensors(listTensors(source, numbers, 0)));
    values = std::move(listed.values);
    const auto read = ptc::ReadRules(rules, values);
    if (!read) return withOption(read.error(), rules, values);
    const std::int64_t layers = numLayersOf(source, *read);
    note = layersNote(layers, config);
    tensors = listTensors(source, numbers, layers);
  }
  auto ruled = ptc::ApplyRules(tensors, rules, readZero(arguments));
  if (ruled) return ruled;
  Error error = withOption(ruled.error(), rules, values);
  if (!note.empty()) error.message += "; " + note;
  return error;
}

/// Names the prefix of all names without which the rules match.
Error withPrefix(Error error, const Checkpoint& source, const ptc::NamedText& rules,
                 const Numbers& numbers, const Config& config, const Arguments& arguments) {
  if (arguments.has("tensors")) return error;
  for (const std::string& prefix : checkpoint::CommonPrefixes(source)) {
    const auto without = source.WithoutPrefix(prefix);
    if (!without || !ruledTensors(**without, rules, numbers, config, arguments)) continue;
    error.message += fmt::format(
        "; all names begin with '{}' and match without it: --strip-prefix {} removes it", prefix,
        prefix);
    break;
  }
  return error;
}

/// Layouts do not allow elements below one byte, because devices do not compute with them. On disk
/// only the cuts matter, so such tensors are treated as bytes. Cuts inside a byte are found when
/// the pieces are made.
Result<ptc::CollectionPtr> withWholeBytes(ptc::CollectionPtr tensors) {
  const auto isPacked = [](const ptc::TensorSpec& spec) { return ptc::IsPacked(spec.dtype); };
  if (std::ranges::none_of(tensors->tensors(), isPacked)) return tensors;
  std::vector<ptc::TensorSpec> specs = tensors->tensors();
  for (ptc::TensorSpec& spec : specs)
    if (isPacked(spec)) spec.dtype = ptc::DType::kU8;
  return ptc::Collection::Make(std::move(specs), tensors->num_layers());
}

}  // namespace

std::vector<OptionSpec> layoutOptions() {
  return {{.name = "mesh",
           .value = "MESH",
           .help = "write one shard for each rank of this mesh, such as dp=2,tp=2"},
          {.name = "rules",
           .value = "RULES",
           .help = "how tensors are cut and assigned to stages: a rule set of `rules list`, or a "
                   "file",
           .fallback = "the rule set of the model in config.json of a Hugging Face folder, or of a "
                       "built-in model that the cluster saved"},
          {.name = "values",
           .value = "NAME=N,...",
           .help = "numbers that the rules use: heads=32,kv_heads=8",
           .fallback = "those in config.json of a Hugging Face folder, or in tessera.json of a "
                       "checkpoint of the cluster",
           .repeats = true},
          zeroOption("off"),
          {.name = "tensors",
           .value = "FILE",
           .help = "table of the tensors, with segments and roles",
           .fallback = "the tensors of SRC"},
          stagesOption()};
}

Result<CheckpointLayout> layoutOf(const Checkpoint& source, const Arguments& arguments) {
  auto shape = ptc::ParseMeshShape(arguments.valueOr("mesh", ""));
  if (!shape) return std::move(shape).Context("--mesh").error();
  std::vector<ptc::DeviceId> devices;
  for (std::int32_t rank = 0; rank < shape->num_ranks(); ++rank) devices.push_back({0, rank});
  TESSERA_TRY(auto mesh, ptc::DeviceMesh::Make(*shape, std::move(devices)));

  TESSERA_TRY(const auto config, readStatedModel(source));
  const std::string ruleSet = arguments.valueOr("rules", config ? config->rules : "");
  if (ruleSet.empty())
    return InvalidArgument(
        "--mesh needs --rules: how the tensors are cut (no config.json or tessera.json names a "
        "known "
        "model)");
  TESSERA_TRY(const ptc::NamedText rules, readRules(ruleSet));
  Numbers numbers = config ? config->values : Numbers();
  for (const std::string& text : arguments.values("values"))
    TESSERA_RETURN_IF_ERROR(readNumbers(text, numbers));
  auto ruled = ruledTensors(source, rules, numbers, config, arguments);
  if (!ruled) return withPrefix(ruled.error(), source, rules, numbers, config, arguments);
  TESSERA_TRY(ruled->tensors, withWholeBytes(std::move(ruled->tensors)));
  if (const auto text = arguments.value("stages")) {
    auto parsed = ptc::ParseStageRule(*text);
    if (!parsed) return std::move(parsed).Context("--stages").error();
    ruled->stages = *parsed;
  }
  const std::int64_t layers = ruled->tensors->num_layers();
  TESSERA_TRY(auto layout, ptc::Layout::Make(std::move(mesh), std::move(ruled->tensors),
                                             std::move(ruled->stages)));
  return CheckpointLayout{std::move(layout), layersNote(layers, config)};
}

}  // namespace tessera::app
