// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `job metrics`: one line a step.

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "agents/wire/convert.h"
#include "app/commands/command.h"
#include "app/commands/json.h"
#include "app/commands/session.h"
#include "app/commands/units.h"

namespace tessera::app {
namespace {

constexpr std::int64_t kPage = 1000;

/// The next samples after `step`, at most kPage.
Result<std::vector<engine::Sample>> samplesAfter(Session& session, const std::string& job,
                                                 std::int64_t step) {
  wire::Request request;
  request.mutable_samples()->set_job(job);
  request.mutable_samples()->set_after_step(step);
  request.mutable_samples()->set_limit(kPage);
  TESSERA_TRY(const auto reply, session.ask(std::move(request), ReplyKind::kSamples));
  std::vector<engine::Sample> samples;
  for (const auto& info : reply.samples().samples()) {
    TESSERA_TRY(auto sample, agents::Decode(info));
    samples.push_back(std::move(sample));
  }
  return samples;
}

void print(const Invocation& call, const engine::Sample& sample) {
  if (call.json)
    printLine(toJson(sample));
  else
    fmt::print("{}  step {:>6}  loss {:>9.6f}  grad norm {:>9.6f}  {:>8.0f} tokens/s\n",
               formatClock(sample.time), sample.step, sample.loss, sample.grad_norm,
               sample.tokens_per_second);
}

int run(const Invocation& call) {
  const std::string job = call.arguments.word(0);
  if (const auto good = checkName("job", job); !good) return wrongUsage(good.error());
  const auto after = call.arguments.integer("after", -1, 0, std::int64_t{1} << 40);
  if (!after) return wrongUsage(after.error());
  auto session = openSession(call);
  if (!session) return failed(session.error());
  std::int64_t step = *after;
  for (;;) {
    const auto samples = samplesAfter(*session, job, step);
    if (!samples) return failed(samples.error());
    for (const engine::Sample& sample : *samples) {
      print(call, sample);
      step = sample.step;
    }
    std::fflush(stdout);
    if (std::ssize(*samples) == kPage) continue;
    if (!call.arguments.has("follow")) return kDone;
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
}

}  // namespace

Command jobMetricsCommand() {
  return {{"job metrics",
           "prints loss, gradient norm and tokens/s of each step",
           {{"JOB", "job"}},
           {{"after", "STEP", "only steps after this one (default: all)"},
            {"follow", "", "goes on with new steps until interrupted"}},
           {}},
          run};
}

}  // namespace tessera::app
