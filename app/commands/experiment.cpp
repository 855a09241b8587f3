// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `experiment consistency`: measures on this machine what it costs to lose the data position or
/// the global batch when the mesh changes.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "app/commands/command.h"
#include "app/commands/data.h"
#include "app/commands/interrupt.h"
#include "app/commands/json.h"
#include "app/commands/output_file.h"
#include "app/commands/progress_line.h"
#include "app/commands/units.h"
#include "app/experiment/consistency.h"
#include "app/experiment/result_text.h"
#include "app/experiment/text_plot.h"

namespace tessera::app {
namespace {

constexpr int kPlotRows = 18;

Result<ConsistencyOptions> readExperiment(const Arguments& arguments) {
  ConsistencyOptions options;
  options.model = arguments.valueOr("model", options.model);
  constexpr std::int64_t kMost = 1'000'000;
  TESSERA_TRY(options.steps, arguments.integer("steps", options.steps, 4, kMost));
  TESSERA_TRY(options.changeAt, arguments.integer("change-at", options.steps / 2, 2, kMost));
  TESSERA_TRY(options.from, arguments.integer("gpus-before", options.from, 1, 16));
  TESSERA_TRY(options.to, arguments.integer("gpus-after", options.to, 1, 16));
  TESSERA_TRY(options.globalBatch, arguments.integer("global-batch", options.globalBatch, 1, 4096));
  TESSERA_TRY(options.sequence, arguments.integer("sequence", options.sequence, 2, 4096));
  TESSERA_TRY(options.learningRate,
              arguments.number("learning-rate", options.learningRate, 1e-6, 1));
  TESSERA_TRY(options.seed, arguments.integer("seed", options.seed, 0, std::int64_t{1} << 40));
  for (const std::string& path : arguments.values("data"))
    options.data.push_back(absoluteData(path));
  options.reference = arguments.has("reference");
  TESSERA_RETURN_IF_ERROR(checkOptions(options));
  return options;
}

std::string textOf(const ConsistencyProgress& p) {
  switch (p.doing) {
    case ConsistencyProgress::Doing::Preparing:
      return "preparing text and a cluster of its own";
    case ConsistencyProgress::Doing::Ending:
      return "ending the cluster";
    case ConsistencyProgress::Doing::Evaluating:
      return fmt::format("{}/{} {:<20} on held-out text", p.run + 1, p.runs,
                         engine::NameOf(p.present));
    case ConsistencyProgress::Doing::Training:
      break;
  }
  return fmt::format(
      "{}/{} {:<20} step {:>4} of {}{}{}", p.run + 1, p.runs, engine::NameOf(p.present), p.step,
      p.steps, p.loss ? fmt::format("  loss {:.3f}", *p.loss) : "",
      p.secondsLeft ? fmt::format("  about {} left", formatSeconds(*p.secondsLeft)) : "");
}

/// Turns Ctrl-C, SIGTERM and SIGHUP into a stop request.
class StopOnInterrupt {
 public:
  StopOnInterrupt() {
    countInterrupts();
    countHangups();
    m_watch = std::jthread([this](const std::stop_token& end) {
      while (!end.stop_requested()) {
        if (numInterrupts() > 0) m_stop.request_stop();
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
      }
    });
  }
  std::stop_token token() const { return m_stop.get_token(); }

 private:
  std::stop_source m_stop;
  std::jthread m_watch;  // last: it uses m_stop
};

Status writeFile(const std::string& path, const std::string& text) {
  TESSERA_TRY(auto file, OutputFile::Open(path, /*force=*/true));
  TESSERA_RETURN_IF_ERROR(file.Write(text));
  return file.Finish();
}

int runExperiment(const Invocation& call) {
  TESSERA_OR_USAGE(const auto options, readExperiment(call.arguments));
  const StopOnInterrupt interrupt;
  ProgressLine progress(call.json);
  const auto result = runConsistency(
      options, {.progress = [&](const ConsistencyProgress& p) { progress.show(textOf(p)); },
                .stop = interrupt.token()});
  progress.clear();
  if (!result) return failed(result.error());
  if (call.json) {
    printLine(Json::parse(engine::ToJson(*result)));
  } else {
    const engine::ConsistencySetup& setup = result->setup;
    fmt::print("{} on {}: {} samples of {} tokens per pass, seed {}, {}\n\n", setup.model,
               setup.data, setup.num_samples, setup.sequence, setup.seed,
               formatSeconds(result->seconds));
    fmt::print("{}\n{}\n{}\n\n{}", tableOf(*result), comparisonOf(*result),
               drawText(plotOf(*result), columnsOfOutput(), kPlotRows, plotStyleOfOutput()),
               wordsOf(*result));
  }
  int code = kDone;
  if (const auto path = call.arguments.value("csv"))
    if (const Status written = writeFile(*path, csvOf(*result)); !written)
      code = failed(written.error());
  return code;
}

}  // namespace

Command experimentConsistencyCommand() {
  const ConsistencyOptions defaults;
  return {
      {.verb = "experiment consistency",
       .summary = "Train a job three times across a change of GPUs, right and wrong, and compare",
       .options = {{.name = "model",
                    .value = "",
                    .help = "model to train",
                    .fallback = "gpt-nano",
                    .choices = {"gpt-nano", "gpt-mini"}},
                   {.name = "steps",
                    .value = "N",
                    .help = "steps of a run, which are one pass over the data",
                    .fallback = fmt::to_string(defaults.steps)},
                   {.name = "change-at",
                    .value = "K",
                    .help = "step after which the GPUs change",
                    .fallback = "half of --steps"},
                   {.name = "gpus-before",
                    .value = "N",
                    .help = "GPUs before the change",
                    .fallback = fmt::to_string(defaults.from)},
                   {.name = "gpus-after",
                    .value = "N",
                    .help = "GPUs after the change",
                    .fallback = fmt::to_string(defaults.to)},
                   {.name = "global-batch",
                    .value = "B",
                    .help = "samples per step before the change",
                    .fallback = fmt::to_string(defaults.globalBatch)},
                   {.name = "sequence",
                    .value = "L",
                    .help = "tokens per sample",
                    .fallback = fmt::to_string(defaults.sequence)},
                   {.name = "learning-rate",
                    .value = "R",
                    .help = "learning rate, constant after the warm-up",
                    .fallback = fmt::format("{}", defaults.learningRate)},
                   {.name = "data",
                    .value = "PATH",
                    .help = "text to train on",
                    .fallback = "text found on the machine",
                    .repeats = true},
                   {.name = "seed",
                    .value = "S",
                    .help = "seed of weights, text and order",
                    .fallback = fmt::to_string(defaults.seed)},
                   {.name = "reference",
                    .value = "",
                    .help = "also train a run that is never moved, to compare the right one with"},
                   {.name = "csv",
                    .value = "FILE",
                    .help = "write run, step, samples and losses, one line per step"}},
       .notes =
           {"The runs: right; with the position in the data lost at the change "
            "(at_change=lose_position); with each GPU's batch kept instead of the global batch "
            "(at_change=keep_device_batch). This is figure 2 of Tenplex (SOSP 2024).",
            "The experiment starts a cluster of its own and touches no other. Ctrl-C ends "
            "everything that it started. The panel shows it as a lesson, with its plot as a "
            "picture."},
       .examples = {"tesseractl experiment consistency",
                    "tesseractl experiment consistency --steps 40 --csv losses.csv"}},
      runExperiment};
}

}  // namespace tessera::app
