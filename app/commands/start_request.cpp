// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/start_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "agents/wire/utf8.h"
#include "app/commands/data.h"
#include "app/commands/placement.h"
#include "app/commands/units.h"
#include "engine/data/is_url.h"
#include "engine/files/absolute_path.h"
#include "engine/files/whole_file.h"
#include "engine/model/gpt.h"
#include "engine/model/large_models.h"

namespace tessera::app {
namespace {

/// Reads a file that the cluster will parse. Messages name it by `path`.
Status readText(const std::string& path, wire::StartJobRequest::NamedText* out) {
  TESSERA_TRY(const std::string text, engine::ReadWholeFile(path));
  out->set_name(agents::Utf8(path));
  out->set_text(agents::Utf8(text));
  return OkStatus();
}

/// Reads SCRIPT and its arguments: what it has, it says itself.
Status readScript(const Arguments& arguments, const Describe& describe, const std::stop_token& stop,
                  wire::StartJobRequest* request) {
  if (arguments.has("exec"))
    return InvalidArgument(
        fmt::format("script '{}' and --exec are given: choose one", arguments.word(0)));
  TESSERA_TRY(const Script script, readScriptCall(arguments));
  TESSERA_TRY(const DescribedScript described, describe(script, stop));
  request->set_command(agents::Utf8(described.command));
  request->set_finishes_updates(described.updatesAlone);
  request->set_pauses_before_updates(described.pausesBeforeUpdates);
  const auto fill = [&](const char* option, const std::string& text,
                        wire::StartJobRequest::NamedText* out) -> Status {
    if (const auto path = arguments.value(option)) return readText(*path, out);
    out->set_name(agents::Utf8(fmt::format("{} of {}", option, script.path)));
    out->set_text(agents::Utf8(text));
    return OkStatus();
  };
  TESSERA_RETURN_IF_ERROR(fill("tensors", described.tensors, request->mutable_tensors()));
  TESSERA_RETURN_IF_ERROR(fill("rules", described.rules, request->mutable_rules()));
  return OkStatus();
}

/// Reads --kind files: a program that loads and saves its state in files, and its two files.
Status readFilesProgram(const Arguments& arguments, wire::StartJobRequest* request) {
  if (arguments.has("exec"))
    return InvalidArgument("--kind files and --exec are given: name the program without --exec");
  if (arguments.word(0).empty())
    return InvalidArgument("--kind files needs a program, such as train.sh");
  for (const char* option : {"tensors", "rules"})
    if (!arguments.has(option))
      return InvalidArgument(fmt::format("--kind files needs --{}", option));
  TESSERA_TRY(const auto every, arguments.integer("save-every", 0, 1, std::int64_t{1} << 40));
  TESSERA_TRY(const Script program, readScriptCall(arguments));
  TESSERA_TRY(const std::string command, filesCommand(program, every));
  request->set_command(agents::Utf8(command));
  const auto read = [&](const char* option, std::string (*with)(const std::string&),
                        wire::StartJobRequest::NamedText* out) -> Status {
    TESSERA_RETURN_IF_ERROR(readText(*arguments.value(option), out));
    out->set_text(with(out->text()));
    return OkStatus();
  };
  TESSERA_RETURN_IF_ERROR(read("tensors", withStepTensor, request->mutable_tensors()));
  return read("rules", withStepRule, request->mutable_rules());
}

/// Reads MODEL, SCRIPT, or a program with its two files.
Status readProgram(const Arguments& arguments, const Describe& describe,
                   const std::stop_token& stop, wire::StartJobRequest* request) {
  if (arguments.has("kind")) return readFilesProgram(arguments, request);
  if (arguments.has("save-every")) return InvalidArgument("--save-every is for --kind files");
  if (isScript(arguments.word(0))) return readScript(arguments, describe, stop, request);
  for (const char* option : {"finishes-updates", "pauses-before-updates"})
    if (arguments.has(option) && !arguments.has("exec"))
      return InvalidArgument(fmt::format("--{} is for a program of your own: give --exec", option));
  for (const char* option : {"python", "env", "directory"})
    if (arguments.has(option))
      return InvalidArgument(fmt::format("--{} is for a script such as train.py", option));
  if (!arguments.word(1).empty())
    return InvalidArgument(
        fmt::format("'{}': only a script such as train.py has arguments", arguments.word(1)));
  const auto command = arguments.value("exec");
  const bool hasCheckpoint = arguments.has("from-checkpoint");
  if (!command && hasCheckpoint && arguments.word(0).empty()) return OkStatus();  // its model
  if (!command) {
    for (const char* option : {"tensors", "rules"})
      if (arguments.has(option))
        return InvalidArgument(
            fmt::format("--{} is for a program of your own: give --exec", option));
    if (arguments.word(0).empty())
      return InvalidArgument(
          "`job start` needs MODEL, SCRIPT, --from-checkpoint, or --exec with --tensors and "
          "--rules");
    TESSERA_TRY(const auto model, engine::FindAnyModel(arguments.word(0)));
    request->set_model(model.name);
    return OkStatus();
  }
  if (!arguments.word(0).empty())
    return InvalidArgument(
        fmt::format("MODEL '{}' and --exec are given: choose one", arguments.word(0)));
  if (command->empty()) return InvalidArgument("--exec is empty");
  for (const char* option : {"name", "tensors", "rules"})
    if (!arguments.has(option)) return InvalidArgument(fmt::format("--exec needs --{}", option));
  request->set_command(*command);
  request->set_finishes_updates(arguments.has("finishes-updates"));
  request->set_pauses_before_updates(arguments.has("pauses-before-updates"));
  TESSERA_RETURN_IF_ERROR(readText(*arguments.value("tensors"), request->mutable_tensors()));
  return readText(*arguments.value("rules"), request->mutable_rules());
}

/// Reads --set KEY=VALUE and the options for single settings. The cluster checks them as well;
/// doing so here reports errors before connecting.
Status readSettings(const Arguments& arguments, wire::StartJobRequest* request) {
  auto& settings = *request->mutable_settings();
  for (const char* option : {"precision", "dropout"})
    if (const auto value = arguments.value(option)) settings[option] = *value;
  for (const std::string& text : arguments.values("set")) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      return InvalidArgument(fmt::format("--set '{}' is not of the form KEY=VALUE", text));
    settings[text.substr(0, equals)] = text.substr(equals + 1);
  }
  engine::JobSettings tried;
  if (!request->model().empty()) {
    TESSERA_TRY(tried.model, engine::FindAnyModel(request->model()));
  } else if (request->command().empty()) {
    return OkStatus();  // only the cluster knows the model of the checkpoint
  } else {
    tried.program = engine::OwnProgram{request->command(), {}, {}};
  }
  for (const auto& [key, value] : settings)
    TESSERA_RETURN_IF_ERROR(engine::ApplySetting(tried, key, value));
  return OkStatus();
}

Status readCheckpoint(const Arguments& arguments, wire::StartJobRequest* request) {
  const auto path = arguments.value("from-checkpoint");
  if (!path) {
    if (!arguments.has("parameters-only")) return OkStatus();
    return InvalidArgument("--parameters-only needs --from-checkpoint");
  }
  wire::CheckpointSource& source = *request->mutable_from_checkpoint();
  source.set_path(agents::Utf8(engine::IsUrl(*path) ? *path : engine::AbsolutePath(*path)));
  source.set_parameters_only(arguments.has("parameters-only"));
  return OkStatus();
}

}  // namespace

Result<wire::StartJobRequest> readStartRequest(const Arguments& arguments, const Describe& describe,
                                               const std::stop_token& stop) {
  wire::StartJobRequest request;
  TESSERA_RETURN_IF_ERROR(readProgram(arguments, describe, stop, &request));
  TESSERA_RETURN_IF_ERROR(readCheckpoint(arguments, &request));
  std::string usual = request.model();
  if (isScript(arguments.word(0)) || arguments.has("kind")) {
    usual = std::filesystem::path(arguments.word(0)).stem().string();
    std::ranges::replace(usual, '_', '-');
  }
  const std::string name = arguments.valueOr("name", usual);
  const bool isNamedByCheckpoint = name.empty() && request.has_from_checkpoint();
  if (!isNamedByCheckpoint) TESSERA_RETURN_IF_ERROR(checkName("job", name));
  request.set_name(name);
  TESSERA_RETURN_IF_ERROR(readSettings(arguments, &request));
  TESSERA_TRY(const auto options, readStepOptions(arguments));
  if (options) agents::Encode(*options, request.mutable_options());
  TESSERA_TRY(const auto placement, readPlacement(arguments));
  for (const ptc::DeviceId device : placement.devices)
    agents::Encode(device, request.add_devices());
  if (placement.mesh) agents::Encode(*placement.mesh, request.mutable_mesh());
  for (const std::string& path : arguments.values("data")) request.add_data(absoluteData(path));
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  TESSERA_TRY(const auto steps, arguments.integer("steps", 0, 1, kMost));
  TESSERA_TRY(const auto batch, arguments.integer("global-batch", 0, 1, 1 << 20));
  const std::int64_t usualSeed = request.has_from_checkpoint() ? 0 : engine::JobSettings().seed;
  TESSERA_TRY(const auto seed, arguments.integer("seed", usualSeed, 0, kMost));
  request.set_max_steps(steps);
  request.set_global_batch(batch);
  request.set_seed(seed);
  TESSERA_TRY(const auto policy, engine::ParseOnFailure(arguments.valueOr("on-failure", "ask")));
  request.set_on_failure(static_cast<std::uint32_t>(policy));
  TESSERA_TRY(const auto every,
              engine::ParseSnapshotEvery(arguments.valueOr("snapshot-every", "off"))
                  .Context("--snapshot-every"));
  agents::Encode(every, request.mutable_snapshots());
  return request;
}

}  // namespace tessera::app
