// SPDX-License-Identifier: Apache-2.0
/// \file
/// The world of a lesson, and the plans of its changes.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "engine/catalogue/catalogue.h"
#include "engine/lesson/lesson_stage.h"
#include "engine/model/job_layout.h"
#include "engine/search/estimate.h"
#include "engine/search/place_job.h"
#include "engine/search/plan_summary.h"
#include "engine/search/propose.h"
#include "engine/store/memory_needs.h"
#include "ptc/plan/placement.h"

namespace tessera::engine {
namespace {

/// A model of the catalogue, with the optimizer state that a job with AdamW has.
Result<OwnProgram> CatalogueProgram(const std::string& model) {
  OwnProgram program{.command = "lesson", .tensors = {}, .rules = {}};
  TESSERA_TRY(program.tensors, FindCatalogueTensors(model));
  TESSERA_TRY(const ModelFacts facts, FactsOf(program.tensors));
  TESSERA_TRY(program.rules, FindRuleSet(facts.rules));
  std::string& text = program.tensors.text;
  if (text.find("\"optimizer\"") == std::string::npos) {
    text.insert(text.find('{') + 1, R"("optimizer": "adamw", "masters": true, )");
  }
  program.title = facts.title;
  return program;
}

/// The tensors and rules that the lesson brings.
OwnProgram LessonProgram(const LessonJob& job) {
  return {.command = "lesson",
          .tensors = {job.model + " tensors", job.tensors},
          .rules = {job.model + " rules", job.rules},
          .title = job.model};
}

Capacities CapacitiesOf(const LessonWorld& world) {
  Capacities capacities;
  for (const ptc::DeviceId device : world.devices) {
    capacities[device] = world.setup.cluster.memory_bytes;
  }
  return capacities;
}

Status CheckUsable(const LessonState& state, const std::vector<ptc::DeviceId>& devices) {
  for (const ptc::DeviceId device : devices) {
    if (!std::ranges::binary_search(state.world->devices, device)) {
      return InvalidArgument(fmt::format("the cluster has no GPU {}", ptc::ToString(device)));
    }
    if (std::ranges::binary_search(state.lost, device)) {
      return InvalidArgument(fmt::format("GPU {} is lost", ptc::ToString(device)));
    }
  }
  return OkStatus();
}

/// The live devices of the job in rank order, then the idle ones, ascending.
std::vector<ptc::DeviceId> UsableDevices(const LessonState& state) {
  std::vector<ptc::DeviceId> devices;
  const auto add = [&](ptc::DeviceId device) {
    if (!std::ranges::binary_search(state.lost, device) &&
        std::ranges::find(devices, device) == devices.end()) {
      devices.push_back(device);
    }
  };
  std::ranges::for_each(state.layout.mesh().devices(), add);
  std::ranges::for_each(state.world->devices, add);
  return devices;
}

SearchInput InputOf(const LessonState& state, std::vector<ptc::DeviceId> devices) {
  const LessonWorld& world = *state.world;
  SearchInput input{.job = world.setup.job.model,
                    .settings = world.settings,
                    .devices = std::move(devices),
                    .capacities = CapacitiesOf(world),
                    .layout = state.layout,
                    .lost = state.lost,
                    .options = state.options};
  input.machines.topology = world.topology;
  return input;
}

/// Where and how the job is to run.
struct LessonTarget {
  ptc::MeshShape mesh;
  StepOptions options;
  std::vector<ptc::DeviceId> devices;  // as many as ranks
  std::vector<ptc::DeviceId> idle;     // given but not used
  std::string why;
};

Result<LessonTarget> TargetOf(const LessonState& state, const LessonChange& change) {
  LessonTarget target;
  target.options = {change.zero.value_or(state.options.zero),
                    change.micro_batch.value_or(state.options.micro_batch)};
  if (change.devices) {
    TESSERA_RETURN_IF_ERROR(CheckUsable(state, *change.devices));
  }
  if (!change.mesh && !change.pin) {
    std::vector<ptc::DeviceId> devices = change.devices.value_or(UsableDevices(state));
    if (!change.devices) {
      std::erase_if(devices, [&](ptc::DeviceId d) { return !state.layout.mesh().RankOf(d); });
    }
    auto choice = ChooseMesh(InputOf(state, devices), target.options);
    // A micro-batch that is larger than the new share is left to the trainer.
    const bool may_be_large = !change.micro_batch && target.options.micro_batch != 0;
    if (may_be_large && (!choice || !choice->idle.empty())) {
      auto other = ChooseMesh(InputOf(state, devices), StepOptions{target.options.zero, 0});
      if (other && (!choice || other->idle.size() < choice->idle.size())) choice = std::move(other);
    }
    if (!choice) return choice.error();
    target.mesh = choice->mesh;
    target.options = choice->options;
    target.devices = std::move(choice->used);
    target.idle = std::move(choice->idle);
    target.why = std::move(choice->why);
    return target;
  }
  target.mesh = change.mesh.value_or(state.layout.mesh().shape());
  const auto ranks = static_cast<std::size_t>(target.mesh.num_ranks());
  target.devices = change.devices.value_or(UsableDevices(state));
  if (target.devices.size() < ranks) {
    return InvalidArgument(fmt::format("{} needs {} GPUs, there are {}", ptc::ToString(target.mesh),
                                       ranks, target.devices.size()));
  }
  if (change.devices && target.devices.size() > ranks) {
    return InvalidArgument(fmt::format("{} has {} ranks, but {} GPUs are given",
                                       ptc::ToString(target.mesh), ranks, target.devices.size()));
  }
  target.devices.resize(ranks);
  Status can = CheckMesh(state.world->settings, target.mesh, target.options);
  if (!can && !change.micro_batch && target.options.micro_batch != 0) {
    target.options.micro_batch = 0;
    can = CheckMesh(state.world->settings, target.mesh, target.options);
  }
  if (!can) return can.error();
  return target;
}

/// The devices during the move, with the memory that each needs.
void AddPeaks(const LessonState& state, LessonPlanned& planned) {
  MemoryNeeds needs(planned.outline.kinds);
  const std::int64_t capacity = state.world->setup.cluster.memory_bytes;
  for (const ptc::DeviceId device : planned.outline.devices) {
    const bool lost = std::ranges::binary_search(state.lost, device);
    const auto rank = planned.to.mesh().RankOf(device);
    if (lost && !rank) continue;
    const auto old_rank = lost ? std::nullopt : planned.from.mesh().RankOf(device);
    const std::int64_t bytes = needs.DuringMove(old_rank, rank);
    planned.summary.peak_memory.push_back({device, bytes, capacity});
    if (bytes > capacity) planned.fits = false;
  }
}

void AddSummary(const LessonState& state, LessonPlanned& planned) {
  PlanSummary& summary = planned.summary;
  summary =
      SummarizePlan(planned.from, planned.to, planned.outline, state.world->topology, state.lost);
  summary.job = state.world->setup.job.model;
  summary.epoch = state.epoch;
  summary.from_options = state.options;
  summary.to_options = planned.options;
  summary.hash = ptc::Hex16(planned.outline.hash);
  summary.global_batch = GlobalBatchOn(state.world->settings, summary.to_mesh);
}

}  // namespace

Result<std::shared_ptr<const LessonWorld>> LessonWorld::Make(const LessonSetup& setup) {
  auto world = std::make_shared<LessonWorld>();
  world->setup = setup;
  if (!setup.job.tensors.empty()) {
    world->settings.program = LessonProgram(setup.job);
  } else if (auto model = FindModel(setup.job.model)) {
    world->settings.model = *std::move(model);
  } else {
    TESSERA_TRY(world->settings.program, CatalogueProgram(setup.job.model));
  }
  world->settings.global_batch = setup.job.global_batch;
  world->topology.network_bytes_per_second = setup.cluster.network_bytes_per_second;
  world->topology.host_bytes_per_second = setup.cluster.host_bytes_per_second;
  for (std::int32_t node = 0; node < setup.cluster.nodes; ++node) {
    for (std::int32_t gpu = 0; gpu < setup.cluster.gpus; ++gpu) {
      world->devices.push_back({node, gpu});
    }
  }
  return std::shared_ptr<const LessonWorld>(std::move(world));
}

Result<LessonState> StartState(const LessonSetup& setup) {
  TESSERA_TRY(auto world, LessonWorld::Make(setup));
  const StepOptions options{setup.job.zero, setup.job.micro_batch};
  std::vector<ptc::DeviceId> devices = setup.job.devices;
  const auto ranks = static_cast<std::size_t>(setup.job.mesh.num_ranks());
  if (devices.empty()) {
    if (world->devices.size() < ranks) {
      return InvalidArgument(fmt::format("job: {} needs {} GPUs, the cluster has {}",
                                         ptc::ToString(setup.job.mesh), ranks,
                                         world->devices.size()));
    }
    devices.assign(world->devices.begin(),
                   world->devices.begin() + static_cast<std::ptrdiff_t>(ranks));
  }
  for (const ptc::DeviceId device : devices) {
    if (!std::ranges::binary_search(world->devices, device)) {
      return InvalidArgument(fmt::format("job: the cluster has no GPU {}", ptc::ToString(device)));
    }
  }
  TESSERA_RETURN_IF_ERROR(CheckMesh(world->settings, setup.job.mesh, options));
  TESSERA_TRY(const auto tensors, TensorsOf(world->settings, options.zero));
  TESSERA_TRY(auto mesh, ptc::DeviceMesh::Make(setup.job.mesh, std::move(devices)));
  TESSERA_TRY(auto layout, MakeLayout(tensors, std::move(mesh)));
  return LessonState{.world = std::move(world), .layout = std::move(layout), .options = options};
}

Result<std::shared_ptr<const LessonPlanned>> PlanLessonChange(const LessonState& state,
                                                              const LessonChange& change) {
  TESSERA_TRY(LessonTarget target, TargetOf(state, change));
  const LessonWorld& world = *state.world;
  TESSERA_TRY(const auto tensors, TensorsOf(world.settings, target.options.zero));
  std::optional<ptc::DeviceMesh> mesh;
  if (change.pin) {
    TESSERA_TRY(mesh, ptc::DeviceMesh::Make(target.mesh, target.devices));
  } else {
    TESSERA_TRY(mesh, PlaceJob(InputOf(state, target.devices), target.mesh, target.options, tensors,
                               target.devices));
  }
  TESSERA_TRY(auto to, MakeLayout(tensors, *std::move(mesh)));
  const bool holds_lost = std::ranges::any_of(state.lost, [&](ptc::DeviceId device) {
    return state.layout.mesh().RankOf(device).has_value();
  });
  if (to == state.layout && target.options == state.options && !holds_lost) {
    return FailedPrecondition("nothing would change");
  }
  TESSERA_TRY(auto outline, ptc::MakeOutline(state.layout, to, world.topology,
                                             {.lost = state.lost,
                                              .relaying = change.relay ? ptc::Relaying::kIfFaster
                                                                       : ptc::Relaying::kNever}));
  auto planned = std::make_shared<LessonPlanned>(
      LessonPlanned{state.layout, std::move(to), target.options, std::move(outline), {}});
  planned->relay = change.relay;
  AddSummary(state, *planned);
  planned->summary.idle = std::move(target.idle);
  planned->summary.why = std::move(target.why);
  AddPeaks(state, *planned);
  return std::shared_ptr<const LessonPlanned>(std::move(planned));
}

}  // namespace tessera::engine
