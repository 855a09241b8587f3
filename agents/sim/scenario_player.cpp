// SPDX-License-Identifier: Apache-2.0
#include "agents/sim/scenario_player.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "ptc/base/overloaded.h"

namespace tessera::agents::sim {
namespace {

/// The nodes have joined by then.
constexpr Time kJoined = 1000;

wire::Request RequestOf(const act::Start& start) {
  wire::Request request;
  wire::StartJobRequest& out = *request.mutable_start_job();
  out.set_model(start.model);
  out.set_name(start.job);
  for (const ptc::DeviceId device : start.devices) Encode(device, out.add_devices());
  if (start.mesh) Encode(*start.mesh, out.mutable_mesh());
  for (const auto& [key, value] : start.settings) (*out.mutable_settings())[key] = value;
  out.set_global_batch(start.global_batch);
  out.set_max_steps(start.steps);
  out.set_on_failure(static_cast<std::uint32_t>(start.on_failure));
  if (start.snapshot_every > 0) out.mutable_snapshots()->set_steps(start.snapshot_every);
  return request;
}
wire::Request RequestOf(const act::Apply& apply) {
  wire::Request request;
  wire::PlanRequest& plan = *request.mutable_apply()->mutable_plan();
  plan.set_job(apply.job);
  for (const ptc::DeviceId device : apply.devices) Encode(device, plan.add_devices());
  if (apply.mesh) Encode(*apply.mesh, plan.mutable_mesh());
  return request;
}

}  // namespace

void ScenarioPlayer::Start() {
  VirtualClock& clock = world_.fleet->sim().clock;
  begin_ = clock.now() + kJoined;
  for (const Scenario::Act& act : scenario_.acts) {
    clock.After(TimeOf(act.at) - clock.now(), [this, &act] { Do(act); });
  }
}

Time ScenarioPlayer::TimeOf(double seconds) const {
  return begin_ + static_cast<Time>(std::llround(seconds * 1000));
}

double ScenarioPlayer::now() const {
  return static_cast<double>(world_.fleet->sim().clock.now() - begin_) / 1000;
}

void ScenarioPlayer::Request(wire::Request request, OnAnswer then) {
  request.set_id(fmt::format("act-{}", ++requests_));
  request.set_sequence(static_cast<std::uint64_t>(requests_));
  answers_[request.id()] = std::move(then);
  world_.request(request);
}

void ScenarioPlayer::OnReply(const wire::Reply& reply) {
  const auto found = answers_.extract(reply.id());
  if (!found.empty()) found.mapped()(reply);
}

std::optional<engine::ClusterSnapshot> ScenarioPlayer::Look() {
  std::optional<engine::ClusterSnapshot> out;
  wire::Request request;
  request.mutable_status();
  Request(request, [&](const wire::Reply& reply) {
    auto status = Decode(reply.status());
    if (status) out = std::move(*status);
  });
  return out;
}

void ScenarioPlayer::Ask(const Scenario::Act& act, const wire::Request& request) {
  Request(request, [this, &act](const wire::Reply& reply) {
    world_.done(act, reply.has_error() ? Status(Decode(reply.error())) : OkStatus());
  });
}

void ScenarioPlayer::Do(const Scenario::Act& act) {
  std::visit(
      Overloaded{
          [&](const act::Start& start) { Ask(act, RequestOf(start)); },
          [&](const act::Apply& apply) { Ask(act, RequestOf(apply)); },
          [&](const act::Job& job) {
            wire::Request request;
            request.mutable_job()->set_job(job.job);
            using enum act::Job::Act;
            request.mutable_job()->set_act(job.act == kPause    ? wire::JobRequest::PAUSE
                                           : job.act == kResume ? wire::JobRequest::RESUME
                                                                : wire::JobRequest::STOP);
            Ask(act, request);
          },
          [&](const act::Decide& decide) {
            wire::Request request;
            request.mutable_decision()->set_job(decide.job);
            request.mutable_decision()->set_choice(static_cast<std::uint32_t>(decide.choice));
            Ask(act, request);
          },
          [&](const act::FailDevice& fail) {
            wire::Request request;
            Encode(fail.device, request.mutable_fail_device()->mutable_device());
            Ask(act, request);
          },
          [&](const act::KillNode& node) {
            wire::Request request;
            request.mutable_kill_node()->set_node(node.node);
            Ask(act, request);
          },
          [&](const act::StartNode& node) { world_.done(act, world_.fleet->StartNode(node.node)); },
          [&](const act::RestartAgent& node) {
            world_.done(act, world_.fleet->RestartAgent(node.node));
          },
          [&](const act::AddNodes& nodes) {
            world_.done(act, world_.fleet->AddNodes(nodes.count));
          },
          [&](const act::Slow& slow) {
            world_.done(act, world_.fleet->SetSlow(slow.device, slow.factor));
          },
          [&](const act::Cut& cut) { world_.done(act, world_.fleet->Cut(cut.node, cut.seconds)); },
          [&](const act::Port& port) {
            world_.done(act, world_.fleet->SetPort(port.node, port.share));
          },
          [&](const act::Expect& expect) { world_.done(act, Check(expect)); },
      },
      act.what);
}

Status ScenarioPlayer::Check(const act::Expect& expect) {
  const auto status = Look();
  if (!status) return Unavailable("the registrar does not answer");
  const auto job = std::ranges::find(status->jobs, expect.job, &engine::JobStatus::name);
  if (job == status->jobs.end()) return NotFound(fmt::format("no job '{}'", expect.job));
  const auto differs = [&](const char* what, const auto& found, const auto& wanted) {
    return FailedPrecondition(
        fmt::format("'{}' has {} {}, {} is expected", expect.job, what, found, wanted));
  };
  if (expect.state && job->state != *expect.state) {
    return differs("the state", engine::ToString(job->state), engine::ToString(*expect.state));
  }
  if (expect.devices && std::ssize(job->devices) != *expect.devices) {
    return differs("GPUs:", job->devices.size(), *expect.devices);
  }
  if (expect.mesh && job->mesh != *expect.mesh) {
    return differs("the mesh", ptc::ToString(job->mesh), ptc::ToString(*expect.mesh));
  }
  if (expect.least_step && job->step < *expect.least_step) {
    return differs("the step", job->step, fmt::format("at least {}", *expect.least_step));
  }
  return OkStatus();
}

}  // namespace tessera::agents::sim
