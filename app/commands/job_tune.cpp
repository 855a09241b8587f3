// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `job tune`: runs the best candidates for some steps each and compares measured with predicted
/// step times. Ctrl-C restores the original configuration.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <thread>

#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "app/commands/command.h"
#include "app/commands/interrupt.h"
#include "app/commands/json.h"
#include "app/commands/placement.h"
#include "app/commands/proposal.h"
#include "app/commands/tuning.h"
#include "app/commands/units.h"

namespace tessera::app {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTunePoll{100};
/// The first steps of a configuration are slower, because memory and caches are cold.
constexpr std::int64_t kWarmUp = 2;
/// A configuration with a longer step is given up.
constexpr std::chrono::seconds kStepPatience{120};

/// Moves one job through the candidates.
class Tuner {
 public:
  Tuner(Session& session, std::string job, Configuration at, bool quiet)
      : m_session(session), m_job(std::move(job)), m_quiet(quiet), m_at(std::move(at)) {}

  /// Moves the job by an ordinary transaction and waits for its outcome. Does nothing if the job
  /// has that configuration.
  /// \error kFailedPrecondition if it was rolled back, or if the devices have changed
  Status moveTo(const Configuration& target) {
    if (m_at == target) return OkStatus();
    wire::PlanRequest plan;
    plan.set_job(m_job);
    plan.set_pin(target.isPinned);
    for (const ptc::DeviceId device : target.devices) agents::Encode(device, plan.add_devices());
    agents::Encode(target.mesh, plan.mutable_mesh());
    agents::Encode(target.options, plan.mutable_options());
    wire::Request dryRun;
    *dryRun.mutable_plan() = plan;
    TESSERA_TRY(const auto planned, m_session.ask(std::move(dryRun)));
    wire::Request request;
    *request.mutable_apply()->mutable_plan() = plan;
    request.mutable_apply()->set_plan_hash(planned.plan().hash());
    TESSERA_TRY(const auto begun, m_session.ask(std::move(request)));
    TESSERA_RETURN_IF_ERROR(await(begun.apply().transaction()));
    m_at = target;
    return OkStatus();
  }

  /// Median step time of the next `steps` steps, without the warm-up.
  /// \error kCancelled after Ctrl-C
  Result<double> measure(std::int64_t steps) {
    TESSERA_TRY(const auto snapshot, m_session.snapshot());
    TESSERA_TRY(const auto job, findJob(snapshot, m_job));
    const std::int64_t first = job.step;
    std::vector<engine::Sample> samples;
    auto lastNews = Clock::now();
    while (std::ssize(samples) < steps + 1) {
      if (numInterrupts() > 0) return Cancelled("interrupted");
      if (Clock::now() - lastNews > kStepPatience) {
        return Timeout(fmt::format("no step of '{}' for {} s", m_job, kStepPatience.count()));
      }
      std::this_thread::sleep_for(kTunePoll);
      wire::Request request;
      request.mutable_samples()->set_job(m_job);
      request.mutable_samples()->set_after_step(samples.empty() ? first : samples.back().step);
      request.mutable_samples()->set_limit(steps + 1 - std::ssize(samples));
      TESSERA_TRY(const auto reply, m_session.ask(std::move(request)));
      for (const auto& info : reply.samples().samples()) {
        TESSERA_TRY(auto sample, agents::Decode(info));
        samples.push_back(std::move(sample));
        lastNews = Clock::now();
      }
    }
    return medianStep(samples, kWarmUp);
  }

  void say(const std::string& text) const {
    if (!m_quiet) fmt::print(stderr, "{}\n", text);
  }

 private:
  Status await(std::int64_t transaction) {
    for (;;) {
      wire::Request request;
      request.mutable_txn()->set_transaction(transaction);
      TESSERA_TRY(const auto reply, m_session.ask(std::move(request)));
      const wire::HistoryInfo& record = reply.txn().record();
      if (record.result() == "committed") return OkStatus();
      if (!record.result().empty()) {
        return FailedPrecondition(fmt::format(
            "transaction {} {}: {}", transaction,
            record.result() == "rolled_back" ? "was rolled back" : "failed", record.reason()));
      }
      if (reply.txn().has_transaction()) {
        TESSERA_TRY(const auto txn, agents::Decode(reply.txn().transaction()));
        if (txn.phase == engine::TxnPhase::kNeedsDecision ||
            txn.phase == engine::TxnPhase::kInDoubt) {
          return FailedPrecondition(
              fmt::format("transaction {} needs a decision: {}", transaction, txn.reason));
        }
      }
      std::this_thread::sleep_for(kTunePoll);
    }
  }

  Session& m_session;
  const std::string m_job;
  const bool m_quiet;
  Configuration m_at;  // since the last committed transaction
};

struct TuneOptions {
  std::vector<ptc::DeviceId> devices;
  std::int64_t top = 4, steps = 12;
  bool keepsBest = true;
};

Result<TuneOptions> readTuneOptions(const Arguments& arguments) {
  TuneOptions options;
  TESSERA_TRY(const auto placement, readPlacement(arguments));
  options.devices = placement.devices;
  TESSERA_TRY(options.top, arguments.integer("limit", options.top, 1, 32));
  TESSERA_TRY(options.steps, arguments.integer("steps", options.steps, kWarmUp + 1, 10'000));
  options.keepsBest = arguments.valueOr("keep", "best") == "best";
  return options;
}

int runTune(const Invocation& call) {
  const std::string name = call.arguments.word(0);
  if (const auto good = checkName("job", name); !good) return wrongUsage(good.error());
  TESSERA_OR_USAGE(auto options, readTuneOptions(call.arguments));

  TESSERA_OR_FAILED(auto session, openSession(call));
  TESSERA_OR_FAILED(const auto snapshot, session.snapshot());
  TESSERA_OR_FAILED(const auto job, findJob(snapshot, name));
  if (job.state != engine::JobState::kRunning)
    return failed(FailedPrecondition(fmt::format(
        "job '{}' is {}: only a running one can be measured", name, engine::ToString(job.state))));
  if (options.devices.empty()) options.devices = job.devices;
  TESSERA_OR_FAILED(const auto proposal, askProposal(session, name, options.devices, options.top));
  std::vector<engine::Candidate> candidates;
  for (const engine::Candidate& candidate : proposal.candidates)
    if (candidate.fits()) candidates.push_back(candidate);

  countInterrupts();
  const Configuration original{job.mesh, job.devices, job.options, true};
  Tuner tuner(session, name, original, call.json);
  std::vector<Measurement> measurements;
  std::optional<Error> ended;
  for (const engine::Candidate& candidate : candidates) {
    const Configuration place = candidate.current ? original
                                                  : Configuration{candidate.mesh, candidate.devices,
                                                                  candidate.options, false};
    tuner.say(fmt::format("{} of {}: {}", measurements.size() + 1, candidates.size(),
                          describeConfiguration(place)));
    const Status moved =
        numInterrupts() > 0 ? Status(Cancelled("interrupted")) : tuner.moveTo(place);
    const Result<double> step = moved ? tuner.measure(options.steps) : moved.error();
    if (!step && step.error().code == ErrorCode::kCancelled) {
      ended = step.error();
      break;
    }
    measurements.push_back({place, candidate.step_seconds, 0, ""});
    if (step)
      measurements.back().measured = *step;
    else
      measurements.back().failure = step.error().ToString();
  }
  const Measurement* best = fastest(measurements);
  const bool goesBack = ended || !options.keepsBest || best == nullptr;
  const Configuration& target = goesBack ? original : best->place;
  if (ended)
    tuner.say(fmt::format("interrupted: returning to {}", describeConfiguration(original)));
  const Status settled = tuner.moveTo(target);

  if (call.json)
    printLine(toJson(measurements, target));
  else
    fmt::print("{}", describeMeasurements(measurements));
  if (!settled) return failed(settled.error());
  if (!call.json)
    fmt::print("{} runs {}{}\n", name, describeConfiguration(target), goesBack ? " as before" : "");
  return ended || best == nullptr ? kFailed : kDone;
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
                       reversibleYesOption()},
           .notes = {"Each change is an ordinary transaction: training continues and no step is "
                     "lost. Ctrl-C moves the job back to the configuration that it had before."},
           .examples = {"tesseractl job tune gpt-mini",
                        "tesseractl job tune gpt-mini --limit 2 --steps 20 --keep original"}},
          runTune};
}

}  // namespace tessera::app
