// SPDX-License-Identifier: Apache-2.0
#include "engine/search/overlap.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/model/job_layout.h"
#include "engine/search/estimate.h"
#include "engine/search/fit.h"
#include "engine/store/memory_needs.h"
#include "ptc/base/at.h"

namespace tessera::engine {
namespace {

/// The gradients of the parameters of a job, cut as these are.
Result<ptc::RuledTensors> GradientsOf(const JobSettings& settings, const StepOptions& options) {
  TESSERA_TRY(ptc::RuledTensors tensors, TensorsOf(settings, options.zero));
  std::vector<ptc::TensorSpec> gradients;
  for (const ptc::TensorSpec& tensor : tensors.tensors->tensors()) {
    if (tensor.role != ptc::TensorRole::kParam) continue;
    gradients.push_back(tensor);
    gradients.back().dtype = ptc::DType::kF32;
  }
  TESSERA_TRY(tensors.tensors,
              ptc::Collection::Make(std::move(gradients), tensors.tensors->num_layers()));
  return tensors;
}

/// The gradients in both layouts.
struct GradientLayouts {
  ptc::Layout from, to;
};
Result<GradientLayouts> GradientLayoutsOf(const OverlapInput& input) {
  const SearchInput& job = *input.job;
  TESSERA_TRY(const ptc::RuledTensors old, GradientsOf(job.settings, job.options));
  TESSERA_TRY(const ptc::RuledTensors next, GradientsOf(job.settings, input.to_options));
  TESSERA_TRY(ptc::Layout from, MakeLayout(old, job.layout->mesh()));
  TESSERA_TRY(ptc::Layout to, MakeLayout(next, input.to->mesh()));
  return GradientLayouts{std::move(from), std::move(to)};
}

/// The moves of the gradients, as far as costs and bytes go.
/// \param only some of them; nullptr: all
Result<ptc::Outline> GradientPlan(const OverlapInput& input, const GradientLayouts& layouts,
                                  const std::vector<int>* only = nullptr) {
  const bool is_relayed = !input.plan->relays.empty();
  return ptc::MakeOutline(
      layouts.from, layouts.to, input.plan->topology,
      {.relaying = is_relayed ? ptc::Relaying::kAlways : ptc::Relaying::kNever, .only = only});
}

/// Bytes of gradients that move before the last leg: those of a leg with each leg after it.
Result<std::int64_t> FollowBytes(const OverlapInput& input, const GradientLayouts& layouts,
                                 const std::vector<std::vector<int>>& legs) {
  const auto& tensors = input.job->layout->collection().tensors();
  std::map<std::string_view, int> gradients;
  for (const ptc::TensorSpec& gradient : layouts.from.collection().tensors()) {
    gradients.emplace(gradient.name, static_cast<int>(gradients.size()));
  }
  std::int64_t bytes = 0;
  for (std::size_t leg = 0; leg + 1 < legs.size(); ++leg) {
    std::vector<int> only;
    for (const int tensor : legs[leg]) {
      const auto gradient = gradients.find(tensors[At(tensor)].name);
      if (gradient != gradients.end()) only.push_back(gradient->second);
    }
    std::sort(only.begin(), only.end());
    TESSERA_TRY(const ptc::Outline plan, GradientPlan(input, layouts, &only));
    bytes += plan.bytes.moved() * static_cast<std::int64_t>(legs.size() - 1 - leg);
  }
  return bytes;
}

/// Why the state cannot be copied while the job computes, as one sentence; empty if it can.
std::string ObstacleOf(const OverlapInput& input) {
  const SearchInput& job = *input.job;
  if (input.is_recovery) return "The job has no ranks that could compute meanwhile.";
  if (job.is_paused) return "The job is paused already.";
  if (job.settings.program && !job.settings.program->pauses_before_updates) {
    return fmt::format("'{}' runs a program that does not pause before an update.", job.job);
  }
  if (job.settings.at_change != AtChange::kKeep) {
    return fmt::format("'{}' forgets something at a change ({}), for teaching.", job.job,
                       ToString(job.settings.at_change));
  }
  for (const ptc::DeviceId device : input.plan->devices) {
    const auto known = job.capacities.find(device);
    if (known == job.capacities.end()) continue;
    const std::int64_t needed = input.needs->DuringMove(
        job.layout->mesh().RankOf(device), input.to->mesh().RankOf(device), OldGradients::kKept);
    if (needed <= known->second) continue;
    return fmt::format("{} would need {} beside the gradients, it has {}.", ToString(device),
                       BytesText(needed), BytesText(known->second));
  }
  return {};
}

/// Whether agents can make the update of a step to what they have copied: they know it, each device
/// has all optimizer state of its parameters, the host reaches its memory, and there is room for
/// the gradients of a step.
bool CanFollow(const OverlapInput& input) {
  const SearchInput& job = *input.job;
  if (job.settings.program || job.options.zero || input.to_options.zero) return false;
  if (job.on_gpus) return false;
  return std::ranges::all_of(job.layout->mesh().devices(), [&](ptc::DeviceId device) {
    const auto known = job.capacities.find(device);
    return known == job.capacities.end() || DuringFollow(input, device) <= known->second;
  });
}

}  // namespace

std::int64_t DuringFollow(const OverlapInput& input, ptc::DeviceId device) {
  const std::optional<int> from = input.job->layout->mesh().RankOf(device);
  const std::int64_t needed =
      input.needs->DuringMove(from, input.to->mesh().RankOf(device), OldGradients::kKept);
  return from ? needed + input.needs->OldGradientsOf(*from) : needed;
}

Result<OverlapChoice> PlanOverlap(const OverlapInput& input) {
  const SearchInput& job = *input.job;
  OverlapChoice choice;
  OverlapPlan& out = choice.plan;
  const double transfer = EstimatePause(*input.plan);
  out.plain_pause = transfer + SecondsOfReplicas(*job.layout, *input.to, input.plan->topology);
  out.why = ObstacleOf(input);
  if (!out.why.empty()) {
    if (input.wish != OverlapWish::kOn) return choice;
    return FailedPrecondition("the state cannot be copied while the job computes: " + out.why);
  }
  TESSERA_TRY(const GradientLayouts layouts, GradientLayoutsOf(input));
  TESSERA_TRY(const ptc::Outline gradients, GradientPlan(input, layouts));
  out.gradient_bytes = gradients.bytes.moved();
  SearchInput now = job;
  now.devices = job.layout->mesh().devices();
  const auto step = job.step_seconds ? job.step_seconds
                                     : EstimateStepSeconds(now, job.layout->mesh(), job.options);
  const double fixed = PauseCosts().fixed_seconds;
  const double pause = EstimatePause(gradients);
  const CopyTimes times{transfer - fixed, pause - fixed, step.value_or(0)};
  out.pause = pause + std::max(0.0, times.state - times.step);
  if (times.state > times.step && CanFollow(input)) {
    choice.legs = SpreadOverSteps(*input.plan, *job.layout, *input.to, times);
    if (!choice.legs.empty()) {
      out.pause = pause;
      out.steps = static_cast<int>(choice.legs.size());
      TESSERA_TRY(out.follow_bytes, FollowBytes(input, layouts, choice.legs));
    }
  }
  switch (input.wish) {
    case OverlapWish::kOn:
      out.chosen = true;
      out.why = "As requested.";
      break;
    case OverlapWish::kOff:
      out.why = "As requested.";
      break;
    case OverlapWish::kAuto:
      out.chosen = out.pause < out.plain_pause;
      out.why = out.chosen ? "The pause is shorter if only gradients move in it."
                           : "Copying while the job computes would not shorten the pause.";
      break;
  }
  if (!out.chosen) choice.legs.clear();
  return choice;
}

}  // namespace tessera::engine
