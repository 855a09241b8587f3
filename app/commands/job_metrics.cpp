// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `job metrics`: one line per step.

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>

#include "app/commands/command.h"
#include "app/commands/json.h"
#include "app/commands/past.h"
#include "app/commands/sample_text.h"
#include "app/commands/terminal.h"
#include "app/commands/units.h"
#include "app/commands/when.h"

namespace tessera::app {
namespace {

constexpr std::int64_t kMostMetricSteps = std::int64_t{1} << 40;

/// Prints samples in their order, with a heading above the steps of each job if there may be
/// several.
class SamplePrinter {
 public:
  SamplePrinter(bool isJson, bool hasHeadings) : m_isJson(isJson), m_hasHeadings(hasHeadings) {}

  void print(const engine::Sample& sample) {
    if (m_isJson) return printLine(toJson(sample));
    if (m_hasHeadings && std::exchange(m_origin, sample.origin) != sample.origin) {
      fmt::print("{}, started {}\n", sample.job,
                 sample.origin > 0 ? formatClock(static_cast<double>(sample.origin) / 1e9) : "-");
    }
    fmt::print("{}\n", sampleText(sample));
  }

 private:
  bool m_isJson, m_hasHeadings;
  std::optional<std::int64_t> m_origin;  // of the job printed last
};

int runMetrics(const Invocation& call) {
  const Arguments& arguments = call.arguments;
  engine::SampleQuery query;
  query.job = arguments.word(0);
  if (const auto good = checkName("job", query.job); !good) return wrongUsage(good.error());
  TESSERA_OR_USAGE(const auto from, arguments.integer("from-step", 0, 0, kMostMetricSteps));
  TESSERA_OR_USAGE(const auto last, arguments.integer("limit", 0, 1, 20'000));
  if (arguments.has("from") && arguments.has("from-step"))
    return wrongUsage(InvalidArgument("--from and --from-step exclude each other"));
  TESSERA_OR_USAGE(const auto range, parseRange(arguments, wallClock()));
  query.time = range;
  query.after_step = from - 1;
  query.all_of_name = arguments.has("earlier");
  SamplePrinter printer(call.json, query.all_of_name);

  TESSERA_OR_FAILED(const auto past, Past::open(call));
  if (const Status known = past.checkJob(query.job); !known) return failed(known.error());
  const auto each = [&](const engine::Sample& sample) {
    printer.print(sample);
    // A job that returns to an earlier step repeats steps, so the sequence number shows which
    // samples are new.
    query.after = sample.sequence;
    return OkStatus();
  };
  if (arguments.has("limit")) {
    query.limit = last;
    query.newest = true;
    TESSERA_OR_FAILED(const auto samples, past.ask(query));
    for (const engine::Sample& sample : samples) static_cast<void>(each(sample));
  }
  bool done = arguments.has("limit"), said = false;
  for (;;) {
    if (!done) {
      const Status printed = forEach(past, query, each);
      if (printed)
        said = false;
      else if (!arguments.has("follow") || !waitsForRegistrar(printed.error(), said))
        return failed(printed.error());
    }
    done = false;
    flushOutput();
    if (outputError() != 0) return kFailed;
    if (!arguments.has("follow") || past.isOver()) return kDone;
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
}

}  // namespace

Command jobMetricsCommand() {
  return {{.verb = "job metrics",
           .summary = "Print loss, gradient norm, tokens per second and metrics of each step",
           .words = {{"JOB", "name of the job"}},
           .options = {limitOption("print only the last N steps", "all"),
                       {.name = "from-step",
                        .value = "STEP",
                        .help = "print only this step and later ones",
                        .fallback = "all"},
                       fromTimeOption(),
                       toTimeOption(),
                       earlierOption("also print the steps of earlier jobs of this name"),
                       followOption("print new steps until interrupted")},
           .notes = {"Jobs that had one name are told apart by the time of their start, "
                     "'job_started' in JSON. Without --earlier the latest one is shown."},
           .examples = {"tesseractl job metrics gpt-mini --limit 20",
                        "tesseractl job metrics gpt-mini --follow",
                        "tesseractl job metrics gpt-mini --from 10m --json"},
           .json = JsonForm::kLines},
          runMetrics};
}

}  // namespace tessera::app
