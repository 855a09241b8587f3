// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `job start`: starts a built-in model and waits until its ranks train.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "agents/wire/convert.h"
#include "app/commands/command.h"
#include "app/commands/json.h"
#include "app/commands/placement.h"
#include "app/commands/session.h"
#include "app/commands/units.h"
#include "engine/model/gpt.h"

namespace tessera::app {
namespace {

using std::chrono::seconds;

/// The registrar answers when all ranks are ready, or gives up before this.
constexpr seconds kStartPatience{150};

Result<wire::StartJobRequest> readRequest(const Arguments& arguments) {
  wire::StartJobRequest request;
  TESSERA_TRY(const auto model, engine::FindModel(arguments.word(0)));
  request.set_model(model.name);
  const std::string name = arguments.valueOr("name", model.name);
  TESSERA_RETURN_IF_ERROR(checkName("job", name));
  request.set_name(name);
  TESSERA_TRY(const auto placement, readPlacement(arguments));
  for (const ptc::DeviceId device : placement.devices)
    agents::Encode(device, request.add_devices());
  if (placement.mesh) agents::Encode(*placement.mesh, request.mutable_mesh());
  for (const std::string& path : arguments.values("data"))
    request.add_data(std::filesystem::absolute(path).lexically_normal().string());
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
  wire::Request request;
  *request.mutable_start_job() = *start;
  const auto reply = session->ask(std::move(request), ReplyKind::kStartJob, kStartPatience);
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
    fmt::print("{} is {}: {} on {}\n", job->name, engine::ToString(job->state),
               ptc::ToString(job->mesh), ptc::ToString(job->devices));
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
  return lines;
}

}  // namespace

Command jobStartCommand() {
  const engine::JobSettings settings;
  return {
      {"job start",
       "starts a built-in model and waits until it trains",
       {{"MODEL", "one of the models below"}},
       {{"name", "J", "name of the job (default: the model's)"},
        meshOption(
            "(default: tp=2 from four devices on, and the largest dp that divides the batch)"),
        devicesOption("(default: all idle ones)"),
        {"data", "PATH",
         "text file or folder, bytes as tokens; may be repeated (default: text "
         "found on the machine)"},
        {"steps", "N", "pauses the job after step N (default: no end)"},
        {"global-batch", "B", fmt::format("samples a step (default {})", settings.global_batch)},
        {"seed", "S",
         fmt::format("of initial state and sample order (default {})", settings.seed)}},
       describeModels()},
      run};
}

}  // namespace tessera::app
