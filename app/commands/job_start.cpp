// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `job start`: starts a built-in model or a program of the user, and waits until its ranks train;
/// for a script, until its first step.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "agents/wire/tessera/wire/control.pb.h"
#include "app/commands/command.h"
#include "app/commands/interrupt.h"
#include "app/commands/json.h"
#include "app/commands/placement.h"
#include "app/commands/progress_line.h"
#include "app/commands/script.h"
#include "app/commands/session.h"
#include "app/commands/start_request.h"
#include "app/commands/start_wait.h"
#include "engine/model/gpt.h"
#include "engine/model/large_models.h"

namespace tessera::app {
namespace {

constexpr const char* kNoWait = "no-wait";

int runStart(const Invocation& call) {
  TESSERA_OR_USAGE(const auto start, readStartRequest(call.arguments));
  TESSERA_OR_FAILED(auto session, openSession(call));
  ProgressLine progress(call.json || call.quiet);
  // Data that cannot be reached take a minute: a script's log says why it waits.
  ProgressLine opening(call.json || call.quiet, ProgressLine::Elsewhere::kLines);
  const auto reply = startJob(session, start, [&](const std::string& doing) {
    doing.empty() ? opening.clear() : opening.show(start.name() + ": " + doing);
  });
  if (!reply) return failed(reply.error());
  // The job has started, so what is lost from here on does not mean that nothing has changed.
  const auto unknown = [&start](const Error& error) {
    return failed(OutcomeUnknown(
        fmt::format("job '{}' has started, but its state is not known: {}; `tesseractl status` "
                    "shows it",
                    start.name(), error.ToString())));
  };
  const auto seen = session.snapshot();
  if (!seen) return unknown(seen.error());
  const engine::ClusterSnapshot& snapshot = *seen;
  const auto started =
      std::ranges::find(snapshot.jobs, reply->start_job().job(), &engine::JobStatus::name);
  if (started == snapshot.jobs.end())
    return failed(NotFound(fmt::format("job '{}' was stopped while it started", start.name())));
  Result<engine::JobStatus> job = *started;
  const std::int64_t before = start.has_from_checkpoint() ? started->step : 0;
  const bool isScript = !start.command().empty() && call.arguments.numWords() > 0;
  if (isScript && !call.arguments.has(kNoWait)) {
    countInterrupts();
    progress.show(start.name() + ": waiting for the first step; Ctrl-C leaves the job running");
    job = awaitFirstStep(session, *started,
                         {.after = before, .is_interrupted = [] { return numInterrupts() > 0; }});
    progress.clear();
    if (!job && job.error().code != ErrorCode::kNotFound) return unknown(job.error());
    if (!job) return failed(job.error());
  }
  const bool hasStep = job->step > before;
  if (job->state == engine::JobState::kFailed)
    return failed(FailedPrecondition(fmt::format("job '{}' failed: {}", job->name, job->reason)));
  if (isScript && !hasStep && job->state == engine::JobState::kSuspended)
    return failed(FailedPrecondition(fmt::format("job '{}' ended before its first step{}: {}",
                                                 job->name,
                                                 job->starts_again ? " and starts again" : "",
                                                 job->reason)));
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
    if (isScript && !hasStep && !job->reason.empty()) fmt::print("{}\n", job->reason);
    if (isScript && !hasStep && job->state == engine::JobState::kRunning)
      fmt::print(
          "its ranks have started, and the first step is not made yet: `tesseractl job logs {} "
          "--follow` shows their output\n",
          job->name);
  }
  return kDone;
}

HelpSection modelSection(const std::string& title, const std::vector<std::string>& names) {
  HelpSection section{title, {}};
  for (const std::string& name : names)
    if (const auto model = engine::FindAnyModel(name))
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
             .fallback = "the model's name, or the program's file name without its ending, with "
                         "dashes for underscores"},
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
            {.name = "pauses-before-updates",
             .value = "",
             .help = "with --exec: as --finishes-updates, and its ranks can pause between a "
                     "decision and its update, so that their state moves while they compute"},
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
            directoryOption(),
            {.name = kNoWait,
             .value = "",
             .help = "with SCRIPT: return when the ranks have started, without waiting up to a "
                     "minute for the first step"},
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
       .sections = {modelSection("Models", engine::ModelNames()),
                    modelSection("Models that only simulated clusters run",
                                 engine::LargeModelNames()),
                    settingSection()}},
      runStart};
}

}  // namespace tessera::app
