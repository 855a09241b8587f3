// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `job start`: starts a built-in model or a program of the user's own, and waits until its ranks
/// train.

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sstream>

#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "agents/wire/utf8.h"
#include "app/commands/command.h"
#include "app/commands/data.h"
#include "app/commands/json.h"
#include "app/commands/placement.h"
#include "app/commands/progress_line.h"
#include "app/commands/session.h"
#include "app/commands/start_wait.h"
#include "app/commands/units.h"
#include "engine/files/whole_file.h"
#include "engine/model/gpt.h"

namespace tessera::app {
namespace {

/// A file as it is, to be read by the cluster; it is called by `path` in messages.
Status readText(const std::string& path, wire::StartJobRequest::NamedText* out) {
  TESSERA_TRY(const std::string text, engine::ReadWholeFile(path));
  out->set_name(agents::Utf8(path));
  out->set_text(agents::Utf8(text));
  return OkStatus();
}

/// MODEL, or --exec with its two files.
Status readProgram(const Arguments& arguments, wire::StartJobRequest* request) {
  const auto command = arguments.value("exec");
  if (!command) {
    for (const char* option : {"tensors", "rules"})
      if (arguments.has(option))
        return InvalidArgument(
            fmt::format("--{} is for a program of your own: give --exec", option));
    if (arguments.word(0).empty())
      return InvalidArgument("`job start` needs MODEL, or --exec with --tensors and --rules");
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
  TESSERA_RETURN_IF_ERROR(readText(*arguments.value("tensors"), request->mutable_tensors()));
  return readText(*arguments.value("rules"), request->mutable_rules());
}

/// --set KEY=VALUE and the options that stand for one. The cluster checks them; what it would
/// refuse is told before it is asked.
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
  } else {
    tried.program = engine::OwnProgram{request->command(), {}, {}};
  }
  for (const auto& [key, value] : settings)
    TESSERA_RETURN_IF_ERROR(engine::ApplySetting(tried, key, value));
  return OkStatus();
}

Result<wire::StartJobRequest> readRequest(const Arguments& arguments) {
  wire::StartJobRequest request;
  TESSERA_RETURN_IF_ERROR(readProgram(arguments, &request));
  const std::string name = arguments.valueOr("name", request.model());
  TESSERA_RETURN_IF_ERROR(checkName("job", name));
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
  TESSERA_TRY(const auto seed, arguments.integer("seed", engine::JobSettings().seed, 0, kMost));
  request.set_max_steps(steps);
  request.set_global_batch(batch);
  request.set_seed(seed);
  return request;
}

int run(const Invocation& call) {
  const auto start = readRequest(call.arguments);
  if (!start) return wrongUsage(start.error());
  auto session = openSession(call);
  if (!session) return failed(session.error());
  ProgressLine progress(call.json);
  const auto reply = startJob(*session, *start, [&](const std::string& doing) {
    doing.empty() ? progress.clear() : progress.show(start->name() + ": " + doing);
  });
  if (!reply) return failed(reply.error());
  const auto snapshot = session->snapshot();
  if (!snapshot) return failed(snapshot.error());
  const auto job =
      std::ranges::find(snapshot->jobs, reply->start_job().job(), &engine::JobStatus::name);
  if (job == snapshot->jobs.end())
    return failed(NotFound(fmt::format("job '{}' was stopped while it started", start->name())));
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

std::vector<std::string> describeModels() {
  std::vector<std::string> lines = {"models"};
  for (const std::string& name : engine::ModelNames()) {
    const auto model = engine::FindModel(name);
    if (!model) continue;
    lines.push_back(fmt::format(
        "  {:<10} {} layers, width {}, {} heads, sequence {}, {} bytes as tokens", model->name,
        model->layers, model->width, model->heads, model->sequence, model->vocab));
  }
  const engine::JobSettings settings;
  lines.push_back(fmt::format(
      "schedule: AdamW, learning rate {} to {} by a cosine over {} steps after {} of warm-up; it "
      "never depends on --steps",
      settings.learning_rate, settings.min_learning_rate, settings.cosine_steps,
      settings.warmup_steps));
  lines.push_back("settings (--set) of gpt-mini and their defaults");
  engine::JobSettings mini;
  if (const auto model = engine::FindModel("gpt-mini")) mini.model = *model;
  for (const std::string& setting : engine::SettingNames(mini)) lines.push_back("  " + setting);
  lines.push_back(
      "a program of your own (--exec, --name, --tensors, --rules) links the rank library and finds "
      "RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR and MASTER_PORT in its "
      "environment");
  return lines;
}

}  // namespace

Command jobStartCommand() {
  const engine::JobSettings settings;
  return {
      {"job start",
       "starts a built-in model, or a program of your own, and waits until it trains",
       {{"MODEL", "one of the models below, where --exec is not given", false}},
       {{"name", "J", "name of the job (default: the model's)"},
        meshOption("(default: the fastest that fits the devices)"),
        devicesOption("(default: all idle ones)"),
        zeroOption("(default: off; where the mesh is chosen, so is this)"),
        microBatchOption("(default 0)"),
        {"data", "PATH",
         "file, folder or URL: text (a byte a token), Megatron .bin/.idx, TFRecord, tar; may be "
         "repeated, `0.7:PATH` gives a weight (default: text found on the machine)"},
        {"steps", "N", "pauses the job after step N (default: no end)"},
        {"global-batch", "B", fmt::format("samples a step (default {})", settings.global_batch)},
        {"seed", "S", fmt::format("of initial state and sample order (default {})", settings.seed)},
        {"precision", "fp32|bf16",
         fmt::format("of the parameters; bf16 keeps fp32 masters (default {})",
                     engine::ToString(settings.precision))},
        {"dropout", "P", fmt::format("probability (default {})", settings.dropout)},
        {"set", "KEY=VALUE", "any other setting, see below; may be repeated"},
        {"exec", "CMD",
         "a program on the rank library instead of MODEL; `sh -c CMD` is run for each rank, on the "
         "nodes: give absolute paths"},
        {"tensors", "FILE", "for --exec: the job's tensors"},
        {"rules", "FILE", "for --exec: how they are cut and placed"}},
       describeModels()},
      run};
}

}  // namespace tessera::app
