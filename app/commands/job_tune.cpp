// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `job tune`: runs the best candidates for some steps each and compares measured with predicted
/// step times. Ctrl-C restores the original configuration.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/commands/command.h"
#include "app/commands/interrupt.h"
#include "app/commands/json.h"
#include "app/commands/placement.h"
#include "app/commands/tuner.h"
#include "app/commands/units.h"

namespace tessera::app {
namespace {

Result<TuneOptions> readTuneOptions(const Arguments& arguments) {
  TuneOptions options;
  TESSERA_TRY(const auto placement, readPlacement(arguments));
  options.devices = placement.devices;
  TESSERA_TRY(options.top, arguments.integer("limit", options.top, 1, 32));
  TESSERA_TRY(options.steps, arguments.integer("steps", options.steps, kTuneWarmUp + 1, 10'000));
  options.keepsBest = arguments.valueOr("keep", "best") == "best";
  return options;
}

int runTune(const Invocation& call) {
  const std::string name = call.arguments.word(0);
  if (const auto good = checkName("job", name); !good) return wrongUsage(good.error());
  TESSERA_OR_USAGE(auto options, readTuneOptions(call.arguments));
  TESSERA_OR_FAILED(auto session, openSession(call));
  countInterrupts();
  const TuneWatch watch{[] { return numInterrupts() > 0; },
                        [&](const TuneActivity& activity, const std::vector<Measurement>&) {
                          if (!call.json) fmt::print(stderr, "{}\n", describeActivity(activity));
                        }};
  TESSERA_OR_FAILED(const auto tuned, tuneJob(session, name, std::move(options), watch));
  if (call.json)
    printLine(toJson(tuned.measurements, tuned.kept));
  else
    fmt::print("{}", describeMeasurements(tuned.measurements));
  if (!tuned.settled) return failed(tuned.settled.error());
  if (!call.json)
    fmt::print("{} runs {}{}\n", name, describeConfiguration(tuned.kept),
               tuned.isBack ? " as before" : "");
  return tuned.stopped || fastest(tuned.measurements) == nullptr ? kFailed : kDone;
}

}  // namespace

Command jobTuneCommand() {
  return {{.verb = "job tune",
           .summary = "Run the configurations with the best estimates and keep the fastest",
           .words = {{"JOB", "name of a running job"}},
           .options = {devicesOption("the job's GPUs"),
                       limitOption("number of configurations to try", "4"),
                       {.name = "steps",
                        .value = "N",
                        .help = "steps to run each; the first 2 do not count",
                        .fallback = "12"},
                       {.name = "keep",
                        .value = "",
                        .help = "configuration that the job runs afterwards",
                        .fallback = "best",
                        .choices = {"best", "original"}},
                       yesOption("accepted but not needed: each change can be rolled back")},
           .notes = {"Each change is an ordinary transaction: training continues and no step is "
                     "lost. Ctrl-C moves the job back to the configuration that it had before."},
           .examples = {"tesseractl job tune gpt-mini",
                        "tesseractl job tune gpt-mini --limit 2 --steps 20 --keep original"}},
          runTune};
}

}  // namespace tessera::app
