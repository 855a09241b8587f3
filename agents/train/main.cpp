// SPDX-License-Identifier: Apache-2.0

/// \file
/// tessera-train: the built-in training job.

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "agents/train/arguments.h"
#include "agents/train/blas_environment.h"
#include "agents/train/evaluate.h"
#include "agents/train/numeric_libraries.h"
#include "agents/train/probe.h"
#include "agents/train/rank.h"
#include "agents/train/solo.h"
#include "engine/files/whole_file.h"
#include "engine/model/gpt.h"

namespace {

using namespace tessera;

constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;

/// Returns all settings with their defaults, in lines of at most 100 characters.
std::string SettingsText() {
  engine::JobSettings settings;
  settings.model = *engine::FindModel("gpt-mini");
  std::string text = " ";
  std::size_t width = 1;
  for (const std::string& setting : engine::SettingNames(settings)) {
    if (width + 1 + setting.size() > 100) {
      text += "\n ";
      width = 1;
    }
    text += " " + setting;
    width += 1 + setting.size();
  }
  return text;
}

std::string Help() {
  const engine::JobSettings defaults;
  std::string models;
  for (const std::string& name : engine::ModelNames()) {
    const auto m = *engine::FindModel(name);
    models += fmt::format("  {:<9} {} layers, width {}, {} heads, sequence {}\n", name, m.layers,
                          m.width, m.heads, m.sequence);
  }
  return fmt::format(
      R"(tessera-train: the built-in training job, a GPT on bytes of text, one process per rank

An agent starts it: `tesseractl job start MODEL`. Without an agent it trains as one process:

  tessera-train --solo MODEL --steps N [--seed S] [--global-batch B] [--set NAME=VALUE]...
                [--data PATH]... [--json]

  --solo MODEL        train MODEL in this process's own memory
  --steps N           stop after N steps; the schedule does not depend on it
  --seed S            of weights, data order and dropout (default {})
  --global-batch B    samples per step (default {})
  --set NAME=VALUE    any setting of the job or its model, may come several times; see below
  --data PATH         text file or folder, may come several times (default: the licences in
                      /usr/share/common-licenses and the sources of the Python library)
  --evaluate PATH     the loss of a checkpoint's parameters on --data, without training, as
                      {{"loss","samples","group","losses"}}, a mean for each group of samples in
                      the order of a pass; --settings FILE holds the job's settings as JSON
  --json              one object per step: {{"step","loss","grad_norm"}}
  --probe             measure what the cost model needs (a few seconds, all cores) and print it as
                      one line of JSON
  --help, --version

Models (vocabulary: the 256 bytes):
{}
Defaults of a job: AdamW with beta {} and {}, weight decay {}; gradients clipped to norm {};
learning rate {} after {} steps of warm-up, then half a cosine down to {} at step {}.

Settings, with their values for gpt-mini:
{}

Environment:
  TESSERA_STEP_TIME=S   each step of a rank takes S seconds at least (a rank that waits leaves its
                        core to others); that of `tesseractl up` reaches its ranks
)",
      defaults.seed, defaults.global_batch, models, defaults.beta1, defaults.beta2,
      defaults.weight_decay, defaults.max_norm, defaults.learning_rate, defaults.warmup_steps,
      defaults.min_learning_rate, defaults.cosine_steps, SettingsText());
}

/// Prints the losses on the samples of --data, and their mean, as one line of JSON.
Status RunEvaluation(const agents::train::Arguments& arguments) {
  TESSERA_TRY(const std::string text, engine::ReadWholeFile(arguments.settings_file));
  TESSERA_TRY(engine::JobSettings settings, engine::ParseJobSettings(text));
  if (settings.program) return InvalidArgument("the settings are those of a program of its own");
  settings.data = arguments.settings.data;
  TESSERA_TRY(const auto evaluation, agents::train::Evaluate(settings, arguments.evaluate));
  for (const std::string& line : evaluation.unread) fmt::print(stderr, "tessera-train: {}\n", line);
  fmt::print("{{\"loss\":{:.17g},\"samples\":{},\"group\":{},\"losses\":[{:.9g}]}}\n",
             evaluation.loss, evaluation.samples, evaluation.group,
             fmt::join(evaluation.losses, ","));
  return OkStatus();
}

/// Starts this program again with the environment that its numeric libraries read when they are
/// loaded. Returns if nothing is missing, or if that fails (then training is only slower).
void ReexecWithEnvironment(char** argv) {
  const auto variables = agents::train::BlasEnvironment();
  if (variables.empty()) return;
  for (const std::string& variable : variables) {
    const auto split = variable.find('=');
    ::setenv(variable.substr(0, split).c_str(), variable.substr(split + 1).c_str(), 1);
  }
  ::execv("/proc/self/exe", argv);
}

/// Exits without running destructors, because threads of abandoned collectives may still run.
[[noreturn]] void Exit(const Status& status) {
  if (!status) fmt::print(stderr, "tessera-train: {}\n", status.error().ToString());
  std::fflush(nullptr);
  ::_exit(status ? 0 : kExitFailed);
}

}  // namespace

int main(int argc, char** argv) {
  const auto arguments = agents::train::ParseArguments({argv + 1, argv + argc});
  if (!arguments) {
    fmt::print(stderr, "tessera-train: {}\n", arguments.error().ToString());
    return kExitUsage;
  }
  if (arguments->help || arguments->version) {
    fmt::print("{}", arguments->help ? Help() : "tessera-train " TESSERA_VERSION "\n");
    return 0;
  }
  const bool alone = arguments->solo || arguments->probe || !arguments->evaluate.empty();
  if (!alone && ::getenv("TESSERA_RANK_SOCKET") == nullptr) {
    fmt::print(stderr,
               "tessera-train: started without an agent; see --help, or --solo MODEL --steps N\n");
    return kExitUsage;
  }
  if (alone) ReexecWithEnvironment(argv);
  if (const std::string warning = agents::train::NumericLibraryWarning(); !warning.empty()) {
    fmt::print(stderr, "tessera-train: {}\n", warning);
  }
  if (arguments->probe) {
    const auto calibration = agents::train::Probe();
    if (!calibration) Exit(calibration.error());
    fmt::print("{}\n", engine::ToJson(*calibration));
    Exit(OkStatus());
  }
  if (!arguments->evaluate.empty()) Exit(RunEvaluation(*arguments));
  if (arguments->solo) {
    Exit(agents::train::RunSolo(arguments->settings, arguments->json, stdout));
  }
  Exit(arguments->finish_update ? agents::train::FinishLastUpdate() : agents::train::RunRank());
}
