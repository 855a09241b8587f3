// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/mesh_return.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "engine/search/fit.h"
#include "ptc/base/counted.h"

namespace tessera::agents {
namespace {

/// "2 GPUs as dp=2"
std::string PlaceText(const EarlierMesh& place) {
  return fmt::format("{} as {}", Counted(place.mesh.num_ranks(), "GPU"),
                     engine::ShortText(place.mesh.shape(), place.options));
}

}  // namespace

void MeshReturn::Consider(Job& job, const engine::ConsistentCut& cut) {
  if (!job.earlier || job.has_tried_return || cut.step > job.earlier->step) return;
  if (!around_.check_free()) return;  // the next call tries again
  job.has_tried_return = true;
  if (!cut.behind.empty() && !around_.rests_at(job)) {
    return Stay(job,
                FailedPrecondition(fmt::format("the update of step {} is missing on {}", cut.step,
                                               Counted(std::ssize(cut.behind), "GPU"))));
  }
  Plan(job);
}

void MeshReturn::Plan(Job& job) {
  wire::PlanRequest request;
  request.set_job(job.name);
  Encode(job.earlier->mesh.shape(), request.mutable_mesh());
  Encode(job.earlier->options, request.mutable_options());
  for (const ptc::DeviceId device : job.earlier->mesh.devices()) {
    Encode(device, request.add_devices());
  }
  request.set_pin(true);
  uses_.plans.Compute(job, request,
                      [this, name = job.name, start = job.start](Result<Planned> planned) {
                        Job* const now = jobs_.Find(name);
                        if (now && now->start == start) OnPlanned(*now, std::move(planned));
                      });
}

void MeshReturn::OnPlanned(Job& job, Result<Planned> planned) {
  if (!job.earlier || !job.has_tried_return) return;  // a user has changed it meanwhile
  const std::optional<std::int64_t> step = around_.rests_at(job);
  if (!step || !around_.check_free()) {
    job.has_tried_return = false;
    return;
  }
  const Status begun = planned ? Begin(job, std::move(*planned), *step) : Status(planned.error());
  if (!begun) Stay(job, begun.error());
}

Status MeshReturn::Begin(Job& job, Planned planned, std::int64_t step) {
  const engine::PlanSummary& summary = planned.summary;
  if (summary.epoch != job.epoch || summary.from_layout_hash != ptc::Hex16(job.layout.hash())) {
    return FailedPrecondition("it has changed while the plan was made");
  }
  job.step = std::max(job.step, step);
  uses_.steps.RecordDecided(job, step);
  TxnOrigin origin;
  origin.unrecorded = true;  // a full disk must not keep a job from coming back
  origin.recovery = Recovery{{}, step, job.reason};
  TESSERA_RETURN_IF_ERROR(uses_.transactions.Begin(job, std::move(planned), std::move(origin)));
  AddEvent(engine::Severity::kWarning, fmt::format("txn {}", uses_.transactions.running()->id),
           fmt::format("{} returns to {}: its ranks have made no step as {}", job.name,
                       PlaceText(*job.earlier),
                       engine::ShortText(job.layout.mesh().shape(), job.options)));
  uses_.transactions.Go();
  return OkStatus();
}

void MeshReturn::Stay(Job& job, const Error& why) {
  const std::string text =
      fmt::format("it does not return to {}: {}", PlaceText(*job.earlier), why.message);
  job.reason += "; " + text;
  AddEvent(engine::Severity::kError, job.name, text);
  static_cast<void>(jobs_.Journal(job));
  MarkDirty();
}

}  // namespace tessera::agents
