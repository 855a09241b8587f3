// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `experiment consistency`: what it costs to lose the data position, or the global batch, at a
/// change of the mesh, tried out on this machine.

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "app/commands/command.h"
#include "app/commands/data.h"
#include "app/commands/interrupt.h"
#include "app/commands/output_file.h"
#include "app/commands/progress_line.h"
#include "app/commands/units.h"
#include "app/experiment/consistency.h"
#include "app/experiment/result_text.h"
#include "app/experiment/svg_plot.h"
#include "app/experiment/text_plot.h"

namespace tessera::app {
namespace {

constexpr int kPlotRows = 18;

Result<ConsistencyOptions> readOptions(const Arguments& arguments) {
  ConsistencyOptions options;
  options.model = arguments.valueOr("model", options.model);
  if (options.model != "gpt-nano" && options.model != "gpt-mini")
    return InvalidArgument(
        fmt::format("--model '{}' is neither gpt-nano nor gpt-mini", options.model));
  constexpr std::int64_t kMost = 1'000'000;
  TESSERA_TRY(options.steps, arguments.integer("steps", options.steps, 4, kMost));
  TESSERA_TRY(options.changeAt, arguments.integer("change-at", options.steps / 2, 2, kMost));
  TESSERA_TRY(options.from, arguments.integer("from", options.from, 1, 16));
  TESSERA_TRY(options.to, arguments.integer("to", options.to, 1, 16));
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

/// Turns Ctrl-C, SIGTERM and a terminal that goes away into a stop.
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
  std::jthread m_watch;  // last: it uses the other
};

Status writeFile(const std::string& path, const std::string& text) {
  TESSERA_TRY(auto file, OutputFile::Open(path, /*force=*/true));
  TESSERA_RETURN_IF_ERROR(file.Write(text));
  return file.Finish();
}

int run(const Invocation& call) {
  const auto options = readOptions(call.arguments);
  if (!options) return wrongUsage(options.error());
  const StopOnInterrupt interrupt;
  ProgressLine progress(call.json);
  const auto result = runConsistency(
      *options, {.progress = [&](const ConsistencyProgress& p) { progress.show(textOf(p)); },
                 .stop = interrupt.token()});
  progress.clear();
  if (!result) return failed(result.error());
  if (call.json) {
    fmt::print("{}\n", engine::ToJson(*result));
  } else {
    const engine::ConsistencySetup& setup = result->setup;
    fmt::print("{} on {}: {} samples of {} tokens a pass, seed {}, {}\n\n", setup.model, setup.data,
               setup.num_samples, setup.sequence, setup.seed, formatSeconds(result->seconds));
    fmt::print("{}\n{}\n{}\n\n{}", tableOf(*result), comparisonOf(*result),
               drawText(plotOf(*result), columnsOfOutput(), kPlotRows, plotStyleOfOutput()),
               wordsOf(*result));
  }
  int code = kDone;
  if (const auto path = call.arguments.value("csv"))
    if (const Status written = writeFile(*path, csvOf(*result)); !written)
      code = failed(written.error());
  if (const auto path = call.arguments.value("svg"))
    if (const Status written = writeFile(*path, drawSvg(plotOf(*result))); !written)
      code = failed(written.error());
  return code;
}

}  // namespace

Command experimentConsistencyCommand() {
  const ConsistencyOptions o;
  return {
      {"experiment consistency",
       "trains a job three times on a cluster of its own, moved to other GPUs on the way, right "
       "and "
       "wrong, and shows what the mistakes cost",
       {},
       {{"model", "NAME", "gpt-nano or gpt-mini (default gpt-nano)"},
        {"steps", "N", fmt::format("steps of a run, which are one pass (default {})", o.steps)},
        {"change-at", "K", "the step after which the GPUs change (default: half of --steps)"},
        {"from", "N", fmt::format("GPUs before the change (default {})", o.from)},
        {"to", "N", fmt::format("GPUs after it (default {})", o.to)},
        {"global-batch", "B",
         fmt::format("samples a step before the change (default {})", o.globalBatch)},
        {"sequence", "L", fmt::format("tokens of a sample (default {})", o.sequence)},
        {"learning-rate", "R",
         fmt::format("constant after the warm-up (default {})", o.learningRate)},
        {"data", "PATH", "text to train on, may be repeated (default: text found on the machine)"},
        {"seed", "S", fmt::format("of weights, text and order (default {})", o.seed)},
        {"reference", "", "also a run that is never moved, to compare the right one with"},
        {"csv", "FILE", "writes run, step, samples and losses, a line a step"},
        {"svg", "FILE", "writes the plot as a picture"}},
       {"runs: right; with the position in the data lost at the change (at_change=lose_position); "
        "with each GPU's batch kept instead of the global one (at_change=keep_device_batch)",
        "Tenplex (SOSP 2024), figure 2, on this machine. No other cluster is touched; Ctrl-C ends "
        "all that was started."}},
      run};
}

}  // namespace tessera::app
