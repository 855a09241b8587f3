// SPDX-License-Identifier: Apache-2.0
// Hand-ins: a transaction from a layout to itself that replaces all state by that of a client.
#include <fmt/format.h>

#include "agents/registrar/pending_reply.h"
#include "agents/registrar/registrar.h"
#include "engine/cluster/snapshot.h"
#include "engine/store/allocate.h"
#include "ptc/plan/refill.h"

namespace tessera::agents {

void Registrar::OnHandIn(const std::string& request_id, const wire::HandInRequest& request,
                         const ReplyPtr& reply) {
  const auto answer = [&](std::int64_t id) {
    wire::Reply out;
    out.mutable_hand_in()->set_transaction(id);
    reply->Done(std::move(out));
  };
  if (!request.refused().empty()) {
    AddEvent(engine::Severity::kWarning, request.job(),
             fmt::format("hand-in refused: {}{}", request.refused(), reply->RequesterText()));
    return answer(0);
  }
  if (AnswerFromAct(request_id, answer)) return;
  const Result<Job*> found = NeedJob(request.job());
  if (!found) return reply->Fail(found.error());
  Job& job = **found;
  const auto begin = [&]() -> Status {
    TESSERA_RETURN_IF_ERROR(CheckCanApply(job));
    TESSERA_TRY(Planned planned, PlanHandIn(job, request));
    HandIn hand_in{request.step(), {}};
    hand_in.source.set_hand_in(request.hand_in());
    *hand_in.source.mutable_lanes() = request.lanes();
    hand_in.source.set_public_key(request.public_key());
    return BeginTxn(
        job, std::move(planned),
        {.request_id = request_id, .requester = reply->requester(), .hand_in = std::move(hand_in)});
  };
  if (const Status begun = begin(); !begun) {
    AddEvent(
        engine::Severity::kWarning, job.name,
        fmt::format("hand-in refused: {}{}", begun.error().ToString(), reply->RequesterText()));
    return reply->Fail(begun.error());
  }
  AddEvent(
      engine::Severity::kInfo, fmt::format("txn {}", txn_->id),
      fmt::format("{} takes over the handed-in state of step {}, {}{}", job.name, request.step(),
                  engine::BytesText(txn_->planned.plan.bytes.storage), reply->RequesterText()));
  answer(txn_->id);
  Feed(engine::Begin{});
}

Result<Planned> Registrar::PlanHandIn(const Job& job, const wire::HandInRequest& request) const {
  if (request.step() < 0) {
    return InvalidArgument(fmt::format("step {} of a hand-in is negative", request.step()));
  }
  if (request.lanes().empty()) return InvalidArgument("a hand-in names no lanes");
  if (request.layout_hash() != job.layout.hash()) {
    return FailedPrecondition(fmt::format("the state is cut for layout {}, job '{}' has {} now",
                                          ptc::Hex16(request.layout_hash()), job.name,
                                          ptc::Hex16(job.layout.hash())));
  }
  const bool stands = job.state == engine::JobState::kPaused && job.step == request.step();
  if (job.settings.program && !stands) {
    return FailedPrecondition(
        fmt::format("job '{}' runs a program that counts its steps itself, so it must be paused "
                    "after step {}, but it is {} after step {}",
                    job.name, request.step(), ToString(job.state), job.step));
  }
  ptc::Plan plan = ptc::RefillPlan(job.layout);
  engine::PlanSummary summary;
  for (const ptc::DeviceId device : job.layout.mesh().devices()) {
    TESSERA_RETURN_IF_ERROR(CheckDevice(device, job.name));
    const wire::NodeDevice* info = members_.FindDevice(device);
    const std::int64_t capacity = info ? info->capacity() : 0;
    const std::int64_t needed = engine::BytesNeededDuringMove(job.layout, job.layout, device, plan);
    if (needed > capacity) {
      return ResourceExhausted(
          fmt::format("device {} needs {} for the old state and the new, it has {}",
                      ToString(device), engine::BytesText(needed), engine::BytesText(capacity)));
    }
    summary.peak_memory.push_back({device, needed, capacity});
  }
  summary.job = job.name;
  summary.epoch = job.epoch;
  summary.from_layout_hash = ptc::Hex16(job.layout.hash());
  summary.from_mesh = summary.to_mesh = job.layout.mesh().shape();
  summary.from_devices = summary.to_devices = job.layout.mesh().devices();
  summary.from_options = summary.to_options = job.options;
  summary.storage = summary.volume_bound = plan.bytes.storage;
  summary.global_batch = job.settings.global_batch;
  return Planned{job.layout, std::move(plan), std::move(summary),
                 ptc::ToJson(ClusterOf(TopologyNow(), false))};
}

}  // namespace tessera::agents
