// SPDX-License-Identifier: Apache-2.0
#include "agents/sim/sim_operator.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "agents/wire/convert.h"
#include "ptc/base/check.h"

namespace tessera::agents::sim {
namespace {

/// An own program whose parameters tp cuts, and pp places.
constexpr char kTensors[] = R"({"layers": 2, "tensors": [
  {"name": "h.0.w", "dtype": "f32", "shape": [8], "role": "param"},
  {"name": "h.1.w", "dtype": "f32", "shape": [8], "role": "param"},
  {"name": "step", "dtype": "i64", "shape": [], "role": "scalar"}]})";
constexpr char kRules[] = R"({"rules": [
  {"match": "h.{layer}.w", "cut": {"dims": [["tp"]]}},
  {"match": "step", "cut": "replicate", "stage": "all"}]})";

/// Whether no node of the job has been heard for long.
bool IsUnheard(const engine::ClusterSnapshot& status, const engine::JobStatus& job) {
  return job.state == engine::JobState::kRunning &&
         std::all_of(job.devices.begin(), job.devices.end(), [&](ptc::DeviceId device) {
           const auto node = std::find_if(status.nodes.begin(), status.nodes.end(),
                                          [&](const auto& row) { return row.node == device.node; });
           return node != status.nodes.end() && node->state == engine::NodeState::kUnmanaged;
         });
}

/// A node for which the rounds of a change wait.
std::optional<std::int32_t> LostInRound(const engine::ClusterSnapshot& status) {
  if (!status.transaction || status.transaction->round == 0) return std::nullopt;
  for (const auto* devices : {&status.transaction->from_devices, &status.transaction->to_devices}) {
    for (const ptc::DeviceId device : *devices) {
      for (const engine::NodeStatus& node : status.nodes) {
        const bool is_lost = node.state == engine::NodeState::kUnmanaged;
        if (node.node == device.node && is_lost) return node.node;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

void SimOperator::Request(wire::Request request, OnAnswer then) {
  request.set_id(fmt::format("request-{}", ++requests_));
  request.set_sequence(static_cast<std::uint64_t>(requests_));
  if (request.has_job() || request.has_decision()) paused_epoch_.reset();
  if (then) answers_[request.id()] = std::move(then);
  world_.request(request);
}

void SimOperator::OnReply(const wire::Reply& reply) {
  if (const auto found = answers_.find(reply.id()); found != answers_.end()) {
    const OnAnswer then = std::move(found->second);
    answers_.erase(found);
    then(reply);
  }
  if (reply.has_error()) world_.sim->Note("refused: " + reply.error().message());
  if (reply.has_apply()) ++num_changes_;
}

// Ranks of earlier jobs and epochs are on nodes that were out of reach when those ended.
void SimOperator::OnDecision(const std::string& job, std::int64_t epoch) {
  if (paused_epoch_ && job == job_ && epoch >= *paused_epoch_) {
    world_.sim->Violate("the ranks of a paused job train");
  }
}

std::optional<engine::ClusterSnapshot> SimOperator::Look() {
  wire::Request request;
  request.mutable_status();
  std::optional<engine::ClusterSnapshot> out;
  Request(request, [&](const wire::Reply& reply) {
    auto status = Decode(reply.status());
    TESSERA_CHECK(status.has_value());
    out = std::move(*status);
  });
  answers_.erase(fmt::format("request-{}", requests_));  // the registrar has died
  return out;
}

void SimOperator::Operate() {
  const bool calm = world_.sim->clock.now() > world_.faults_end;
  world_.sim->clock.After(calm ? 3000 : world_.sim->Pick(200, 5000), [this] {
    Operate();
    if (const auto status = Look()) Act(*status);
  });
}

void SimOperator::Act(const engine::ClusterSnapshot& status) {
  const bool calm = world_.sim->clock.now() > world_.faults_end;
  if (status.jobs.empty()) {
    StartJob();
    return;
  }
  const engine::JobStatus& job = status.jobs.front();
  const bool is_suspended =
      job.state == engine::JobState::kSuspended || job.state == engine::JobState::kWaitingDecision;
  wire::Request request;
  if (const auto lost = LostInRound(status); calm && lost) {
    request.mutable_kill_node()->set_node(*lost);
    request.mutable_kill_node()->set_give_up(true);
  } else if (calm && IsUnheard(status, job)) {
    request.mutable_kill_node()->set_node(job.devices.front().node);
    request.mutable_kill_node()->set_give_up(true);
  } else if (job.state == engine::JobState::kFailed) {
    request.mutable_job()->set_act(wire::JobRequest::STOP);
    request.mutable_job()->set_job(job_);
  } else if (job.state == engine::JobState::kPaused && (calm || world_.sim->Chance(0.7))) {
    request.mutable_job()->set_act(wire::JobRequest::RESUME);
    request.mutable_job()->set_job(job_);
  } else if (job.state == engine::JobState::kRunning && !calm && world_.sim->Chance(0.1)) {
    request.mutable_job()->set_act(wire::JobRequest::PAUSE);
    request.mutable_job()->set_job(job_);
    return Request(request, [this, epoch = job.epoch](const wire::Reply& reply) {
      if (reply.has_job()) paused_epoch_ = epoch;
    });
  } else if (is_suspended && (calm || world_.sim->Chance(0.2))) {
    if (job.decision && job.decision->can_continue()) {
      request.mutable_decision()->set_job(job_);
      request.mutable_decision()->set_choice(
          static_cast<std::uint32_t>(engine::LossChoice::kContinue));
    } else if (!job.decision) {
      request.mutable_job()->set_act(wire::JobRequest::RESUME);
      request.mutable_job()->set_job(job_);
    } else {
      return;
    }
  } else if (!calm && world_.sim->Chance(0.015)) {
    // Its name is not used again: the history would have each of its steps twice.
    request.mutable_job()->set_act(wire::JobRequest::STOP);
    request.mutable_job()->set_job(job_);
    return Request(request, [this](const wire::Reply& reply) {
      if (reply.has_job()) job_ = fmt::format("job-{}", ++stops_);
    });
  } else if (!calm && world_.sim->Chance(0.02)) {
    world_.device_fails();
    const ptc::DeviceId device =
        job.devices[static_cast<std::size_t>(world_.sim->Pick(0, std::ssize(job.devices) - 1))];
    world_.sim->Note(ToString(device) + " fails");
    Encode(device, request.mutable_fail_device()->mutable_device());
  } else if (!calm && world_.sim->Chance(0.8)) {
    request.mutable_apply()->mutable_plan()->set_job(job_);
    wire::PlanRequest& plan = *request.mutable_apply()->mutable_plan();
    Encode(ChooseDevices(status, plan.mutable_devices()), plan.mutable_mesh());
    if (plan.devices().empty()) return;
    request.mutable_apply()->set_verify_full(world_.sim->Chance(0.2));
    if (world_.sim->Chance(0.5)) plan.set_overlap(wire::PlanRequest::ON);
    if (world_.sim->Chance(0.25)) {
      plan.set_overlap(wire::PlanRequest::OFF);
      // The tensors of the own program have some bytes, and their piece tables some hundred.
      plan.set_move_memory(world_.is_trainer ? world_.sim->Pick(1 << 17, 1 << 22)
                                             : world_.sim->Pick(300, 1500));
      request.mutable_apply()->set_verify_full(false);
    }
  } else {
    return;
  }
  if (request.has_apply() && known_plan_ && world_.sim->Chance(0.15)) {
    // As a panel does whose picture of the cluster is old.
    *request.mutable_apply()->mutable_plan() = known_plan_->request;
    request.mutable_apply()->set_plan_hash(known_plan_->hash);
    return Request(request, [this, epoch = known_plan_->epoch](const wire::Reply& reply) {
      if (!reply.has_apply() || reply.apply().plan().epoch() == epoch) return;
      world_.sim->Violate(fmt::format("a plan of epoch {} is applied in epoch {}", epoch,
                                      reply.apply().plan().epoch()));
    });
  }
  if (request.has_apply() && world_.sim->Chance(0.3)) {
    wire::Request wanted;
    *wanted.mutable_plan() = request.apply().plan();
    Request(wanted, [this, plan = wanted.plan()](const wire::Reply& reply) {
      if (reply.has_plan()) known_plan_ = {plan, reply.plan().hash(), reply.plan().epoch()};
    });
  }
  Request(request);
}

void SimOperator::StartJob() {
  wire::Request request;
  wire::StartJobRequest& start = *request.mutable_start_job();
  if (world_.is_trainer) {
    start.set_model("gpt-nano");
  } else {  // few tensors: layouts are planned and parsed faster
    start.set_command("train");
    start.set_pauses_before_updates(world_.sim->Chance(0.7));
    start.mutable_tensors()->set_name("tensors");
    start.mutable_tensors()->set_text(kTensors);
    start.mutable_rules()->set_name("rules");
    start.mutable_rules()->set_text(kRules);
  }
  start.set_name(job_);
  if (world_.sim->Chance(0.4)) start.mutable_snapshots()->set_steps(world_.sim->Pick(5, 30));
  const engine::OnFailure on_failure = world_.sim->Chance(0.6)   ? engine::OnFailure::kShrink
                                       : world_.sim->Chance(0.5) ? engine::OnFailure::kAsk
                                                                 : engine::OnFailure::kWait;
  start.set_on_failure(static_cast<std::uint32_t>(on_failure));
  const auto status = Look();
  if (!status) return;
  Encode(ChooseDevices(*status, start.mutable_devices()), start.mutable_mesh());
  Request(request);
}

ptc::MeshShape SimOperator::ChooseDevices(const engine::ClusterSnapshot& status,
                                          google::protobuf::RepeatedPtrField<wire::Device>* out) {
  std::vector<ptc::DeviceId> usable;
  for (const engine::NodeStatus& node : status.nodes) {
    if (node.state != engine::NodeState::kAlive) continue;
    for (const engine::DeviceStatus& device : node.devices) {
      if (!device.failed && world_.sim->Chance(0.7)) usable.push_back(device.id);
    }
  }
  ptc::MeshShape shape;
  auto num = static_cast<std::int64_t>(usable.size());
  if (num > 2 && num % 2 != 0 && world_.sim->Chance(0.5)) --num;
  for (std::int64_t i = 0; i < num; ++i) Encode(usable[static_cast<std::size_t>(i)], out->Add());
  const bool is_even = num % 2 == 0;
  const ptc::Axis other = world_.sim->Chance(0.5) ? ptc::Axis::kTp : ptc::Axis::kPp;
  const std::int64_t across = is_even && world_.sim->Chance(0.5) ? 2 : 1;
  shape[other] = across;
  shape[ptc::Axis::kDp] = std::max<std::int64_t>(num, 1) / across;
  return shape;
}

}  // namespace tessera::agents::sim
