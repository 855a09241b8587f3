// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `job start`: starts a built-in model or a program of the user, and waits until its ranks train.

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "agents/wire/utf8.h"
#include "app/commands/command.h"
#include "app/commands/data.h"
#include "app/commands/json.h"
#include "app/commands/placement.h"
#include "app/commands/progress_line.h"
#include "app/commands/script.h"
#include "app/commands/session.h"
#include "app/commands/start_wait.h"
#include "app/commands/units.h"
#include "engine/data/is_url.h"
#include "engine/files/absolute_path.h"
#include "engine/files/whole_file.h"
#include "engine/model/gpt.h"

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
Status readScript(const Arguments& arguments, wire::StartJobRequest* request) {
  if (arguments.has("exec"))
    return InvalidArgument(
        fmt::format("script '{}' and --exec are given: choose one", arguments.word(0)));
  TESSERA_TRY(const Script script, readScriptCall(arguments));
  TESSERA_TRY(const DescribedScript described, describeScript(script));
  request->set_command(agents::Utf8(described.command));
  request->set_finishes_updates(described.updatesAlone);
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
Status readProgram(const Arguments& arguments, wire::StartJobRequest* request) {
  if (arguments.has("kind")) return readFilesProgram(arguments, request);
  if (arguments.has("save-every")) return InvalidArgument("--save-every is for --kind files");
  if (isScript(arguments.word(0))) return readScript(arguments, request);
  if (arguments.has("finishes-updates") && !arguments.has("exec"))
    return InvalidArgument("--finishes-updates is for a program of your own: give --exec");
  for (const char* option : {"python", "env"})
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
    TESSERA_TRY(const auto model, engine::FindModel(arguments.word(0)));
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
    TESSERA_TRY(tried.model, engine::FindModel(request->model()));
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

Result<wire::StartJobRequest> readStartRequest(const Arguments& arguments) {
  wire::StartJobRequest request;
  TESSERA_RETURN_IF_ERROR(readProgram(arguments, &request));
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

int runStart(const Invocation& call) {
  TESSERA_OR_USAGE(const auto start, readStartRequest(call.arguments));
  TESSERA_OR_FAILED(auto session, openSession(call));
  ProgressLine progress(call.json || call.quiet);
  const auto reply = startJob(session, start, [&](const std::string& doing) {
    doing.empty() ? progress.clear() : progress.show(start.name() + ": " + doing);
  });
  if (!reply) return failed(reply.error());
  TESSERA_OR_FAILED(const auto snapshot, session.snapshot());
  const auto job =
      std::ranges::find(snapshot.jobs, reply->start_job().job(), &engine::JobStatus::name);
  if (job == snapshot.jobs.end())
    return failed(NotFound(fmt::format("job '{}' was stopped while it started", start.name())));
  if (job->state == engine::JobState::kFailed)
    return failed(FailedPrecondition(fmt::format("job '{}' failed: {}", job->name, job->reason)));
  const std::string& note = reply->start_job().note();
  if (call.json) {
    Json json = toJson(*job);
    json["note"] = note;
    printLine(json);
  } else {
    const std::string options = engine::ToString(job->options);
    fmt::print("{} is {}: {} on {}{}\n", job->name, engine::ToString(job->state),
               ptc::ToString(job->mesh), ptc::ToString(job->devices),
               options.empty() ? "" : " with " + options);
    if (!note.empty()) fmt::print("{}\n", note);
  }
  return kDone;
}

HelpSection modelSection() {
  HelpSection section{"Models", {}};
  for (const std::string& name : engine::ModelNames())
    if (const auto model = engine::FindModel(name))
      section.rows.emplace_back(
          model->name,
          fmt::format("{} layers, width {}, {} heads, sequence {}, vocabulary {}", model->layers,
                      model->width, model->heads, model->sequence, model->vocab));
  return section;
}

HelpSection settingSection() {
  HelpSection section{"Settings of gpt-mini for --set, with their defaults", {}};
  engine::JobSettings mini;
  if (const auto model = engine::FindModel("gpt-mini")) mini.model = *model;
  for (const std::string& setting : engine::SettingNames(mini)) {
    const auto equals = setting.find('=');
    section.rows.emplace_back(setting.substr(0, equals), setting.substr(equals + 1));
  }
  return section;
}

}  // namespace

Command jobStartCommand() {
  const engine::JobSettings settings;
  return {
      {.verb = "job start",
       .summary = "Start a built-in model or your own program, and wait until it trains",
       .words = {{.name = "MODEL|SCRIPT",
                  .help = "one of the models below, or a program in Python (train.py) with its "
                          "arguments after `--`; none with --exec, optional with "
                          "--from-checkpoint",
                  .required = false,
                  .repeats = true}},
       .options =
           {{.name = "name",
             .value = "NAME",
             .help = "name of the job; needed with --exec",
             .fallback = "the model's name, or the script's without .py"},
            meshOption("the fastest that fits the GPUs"),
            devicesOption("all idle GPUs"),
            zeroOption("off, or as chosen with the mesh"),
            microBatchOption("0"),
            {.name = "data",
             .value = "PATH",
             .help = "file, folder or URL to train on: text (one token per byte), Megatron "
                     ".bin/.idx, TFRecord or tar; `0.7:PATH` gives a weight",
             .fallback = "text found on the machine",
             .repeats = true},
            {.name = "steps",
             .value = "N",
             .help = "pause the job after step N",
             .fallback = "never"},
            {.name = "global-batch",
             .value = "B",
             .help = "samples per step",
             .fallback = fmt::to_string(settings.global_batch)},
            {.name = "seed",
             .value = "S",
             .help = "seed of the initial state and of the order of samples",
             .fallback = fmt::to_string(settings.seed)},
            {.name = "precision",
             .value = "",
             .help = "type of the parameters; bf16 keeps fp32 masters",
             .fallback = std::string(engine::ToString(settings.precision)),
             .choices = {"fp32", "bf16"}},
            {.name = "dropout",
             .value = "P",
             .help = "probability of dropout",
             .fallback = fmt::to_string(settings.dropout)},
            {.name = "on-failure",
             .value = "POLICY",
             .help = "what to do when GPUs are lost: ask, continue with fewer, or wait for them",
             .fallback = "ask",
             .choices = {"ask", "shrink", "wait"}},
            {.name = "snapshot-every",
             .value = "N|TIME",
             .help = "copy the state into the memory of two nodes every N steps, or 30s, 5m",
             .fallback = "off"},
            {.name = "from-checkpoint",
             .value = "PATH",
             .help = "begin with the state in this folder or URL, on any mesh; without MODEL, the "
                     "model and settings are those of the checkpoint"},
            {.name = "parameters-only",
             .value = "",
             .help = "take over the parameters; moments, step and position in the data begin anew"},
            {.name = "set",
             .value = "KEY=VALUE",
             .help = "any other setting from the list below",
             .repeats = true},
            {.name = "exec",
             .value = "COMMAND",
             .help = "run a program that uses the rank library instead of MODEL: `sh -c COMMAND` "
                     "for each rank, on the nodes, so give absolute paths"},
            {.name = "finishes-updates",
             .value = "",
             .help = "with --exec: its ranks call tessera_unfinished, so a device that lacks an "
                     "update can make up for it"},
            {.name = "kind",
             .value = "",
             .help = "with SCRIPT: a program of any framework that loads and saves its state in "
                     "files, as the guide's page \"Through files\" describes",
             .choices = {"files"}},
            {.name = "save-every",
             .value = "N",
             .help = "with --kind files: save the state every N steps",
             .fallback = "only for changes, pauses and digests"},
            pythonOption(),
            environmentOption(),
            {.name = "tensors",
             .value = "FILE",
             .help = "the tensors of the job: needed with --exec and --kind files; with SCRIPT in "
                     "place of what it says itself"},
            {.name = "rules",
             .value = "FILE",
             .help = "how the tensors are cut and placed: likewise"},
            quietOption()},
       .notes =
           {fmt::format(
                "The built-in trainer uses AdamW. Its learning rate goes from {} to {} along a "
                "cosine of {} steps after {} steps of warm-up, whatever --steps is.",
                settings.learning_rate, settings.min_learning_rate, settings.cosine_steps,
                settings.warmup_steps),
            "Your own program finds RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, "
            "MASTER_ADDR and MASTER_PORT in its environment. The guide's page \"Your own job\" "
            "shows an example."},
       .examples = {"tesseractl job start gpt-mini --mesh dp=2,tp=2 --devices 1x4",
                    "tesseractl job start gpt-nano --steps 100 --data /usr/share/common-licenses",
                    "tesseractl job start train.py --mesh dp=4 -- --lr 3e-4",
                    "tesseractl job start train.sh --kind files --tensors tensors.json --rules "
                    "rules.json --mesh dp=2",
                    "tesseractl job start --exec /opt/my-job --name mine --tensors tensors.json "
                    "--rules rules.json --mesh dp=2"},
       .sections = {modelSection(), settingSection()}},
      runStart};
}

}  // namespace tessera::app
