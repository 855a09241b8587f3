// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/experiment/consistency.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "app/commands/when.h"
#include "app/experiment/evaluation.h"
#include "app/experiment/experiment_text.h"
#include "app/experiment/private_cluster.h"
#include "app/experiment/private_home.h"
#include "engine/model/gpt.h"

namespace tessera::app {
namespace {

using Clock = std::chrono::steady_clock;
using Progress = ConsistencyProgress;

constexpr std::chrono::milliseconds kPoll{150};
constexpr std::chrono::seconds kStartPatience{150};
/// A run without a step for this long is given up.
constexpr std::chrono::seconds kStall{120};
constexpr std::int64_t kMostSteps = 1'000'000;
constexpr int kNodes = 1;

struct RunPlan {
  engine::ConsistencyRun run;
  std::int64_t maxSteps = 0;
};

/// All runs train on about the same number of samples, so another batch means another number of
/// steps.
std::int64_t stepsOf(const engine::ConsistencyRun& run, const ConsistencyOptions& options,
                     std::int64_t changeAt) {
  if (run.way != engine::AtChange::kKeepDeviceBatch) return options.steps;
  const std::int64_t after = (options.steps - changeAt) * options.from / options.to;
  return changeAt + std::max<std::int64_t>(1, after);
}

std::vector<RunPlan> plansOf(const ConsistencyOptions& options) {
  std::vector<RunPlan> plans;
  const auto add = [&](engine::AtChange way, bool isReference) {
    engine::ConsistencyRun run;
    run.way = way;
    run.is_reference = isReference;
    plans.push_back({run, stepsOf(run, options, options.changeAt)});
  };
  add(engine::AtChange::kKeep, false);
  add(engine::AtChange::kLosePosition, false);
  add(engine::AtChange::kKeepDeviceBatch, false);
  if (options.reference) add(engine::AtChange::kKeep, true);
  return plans;
}

void place(std::int64_t ranks, const auto& addDevice, wire::Mesh* mesh, int devicesANode) {
  ptc::MeshShape shape;
  shape[ptc::Axis::kDp] = ranks;
  agents::Encode(shape, mesh);
  for (std::int64_t rank = 0; rank < ranks; ++rank)
    agents::Encode(ptc::DeviceId{static_cast<std::int32_t>(rank) / devicesANode,
                                 static_cast<std::int32_t>(rank) % devicesANode},
                   addDevice());
}

/// One experiment.
class Experiment {
 public:
  Experiment(const ConsistencyOptions& options, const ConsistencyHooks& hooks)
      : m_options(options),
        m_hooks(hooks),
        m_plans(plansOf(options)),
        m_changeAt(options.changeAt),
        m_devices(static_cast<int>((std::max(options.from, options.to) + kNodes - 1) / kNodes)) {
    m_progress.runs = static_cast<int>(m_plans.size());
  }

  Result<engine::ConsistencyResult> run() {
    const auto begin = Clock::now();
    tell(Progress::Doing::Preparing);
    TESSERA_TRY(const auto home, PrivateHome::make());
    m_folder = home.path();
    TESSERA_RETURN_IF_ERROR(prepareText());
    m_begin = Clock::now();
    for (RunPlan& plan : m_plans) {
      // A fresh cluster for each run, so that runs cannot influence each other.
      endPrivateCluster(home.cluster(kNodes, m_devices));
      TESSERA_TRY(auto cluster, PrivateCluster::start(home, kNodes, m_devices, m_hooks.stop));
      const std::string name(engine::NameOf(plan.run));
      if (const Status made = make(cluster, plan); !made)
        return made.error().code == ErrorCode::kCancelled
                   ? made.error()
                   : Error{made.error().code,
                           fmt::format("run '{}': {}", name, made.error().message),
                           {}};
      // If the change was ready too late, the next runs change at the same later step.
      m_changeAt = std::max(m_changeAt, plan.run.changed_after.value_or(0));
      m_result.runs.push_back(std::move(plan.run));
      ++m_progress.run;
    }
    tell(Progress::Doing::Ending);
    m_result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    m_result.time = wallClock();
    return std::move(m_result);
  }

 private:
  Status prepareText() {
    const std::int64_t samples = m_options.steps * m_options.globalBatch;
    TESSERA_TRY(m_text, writeExperimentText(m_options.data, samples, m_options.heldOut,
                                            m_options.sequence, m_options.seed, m_folder));
    m_result.setup = {.model = m_options.model,
                      .data = m_text.words,
                      .steps = m_options.steps,
                      .change_at = m_options.changeAt,
                      .global_batch = m_options.globalBatch,
                      .sequence = m_options.sequence,
                      .from = m_options.from,
                      .to = m_options.to,
                      .num_samples = samples,
                      .held_out = m_options.heldOut,
                      .seed = m_options.seed,
                      .learning_rate = m_options.learningRate};
    return OkStatus();
  }

  Status make(PrivateCluster& cluster, RunPlan& plan) {
    m_points = 0;
    plan.maxSteps = stepsOf(plan.run, m_options, m_changeAt);
    m_progress.step = 0;
    m_progress.steps = plan.maxSteps;
    m_progress.loss.reset();
    m_progress.present = plan.run;
    tell(Progress::Doing::Training);
    const std::string job(plan.run.is_reference                             ? "reference"
                          : plan.run.way == engine::AtChange::kKeep         ? "right"
                          : plan.run.way == engine::AtChange::kLosePosition ? "position-lost"
                                                                            : "device-batch-kept");
    TESSERA_RETURN_IF_ERROR(cluster.ask(startRequest(job, plan), kStartPatience));
    std::int64_t transaction = 0;
    TESSERA_TRY(const auto started, cluster.job(job));
    plan.run.batch_before = plan.run.batch_after = started.global_batch;
    if (!plan.run.is_reference) {
      TESSERA_TRY(transaction, startChange(cluster, job));
    }
    TESSERA_RETURN_IF_ERROR(train(cluster, job, plan, transaction));
    TESSERA_RETURN_IF_ERROR(finish(cluster, job, plan));
    return cluster.stopJob(job);
  }

  wire::Request startRequest(const std::string& job, const RunPlan& plan) const {
    wire::Request request;
    wire::StartJobRequest& start = *request.mutable_start_job();
    start.set_model(m_options.model);
    start.set_name(job);
    place(
        m_options.from, [&] { return start.add_devices(); }, start.mutable_mesh(), m_devices);
    start.add_data(m_text.training);
    start.set_max_steps(plan.maxSteps);
    start.set_global_batch(m_options.globalBatch);
    start.set_seed(m_options.seed);
    auto& settings = *start.mutable_settings();
    settings["sequence"] = std::to_string(m_options.sequence);
    settings["learning_rate"] = fmt::format("{}", m_options.learningRate);
    settings["min_learning_rate"] = settings["learning_rate"];
    settings["weight_decay"] = fmt::format("{}", 0);
    settings["at_change"] = std::string(engine::ToString(plan.run.way));
    return request;
  }

  Result<std::int64_t> startChange(PrivateCluster& cluster, const std::string& job) const {
    TESSERA_TRY(const auto now, cluster.job(job));
    wire::Request request;
    wire::ApplyRequest& apply = *request.mutable_apply();
    wire::PlanRequest& plan = *apply.mutable_plan();
    plan.set_job(job);
    plan.set_pin(true);
    place(
        m_options.to, [&] { return plan.add_devices(); }, plan.mutable_mesh(), m_devices);
    // If the job is past the step already, it moves as soon as everything is prepared. The runs are
    // compared by the step at which the change really happened.
    if (m_changeAt > now.step + 1) apply.set_at_step(m_changeAt);
    TESSERA_TRY(const auto reply, cluster.ask(std::move(request)));
    return reply.apply().transaction();
  }

  /// Follows the job to its last step and the change to its outcome.
  Status train(PrivateCluster& cluster, const std::string& job, RunPlan& plan,
               std::int64_t transaction) {
    auto lastStep = Clock::now();
    while (true) {
      TESSERA_RETURN_IF_ERROR(cluster.pause(kPoll));
      if (transaction > 0 && !plan.run.changed_after) {
        TESSERA_RETURN_IF_ERROR(followChange(cluster, transaction, &plan.run));
      }
      TESSERA_TRY(const auto now, cluster.job(job));
      const std::int64_t before = m_progress.step;
      TESSERA_RETURN_IF_ERROR(takePoints(cluster, job, plan.run));
      if (m_progress.step > before) lastStep = Clock::now();
      if (now.state == engine::JobState::kFailed || now.state == engine::JobState::kSuspended)
        return FailedPrecondition(fmt::format(
            "the job {}: {}", now.state == engine::JobState::kFailed ? "failed" : "is suspended",
            now.reason));
      const bool isDone = now.state == engine::JobState::kPaused && now.step >= plan.maxSteps;
      if (now.state == engine::JobState::kPaused && !isDone && !now.reason.empty())
        return FailedPrecondition(fmt::format("the job waits: {}", now.reason));
      if (isDone && std::ssize(plan.run.points) >= plan.maxSteps) {
        plan.run.batch_after = now.global_batch;
        if (transaction > 0 && plan.run.changed_after.value_or(plan.maxSteps) >= plan.maxSteps)
          return FailedPrecondition(
              fmt::format("all {} steps were made before the change was ready: more --steps, or a "
                          "later --change-at",
                          plan.maxSteps));
        return OkStatus();
      }
      if (Clock::now() - lastStep > kStall)
        return Timeout(fmt::format("no step for {} s, after step {} of {}", kStall.count(),
                                   m_progress.step, plan.maxSteps));
    }
  }

  Status followChange(PrivateCluster& cluster, std::int64_t transaction,
                      engine::ConsistencyRun* run) {
    wire::Request request;
    request.mutable_txn()->set_transaction(transaction);
    TESSERA_TRY(const auto reply, cluster.ask(std::move(request)));
    if (reply.txn().record().result().empty()) return OkStatus();
    TESSERA_TRY(const auto record, agents::Decode(reply.txn().record()));
    if (record.result != "committed")
      return FailedPrecondition(fmt::format("the change was not made: {}", record.reason));
    run->changed_after = record.step;
    run->pause = record.pause;
    return OkStatus();
  }

  /// Adds the points since the last call. The batch of a step after the change is known only when
  /// the change is, so those points wait until then.
  Status takePoints(PrivateCluster& cluster, const std::string& job, engine::ConsistencyRun& run) {
    TESSERA_TRY(const auto samples, cluster.samples(job, m_points));
    for (const engine::Sample& sample : samples) {
      if (!run.is_reference && !run.changed_after && sample.step > m_changeAt) break;
      run.points.push_back({sample.step, trainedOn(run, sample.step), sample.loss});
      m_progress.fresh.push_back(run.points.back());
      m_points = m_progress.step = sample.step;
      m_progress.loss = sample.loss;
    }
    m_progress.present.changed_after = run.changed_after;
    m_progress.present.batch_before = run.batch_before;
    m_progress.present.batch_after = run.batch_after;
    tell(Progress::Doing::Training);
    return OkStatus();
  }

  std::int64_t trainedOn(const engine::ConsistencyRun& run, std::int64_t step) const {
    const std::int64_t before = std::min(step, run.changed_after.value_or(step));
    const std::int64_t batchAfter = run.way == engine::AtChange::kKeepDeviceBatch
                                        ? run.batch_before / m_options.from * m_options.to
                                        : run.batch_before;
    return before * run.batch_before + (step - before) * batchAfter;
  }

  /// Reads the job's own state after the last step.
  Status finish(PrivateCluster& cluster, const std::string& job, RunPlan& plan) {
    tell(Progress::Doing::Evaluating);
    TESSERA_TRY(const auto state, cluster.state(job));
    TESSERA_TRY(const engine::Cursor end, cursorOf(*state));
    engine::ConsistencyRun& run = plan.run;
    const std::int64_t before = run.changed_after.value_or(plan.maxSteps);
    const std::int64_t after = plan.maxSteps - before;
    const std::int64_t position = end.pass * m_result.setup.num_samples + end.next;
    run.read = {{0, before * run.batch_before}};
    if (after > 0) run.read.push_back({position - after * run.batch_after, position});
    TESSERA_TRY(GroupLosses heldOut, groupLosses(*state, m_text.heldOut, m_folder, m_hooks.stop));
    TESSERA_TRY(GroupLosses pass, groupLosses(*state, m_text.training, m_folder, m_hooks.stop));
    m_result.setup.group = pass.group;
    run.held_out_losses = std::move(heldOut.losses);
    run.pass_losses = std::move(pass.losses);
    return OkStatus();
  }

  void tell(Progress::Doing doing) {
    m_progress.doing = doing;
    m_progress.secondsLeft = secondsLeft();
    if (m_hooks.progress) m_hooks.progress(m_progress);
    m_progress.fresh.clear();
  }

  /// The time from a step until now, including everything between steps.
  std::optional<double> secondsLeft() const {
    std::int64_t all = 0, done = m_progress.step;
    for (std::size_t i = 0; i < m_plans.size(); ++i) {
      all += m_plans[i].maxSteps;
      if (static_cast<int>(i) < m_progress.run) done += m_plans[i].maxSteps;
    }
    const double passed = std::chrono::duration<double>(Clock::now() - m_begin).count();
    if (done < 10 || done > all) return std::nullopt;
    return passed / static_cast<double>(done) * static_cast<double>(all - done);
  }

  const ConsistencyOptions& m_options;
  const ConsistencyHooks& m_hooks;
  std::vector<RunPlan> m_plans;
  std::int64_t m_changeAt;
  const int m_devices;  // per node
  std::string m_folder;
  ExperimentText m_text;
  engine::ConsistencyResult m_result;
  Progress m_progress;
  std::int64_t m_points = 0;  // the last step in the points
  Clock::time_point m_begin = Clock::now();
};

Status outside(const char* option, std::int64_t value, std::int64_t least, std::int64_t most) {
  return InvalidArgument(fmt::format("--{} {} is not from {} to {}", option, value, least, most));
}

}  // namespace

Status checkOptions(const ConsistencyOptions& options) {
  constexpr std::int64_t kMostRanks = 16;
  if (options.steps < 4 || options.steps > kMostSteps)
    return outside("steps", options.steps, 4, kMostSteps);
  if (options.changeAt < 2 || options.changeAt > options.steps - 2)
    return outside("change-at", options.changeAt, 2, options.steps - 2);
  if (options.from < 1 || options.from > kMostRanks)
    return outside("from", options.from, 1, kMostRanks);
  if (options.to < 1 || options.to > kMostRanks) return outside("to", options.to, 1, kMostRanks);
  if (options.from == options.to)
    return InvalidArgument(
        fmt::format("--from and --to are both {}: nothing would change", options.from));
  const std::int64_t most = std::max(options.from, options.to);
  if (options.globalBatch < most || options.globalBatch % options.from != 0)
    return InvalidArgument(
        fmt::format("--global-batch {} is not a multiple of --from {} of at least {}",
                    options.globalBatch, options.from, most));
  TESSERA_TRY(const auto model, engine::FindModel(options.model));
  if (options.sequence < 2 || options.sequence > model.sequence)
    return outside("sequence", options.sequence, 2, model.sequence);
  return OkStatus();
}

Result<engine::ConsistencyResult> runConsistency(const ConsistencyOptions& options,
                                                 const ConsistencyHooks& hooks) {
  TESSERA_RETURN_IF_ERROR(checkOptions(options));
  return Experiment(options, hooks).run();
}

}  // namespace tessera::app
