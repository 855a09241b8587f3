// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/tuner.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>
#include <utility>

#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "app/commands/proposal.h"

namespace tessera::app {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTunePoll{100};
/// A configuration with a longer step is given up.
constexpr std::chrono::seconds kStepPatience{120};

/// Moves one job through the candidates.
class Tuner {
 public:
  Tuner(Session& session, std::string job, Configuration at, const TuneWatch& watch)
      : m_session(session), m_job(std::move(job)), m_watch(watch), m_at(std::move(at)) {}

  /// Moves the job by an ordinary transaction and waits for its outcome. Does nothing if the job
  /// has that configuration.
  /// \error kFailedPrecondition if it was rolled back, or if the devices have changed;
  ///     kOutcomeUnknown
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
  /// \error kCancelled if the user stops it
  Result<double> measure(std::int64_t steps) {
    TESSERA_TRY(const auto snapshot, m_session.snapshot());
    TESSERA_TRY(const auto job, findJob(snapshot, m_job));
    const std::int64_t first = job.step;
    std::vector<engine::Sample> samples;
    auto lastNews = Clock::now();
    while (std::ssize(samples) < steps + 1) {
      if (m_watch.isStopped()) return Cancelled("interrupted");
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
    return medianStep(samples, kTuneWarmUp);
  }

 private:
  Status await(std::int64_t transaction) {
    for (;;) {
      wire::Request request;
      request.mutable_txn()->set_transaction(transaction);
      const auto unknown = [transaction](const std::string& what) {
        return OutcomeUnknown(fmt::format("transaction {} {}; `tesseractl txn show {}` shows it",
                                          transaction, what, transaction));
      };
      const auto reply = m_session.ask(std::move(request));
      if (!reply) return unknown("is not known: " + reply.error().ToString());
      const wire::HistoryInfo& record = reply->txn().record();
      if (record.result() == "committed") return OkStatus();
      if (record.result() == "unknown")
        return unknown("has an unknown outcome: " + record.reason());
      if (!record.result().empty()) {
        return FailedPrecondition(fmt::format(
            "transaction {} {}: {}", transaction,
            record.result() == "rolled_back" ? "was rolled back" : "failed", record.reason()));
      }
      if (!reply->txn().has_transaction())
        return unknown("does not run, and its record has no outcome");
      const auto txn = agents::Decode(reply->txn().transaction());
      if (!txn) return unknown("is not known: " + txn.error().ToString());
      if (txn->phase == engine::TxnPhase::kNeedsDecision ||
          txn->phase == engine::TxnPhase::kInDoubt) {
        return unknown("needs a decision: " + txn->reason);
      }
      std::this_thread::sleep_for(kTunePoll);
    }
  }

  Session& m_session;
  const std::string m_job;
  const TuneWatch& m_watch;
  Configuration m_at;  // since the last committed transaction
};

}  // namespace

std::string describeActivity(const TuneActivity& activity) {
  const std::string place = describeConfiguration(activity.place);
  if (activity.number == 0) return fmt::format("interrupted: returning to {}", place);
  return fmt::format("{} of {}: {}", activity.number, activity.of, place);
}

Result<TuneResult> tuneJob(Session& session, const std::string& name, TuneOptions options,
                           const TuneWatch& watch) {
  TESSERA_TRY(const auto snapshot, session.snapshot());
  TESSERA_TRY(const auto job, findJob(snapshot, name));
  if (job.state != engine::JobState::kRunning)
    return FailedPrecondition(fmt::format("job '{}' is {}: only a running one can be measured",
                                          name, engine::ToString(job.state)));
  if (options.devices.empty()) options.devices = job.devices;
  TESSERA_TRY(const auto proposal, askProposal(session, name, options.devices, options.top));
  std::vector<engine::Candidate> candidates;
  for (const engine::Candidate& candidate : proposal.candidates)
    if (candidate.fits()) candidates.push_back(candidate);

  const Configuration original{job.mesh, job.devices, job.options, true};
  Tuner tuner(session, name, original, watch);
  TuneResult result;
  std::vector<Measurement>& measurements = result.measurements;
  for (const engine::Candidate& candidate : candidates) {
    const Configuration place = candidate.current ? original
                                                  : Configuration{candidate.mesh, candidate.devices,
                                                                  candidate.options, false};
    watch.say({std::ssize(measurements) + 1, std::ssize(candidates), place}, measurements);
    const Status moved = watch.isStopped() ? Status(Cancelled("interrupted")) : tuner.moveTo(place);
    const Result<double> step = moved ? tuner.measure(options.steps) : moved.error();
    if (!step && step.error().code == ErrorCode::kCancelled) {
      result.stopped = true;
      break;
    }
    measurements.push_back({place, candidate.step_seconds, 0, ""});
    if (step)
      measurements.back().measured = *step;
    else
      measurements.back().failure = step.error().ToString();
  }
  const Measurement* best = fastest(measurements);
  result.isBack = result.stopped || !options.keepsBest || best == nullptr;
  result.kept = result.isBack ? original : best->place;
  if (result.stopped) watch.say({0, std::ssize(candidates), original}, measurements);
  result.settled = tuner.moveTo(result.kept);
  return result;
}

}  // namespace tessera::app
