// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/pipeline_view.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>
#include <map>

#include "engine/data/cursor.h"
#include "engine/model/large_models.h"
#include "engine/search/cost_model.h"
#include "ui/format.h"
#include "ui/models/device_names.h"

namespace tessera::ui {
namespace {

using Source = PipelineInput::Source;

/// A picture with more passes would cost more time to make than a frame has.
constexpr std::int64_t kMostPasses = 50'000;

struct PipelineText {
  Q_DECLARE_TR_FUNCTIONS(tessera::ui::PipelineView)
};

/// By rank. Nodes without the name of a host are hosts of their own.
std::vector<std::int32_t> hostsOf(const engine::ClusterSnapshot& cluster,
                                  const std::vector<ptc::DeviceId>& devices) {
  std::map<std::string, std::int32_t> first;  // node, by name of its host
  std::map<std::int32_t, std::int32_t> hostOfNode;
  for (const engine::NodeStatus& node : cluster.nodes) {
    hostOfNode[node.node] = cluster.one_host    ? 0
                            : node.host.empty() ? node.node
                                                : first.emplace(node.host, node.node).first->second;
  }
  std::vector<std::int32_t> hosts;
  hosts.reserve(devices.size());
  for (const ptc::DeviceId device : devices) {
    const auto found = hostOfNode.find(device.node);
    hosts.push_back(found == hostOfNode.end() ? device.node : found->second);
  }
  return hosts;
}

/// The compute seconds of the slowest rank of each stage; empty if a stage has reported none.
std::vector<double> computesOf(const engine::ClusterSnapshot& cluster,
                               const engine::JobStatus& job) {
  std::vector<double> computes(static_cast<std::size_t>(job.mesh[ptc::Axis::kPp]), 0);
  const std::int64_t ranks = job.mesh.num_ranks();
  for (const engine::NodeStatus& node : cluster.nodes) {
    for (const engine::DeviceStatus& device : node.devices) {
      if (device.job != job.name || !device.rank || *device.rank < 0 || *device.rank >= ranks)
        continue;
      const auto stage =
          static_cast<std::size_t>(coordinate(job.mesh, *device.rank, ptc::Axis::kPp));
      computes[stage] = std::max(computes[stage], device.busy_seconds);
    }
  }
  if (std::ranges::any_of(computes, [](double seconds) { return seconds <= 0; })) return {};
  return computes;
}

PipelineView inWords(const QString& words) { return {.words = words}; }

/// All stages with the mean of their times, and sends that take no time: for these holds the
/// formula of the bubble.
engine::PipelineTimes withEqualStages(engine::PipelineTimes times) {
  engine::PipelineTimes::Stage mean;
  const auto count = static_cast<double>(times.stages.size());
  for (const auto& stage : times.stages) {
    mean.forward += stage.forward / count;
    mean.backward += stage.backward / count;
  }
  std::ranges::fill(times.stages, mean);
  std::ranges::fill(times.sends, 0.0);
  return times;
}

QString sourceText(const PipelineInput& input) {
  switch (input.source) {
    case Source::Measured:
      return PipelineText::tr(
          "Measured: what the slowest rank of each stage computes in a step, and the step time. "
          "Modelled: a backward pass takes twice as long as a forward pass, all micro-batches are "
          "equal, and the time of a send.");
    case Source::Simulated:
      return PipelineText::tr(
          "Modelled by the cost model and scaled to the step time: these ranks report no compute "
          "time of each stage.");
    case Source::Draft:
      return PipelineText::tr(
          "Modelled by the cost model for the drafted mesh; nothing is measured.");
    case Source::Lesson:
      return PipelineText::tr(
          "A model: equal stages, backward passes of twice the forward time, and sends that take "
          "no time.");
  }
  return {};
}

}  // namespace

PipelineInput pipelineOf(const engine::ClusterSnapshot& cluster, const engine::JobStatus& job) {
  PipelineInput input{.model = job.command.empty() ? job.model : std::string(),
                      .globalBatch = job.global_batch,
                      .mesh = job.mesh,
                      .options = job.options,
                      .stepSeconds = job.step_seconds};
  if (job.mesh[ptc::Axis::kPp] == 1 || input.model.empty()) return input;
  input.hosts = hostsOf(cluster, job.devices);
  if (!cluster.simulation) input.computes = computesOf(cluster, job);
  if (input.computes.empty()) input.source = Source::Simulated;
  return input;
}

PipelineInput pipelineOf(const engine::ClusterSnapshot& cluster, const engine::JobStatus& job,
                         const engine::PlanSummary& plan) {
  return {.source = Source::Draft,
          .model = job.command.empty() ? job.model : std::string(),
          .globalBatch = plan.global_batch > 0 ? plan.global_batch : job.global_batch,
          .mesh = plan.to_mesh,
          .options = plan.to_options,
          .hosts = hostsOf(cluster, plan.to_devices),
          .stepSeconds = plan.to_step_seconds};
}

PipelineInput pipelineOfLesson(const engine::JobSettings& settings, const ptc::MeshShape& mesh,
                               const engine::StepOptions& options) {
  return {.source = Source::Lesson,
          .model = settings.program ? std::string() : settings.model.name,
          .globalBatch = settings.global_batch,
          .mesh = mesh,
          .options = options,
          .hosts = std::vector<std::int32_t>(static_cast<std::size_t>(mesh.num_ranks()), 0)};
}

PipelineView makePipelineView(const PipelineInput& input) {
  const std::int64_t stages = input.mesh[ptc::Axis::kPp];
  if (stages == 1) {
    return inWords(
        PipelineText::tr("pp = 1: there is no pipeline. Each GPU runs the forward and "
                         "the backward pass of one micro-batch after another."));
  }
  if (input.model.empty()) {
    return inWords(
        PipelineText::tr("This job runs its own program. The order of its passes is not known."));
  }
  engine::JobSettings settings;
  const auto model = engine::FindAnyModel(input.model);
  if (model) settings.model = *model;
  settings.global_batch = input.globalBatch;
  std::vector<ptc::DeviceId> devices;
  for (const std::int32_t host : input.hosts)
    devices.push_back({host, static_cast<std::int32_t>(devices.size())});
  const auto mesh = ptc::DeviceMesh::Make(input.mesh, devices);
  if (!model || !mesh || !engine::CheckMesh(settings, input.mesh, input.options)) {
    return inWords(PipelineText::tr("The passes of this job are not known."));
  }
  const std::int64_t share =
      engine::ShareOfBatch(settings.global_batch, 0, input.mesh[ptc::Axis::kDp]).size();
  const std::int64_t count =
      engine::NumMicroBatches(share, engine::MicroBatch(settings, input.mesh, input.options));
  if (stages * count > kMostPasses) {
    return inWords(PipelineText::tr("%1 stages with %2 micro-batches are too many to draw.")
                       .arg(format::count(stages), format::count(count)));
  }
  engine::Calibration calibration;
  // The picture shows GPUs that compute at the same time, not ranks that share the cores of a host.
  calibration.cores = input.mesh.num_ranks();
  calibration.all_cores_speed = static_cast<double>(calibration.cores);
  engine::PipelineEstimate estimate =
      EstimatePipeline(settings, *mesh, input.options, {}, calibration);
  PipelineView view{.source = sourceText(input)};
  switch (input.source) {
    case Source::Measured:
      for (std::size_t s = 0; s < input.computes.size(); ++s) {
        const double pass = input.computes[s] / static_cast<double>(count);
        estimate.times.stages[s] = {pass * engine::kForwardShare,
                                    pass * (1 - engine::kForwardShare)};
      }
      view.schedule = MakePipelineSchedule(estimate.times);
      view.rest = std::max(0.0, input.stepSeconds.value_or(0) - view.schedule.seconds);
      return view;
    case Source::Lesson:
      view.schedule = MakePipelineSchedule(withEqualStages(std::move(estimate.times)));
      return view;
    case Source::Simulated:
    case Source::Draft:
      view.schedule = MakePipelineSchedule(estimate.times);
      view.rest = estimate.rest;
      if (const double all = view.schedule.seconds + view.rest; input.stepSeconds && all > 0) {
        const double factor = *input.stepSeconds / all;
        view.schedule = MakePipelineSchedule(Scaled(std::move(estimate.times), factor));
        view.rest *= factor;
      }
      return view;
  }
  return view;
}

}  // namespace tessera::ui
