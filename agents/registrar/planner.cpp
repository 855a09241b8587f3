// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "agents/registrar/job.h"
#include "agents/registrar/snapshot_forecast.h"
#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "engine/copy/checksum.h"
#include "engine/model/job_layout.h"
#include "engine/search/estimate.h"
#include "engine/search/exposure.h"
#include "engine/search/fit.h"
#include "engine/search/overlap.h"
#include "engine/search/place_job.h"
#include "engine/search/plan_summary.h"
#include "engine/search/rounds.h"
#include "engine/store/memory_needs.h"
#include "ptc/certificate/certificate.h"
#include "ptc/plan/refill.h"

namespace tessera::agents {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr std::int64_t kMostMoveMemory = std::int64_t{1} << 50;

/// A plan is valid for one epoch and one set of options, so its hash covers these too.
std::string HashOf(const ptc::PlanFigures& plan, std::int64_t epoch,
                   const engine::StepOptions& options, std::int64_t move_memory) {
  std::string text =
      fmt::format("{} {} {} {}", ptc::Hex16(plan.hash), epoch, options.zero, options.micro_batch);
  if (move_memory > 0) text += fmt::format(" {}", move_memory);
  return ptc::Hex16(engine::Checksum(std::as_bytes(std::span(text))));
}

engine::OverlapWish WishOf(wire::PlanRequest::Overlap wish) {
  switch (wish) {
    case wire::PlanRequest::ON:
      return engine::OverlapWish::kOn;
    case wire::PlanRequest::OFF:
      return engine::OverlapWish::kOff;
    default:
      return engine::OverlapWish::kAuto;
  }
}

/// Where and how the job is to run.
struct Target {
  ptc::MeshShape shape;
  engine::StepOptions options;
  std::vector<ptc::DeviceId> devices, idle;
  std::string why;
};

Result<Target> ChooseTarget(const engine::SearchInput& job, const wire::PlanRequest& request,
                            std::vector<ptc::DeviceId> devices,
                            const std::vector<ptc::DeviceId>& lost, bool in_rounds) {
  std::optional<engine::StepOptions> asked;
  if (request.has_options()) {
    TESSERA_TRY(asked, Decode(request.options()));
  }
  // The present options. A micro-batch that is larger than the new share is left to the trainer.
  const engine::StepOptions as_now = asked.value_or(job.options);
  const engine::StepOptions relaxed{as_now.zero, 0};
  const bool may_relax = !asked && as_now.micro_batch != 0;
  if (request.has_mesh()) {
    TESSERA_TRY(const ptc::MeshShape shape, Decode(request.mesh()));
    // Its error names both numbers if they differ.
    TESSERA_RETURN_IF_ERROR(ptc::DeviceMesh::Make(shape, devices));
    const Status can = engine::CheckMesh(job.settings, shape, as_now);
    if (can) return Target{shape, as_now, std::move(devices), {}, {}};
    if (!may_relax || !engine::CheckMesh(job.settings, shape, relaxed)) return can.error();
    return Target{shape,
                  relaxed,
                  std::move(devices),
                  {},
                  fmt::format("micro-batch {} is larger than a rank's share with {}: the trainer "
                              "chooses",
                              as_now.micro_batch, ToString(shape))};
  }
  engine::SearchInput input = job;
  input.devices = std::move(devices);
  input.lost = lost;
  input.in_rounds = in_rounds;
  input.aim = !lost.empty()       ? engine::Aim::kKeepReplicas
              : request.use_all() ? engine::Aim::kUseAll
                                  : engine::Aim::kSmallestChange;
  auto choice = engine::ChooseMesh(input, as_now);
  if (may_relax) {  // also if more devices can be used then
    auto other = engine::ChooseMesh(input, relaxed);
    if (other && (!choice || other->idle.size() < choice->idle.size())) choice = std::move(other);
  }
  if (!choice) return choice.error();
  return Target{choice->mesh, choice->options, std::move(choice->used), std::move(choice->idle),
                std::move(choice->why)};
}

/// Fills in the peaks of the devices, old and new state side by side.
/// \error kResourceExhausted naming a device without room
Status PlanAtOnce(const PlanBasis& basis, const ptc::Layout& to, const ptc::Outline& plan,
                  const std::vector<ptc::DeviceId>& lost, engine::MemoryNeeds& needs,
                  engine::PlanSummary& summary) {
  const engine::SearchInput& job = basis.job;
  const ptc::Layout& from = *job.layout;
  for (const ptc::DeviceId device : plan.devices) {
    const bool is_lost = std::find(lost.begin(), lost.end(), device) != lost.end();
    const auto rank = to.mesh().RankOf(device);
    if (is_lost && !rank) continue;
    const auto known = job.capacities.find(device);
    const std::int64_t capacity = known == job.capacities.end() ? 0 : known->second;
    const auto old_rank = is_lost ? std::nullopt : from.mesh().RankOf(device);
    const std::int64_t needed = needs.DuringMove(old_rank, rank);
    if (needed > capacity) {
      std::string text =
          fmt::format("device {} needs {} during the move, it has {}", ToString(device),
                      engine::BytesText(needed), engine::BytesText(capacity));
      const auto rounds = engine::RoundBasis::Of(from, to, *plan.kinds, job.capacities);
      const std::int64_t fits = lost.empty() ? engine::FindMoveMemory(rounds) : 0;
      if (fits >= kMiB) text += fmt::format("; it fits with --move-memory {}M", fits / kMiB);
      if (fits > 0 && fits < kMiB) {
        text += fmt::format("; it fits with --move-memory {}K", fits / 1024);
      }
      return ResourceExhausted(std::move(text));
    }
    summary.peak_memory.push_back({device, needed, capacity});
  }
  return OkStatus();
}

/// The moves of a plan: one outline, or one for each part of what rounds have left.
using Moves = std::variant<ptc::Outline, ptc::MixedPlan>;

Result<Moves> PlanMoves(const PlanBasis& basis, const ptc::Layout& to, ptc::Relaying relaying,
                        const std::vector<ptc::DeviceId>& lost) {
  const ptc::Topology& topology = basis.job.machines.topology;
  if (!basis.remains) {
    TESSERA_TRY(ptc::Outline outline, ptc::MakeOutline(*basis.job.layout, to, topology,
                                                       {.lost = lost, .relaying = relaying}));
    return outline;
  }
  TESSERA_TRY(ptc::MixedPlan mixed,
              ptc::MakeMixedPlan(basis.remains->where, to, topology, {.lost = lost}));
  return mixed;
}

/// Plans rounds that need at most `limit` of a device beside its state, and fills in the peaks.
/// Below 0 a limit is chosen.
/// \error as engine::PlanRounds
Result<std::vector<engine::Round>> PlanInRounds(const PlanBasis& basis, const ptc::Layout& to,
                                                const Moves& moves,
                                                const std::vector<ptc::DeviceId>& lost,
                                                std::int64_t limit, engine::PlanSummary& summary) {
  const engine::SearchInput& job = basis.job;
  engine::RoundBasis begin{{}, &to, &job.capacities, job.layout->hash(), lost};
  if (const auto* const outline = std::get_if<ptc::Outline>(&moves)) {
    begin.parts.push_back({&*job.layout, outline->kinds.get()});
  } else {
    const auto& outlines = std::get<ptc::MixedPlan>(moves).outlines;
    begin.hash = basis.remains->table_hash;
    begin.has_gradients = basis.remains->has_gradients();
    for (std::size_t p = 0; p < outlines.size(); ++p) {
      const ptc::LayoutPart& part = basis.remains->where.parts()[p];
      begin.parts.push_back({&part.layout, outlines[p].kinds.get(), &part.lost});
    }
  }
  if (limit < 0) limit = engine::FindMoveMemory(begin);
  if (limit == 0) limit = kMostMoveMemory;  // the error says what is missing
  TESSERA_TRY(engine::RoundPlan rounds, engine::PlanRounds(begin, limit));
  summary.in_rounds.move_memory = limit;
  summary.in_rounds.rounds = std::ssize(rounds.rounds);
  for (const auto& [device, bytes] : rounds.extra) {
    summary.in_rounds.extra.push_back({device, bytes, 0});
    summary.peak_memory.push_back({device, rounds.peak.at(device), job.capacities.at(device)});
  }
  return std::move(rounds.rounds);
}

}  // namespace

Result<Planned> PlanChange(const PlanBasis& basis, const wire::PlanRequest& request,
                           std::vector<ptc::DeviceId> devices,
                           const std::vector<ptc::DeviceId>& lost) {
  const engine::SearchInput& job = basis.job;
  const ptc::Layout& from = *job.layout;
  const ptc::Topology& topology = job.machines.topology;
  const bool in_rounds = request.move_memory() != 0 || basis.remains;
  TESSERA_TRY(Target target, ChooseTarget(job, request, std::move(devices), lost, in_rounds));
  TESSERA_TRY(const ptc::RuledTensors tensors,
              engine::TensorsOf(job.settings, target.options.zero));
  std::optional<ptc::DeviceMesh> mesh;
  if (request.pin()) {
    TESSERA_TRY(mesh, ptc::DeviceMesh::Make(target.shape, target.devices));
  } else {
    engine::SearchInput placed = job;
    placed.lost = lost;
    TESSERA_TRY(mesh,
                engine::PlaceJob(placed, target.shape, target.options, tensors, target.devices));
  }
  TESSERA_TRY(ptc::Layout to, engine::MakeLayout(tensors, *mesh));
  const auto relaying = request.no_relay() ? ptc::Relaying::kNever : ptc::Relaying::kIfFaster;
  TESSERA_TRY(const Moves moves, PlanMoves(basis, to, relaying, lost));
  const auto* const whole = std::get_if<ptc::Outline>(&moves);
  ptc::PlanFigures figures =
      std::visit([](const auto& plan) { return ptc::FiguresOf(plan); }, moves);
  figures.from_hash = from.hash();
  if (to == from && target.options == job.options && lost.empty() && !basis.remains) {
    const std::string options = ToString(job.options);
    return AlreadyExists(fmt::format("job '{}' already runs {}{}", job.job, ToString(from.mesh()),
                                     options.empty() ? "" : ", " + options));
  }
  engine::PlanSummary summary =
      whole ? engine::SummarizePlan(from, to, *whole, topology, lost)
            : engine::SummarizePlan(from, to, std::get<ptc::MixedPlan>(moves));
  std::vector<engine::Round> rounds;
  std::vector<std::vector<int>> legs;
  if (in_rounds) {
    const std::int64_t limit = request.move_memory() != 0 ? request.move_memory() : -1;
    TESSERA_TRY(rounds, PlanInRounds(basis, to, moves, lost, limit, summary));
    summary.pause_estimate += engine::SecondsOfRounds(std::ssize(rounds));
    summary.overlap.why = "The state moves in rounds.";
  } else {
    engine::MemoryNeeds needs(whole->kinds);
    TESSERA_RETURN_IF_ERROR(PlanAtOnce(basis, to, *whole, lost, needs, summary));
    const engine::OverlapInput overlap{.job = &job,
                                       .to = &to,
                                       .plan = whole,
                                       .needs = &needs,
                                       .to_options = target.options,
                                       .is_recovery = !lost.empty(),
                                       .wish = WishOf(request.overlap())};
    TESSERA_TRY(engine::OverlapChoice choice, engine::PlanOverlap(overlap));
    summary.overlap = std::move(choice.plan);
    legs = std::move(choice.legs);
    if (summary.overlap.chosen) {
      summary.pause_estimate = summary.overlap.pause;
      for (engine::PlanSummary::Peak& peak : summary.peak_memory) {
        peak.bytes = legs.empty()
                         ? needs.DuringMove(from.mesh().RankOf(peak.device),
                                            mesh->RankOf(peak.device), engine::OldGradients::kKept)
                         : engine::DuringFollow(overlap, peak.device);
      }
    }
  }
  summary.job = job.job;
  summary.epoch = basis.epoch;
  summary.from_options = job.options;
  summary.to_options = target.options;
  summary.hash = HashOf(figures, basis.epoch, target.options, summary.in_rounds.move_memory);
  summary.idle = std::move(target.idle);
  summary.why = std::move(target.why);
  summary.global_batch = engine::GlobalBatchOn(job.settings, mesh->shape());
  summary.survival = engine::SurvivalOf(to);
  engine::SearchInput input = job;
  input.devices = mesh->devices();
  summary.from_step_seconds = engine::EstimateStepSeconds(input, from.mesh(), job.options);
  summary.to_step_seconds = engine::EstimateStepSeconds(input, *mesh, target.options);
  if (basis.has_snapshots) {
    summary.snapshots = ForecastSnapshots(to, GuestOf(NodesOf(*mesh), basis.alive)).memory;
  }
  return Planned{std::move(to),     figures,       std::move(summary), basis.cluster,
                 std::move(rounds), basis.remains, std::move(legs)};
}

Result<Planned> PlanHandIn(const PlanBasis& basis) {
  const engine::SearchInput& job = basis.job;
  const ptc::Layout& layout = *job.layout;
  ptc::Outline plan = ptc::RefillOutline(layout);
  engine::MemoryNeeds needs(layout, layout);
  engine::PlanSummary summary;
  for (int rank = 0; rank < layout.mesh().num_ranks(); ++rank) {
    const ptc::DeviceId device = layout.mesh().devices()[static_cast<std::size_t>(rank)];
    const auto known = job.capacities.find(device);
    const std::int64_t capacity = known == job.capacities.end() ? 0 : known->second;
    const std::int64_t needed = needs.DuringRefill(rank);
    if (needed > capacity) {
      return ResourceExhausted(
          fmt::format("device {} needs {} for the old state and the new, it has {}",
                      ToString(device), engine::BytesText(needed), engine::BytesText(capacity)));
    }
    summary.peak_memory.push_back({device, needed, capacity});
  }
  summary.job = job.job;
  summary.epoch = basis.epoch;
  summary.from_layout_hash = ptc::Hex16(layout.hash());
  summary.from_mesh = summary.to_mesh = layout.mesh().shape();
  summary.from_devices = summary.to_devices = layout.mesh().devices();
  summary.from_options = summary.to_options = job.options;
  summary.storage = summary.volume_bound = plan.bytes.storage;
  summary.global_batch = job.settings.global_batch;
  return Planned{layout, ptc::FiguresOf(plan), std::move(summary), basis.cluster};
}

}  // namespace tessera::agents
