// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `job metrics`: one line a step.

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "app/commands/command.h"
#include "app/commands/json.h"
#include "app/commands/past.h"
#include "app/commands/units.h"
#include "app/commands/when.h"

namespace tessera::app {
namespace {

constexpr std::int64_t kMostSteps = std::int64_t{1} << 40;

void print(const Invocation& call, const engine::Sample& sample) {
  if (call.json)
    printLine(toJson(sample));
  else
    fmt::print("{}  step {:>6}  loss {:>9.6f}  grad norm {:>9.6f}  {:>8.0f} tokens/s\n",
               formatClock(sample.time), sample.step, sample.loss, sample.grad_norm,
               sample.tokens_per_second);
}

int run(const Invocation& call) {
  const Arguments& arguments = call.arguments;
  engine::SampleQuery query;
  query.job = arguments.word(0);
  if (const auto good = checkName("job", query.job); !good) return wrongUsage(good.error());
  const auto from = arguments.integer("from-step", 0, 0, kMostSteps);
  if (!from) return wrongUsage(from.error());
  const auto last = arguments.integer("last", 0, 1, 20'000);
  if (arguments.has("last") && !last) return wrongUsage(last.error());
  if (arguments.has("since") && arguments.has("from-step"))
    return wrongUsage(InvalidArgument("--since and --from-step are two ways to say the same"));
  if (const auto since = arguments.value("since")) {
    const auto time = parseWhen(*since, wallClock());
    if (!time) return wrongUsage(time.error());
    query.time.from = *time;
  }
  query.after_step = *from - 1;

  auto session = openSession(call);
  if (!session) return failed(session.error());
  const auto each = [&](const engine::Sample& sample) {
    print(call, sample);
    // What is new is told by the order of its making: a job that went back makes steps again.
    query.after = sample.sequence;
    return OkStatus();
  };
  if (arguments.has("last")) {
    query.limit = *last;
    query.newest = true;
    const auto samples = ask(*session, query);
    if (!samples) return failed(samples.error());
    for (const engine::Sample& sample : *samples) static_cast<void>(each(sample));
  }
  bool done = arguments.has("last"), said = false;
  for (;;) {
    if (!done) {
      const Status printed = forEach(*session, query, each);
      if (printed)
        said = false;
      else if (!arguments.has("follow") || !waitsForRegistrar(printed.error(), said))
        return failed(printed.error());
    }
    done = false;
    std::fflush(stdout);
    if (!arguments.has("follow")) return kDone;
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
}

}  // namespace

Command jobMetricsCommand() {
  return {{"job metrics",
           "prints loss, gradient norm and tokens/s of each step",
           {{"JOB", "job"}},
           {{"from-step", "STEP", "only from this step on (default: all)"},
            {"since", "TIME", "only steps made since then: 10m, 2h, 2026-11-21T14:02"},
            {"last", "N", "only the last N of these"},
            {"follow", "", "goes on with new steps until interrupted"}},
           {}},
          run};
}

}  // namespace tessera::app
