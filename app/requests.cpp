// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/requests.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "agents/wire/convert.h"
#include "agents/wire/history_wire.h"
#include "app/commands/job_past.h"
#include "app/commands/local_cluster.h"
#include "app/commands/measure.h"
#include "app/commands/placement.h"
#include "app/commands/tuner.h"
#include "engine/history/query.h"
#include "ptc/base/overloaded.h"
#include "ptc/topology/topology.h"

namespace tessera::app {
namespace {

/// The registrar gives the node ten seconds.
constexpr std::chrono::seconds kLogTimeout{15};
/// The time limit for acts on folders, which may be slow.
constexpr std::chrono::seconds kCheckpointTimeout{150};
/// A host takes at most 10 s; hosts are measured one after another.
constexpr std::chrono::seconds kLinksTimeout{600};

Result<ui::Answer> carried(const wire::Reply&) { return ui::Answer(ui::Carried{}); }

Status checkIsEmulated(const agents::Profile& profile) {
  if (!profile.directory.empty()) return OkStatus();
  return FailedPrecondition(fmt::format("'{}' is not a cluster of emulated devices", profile.name));
}

Result<ui::Answer> readLinks(const wire::Reply& reply) {
  TESSERA_TRY(const auto cluster,
              ptc::ParseCluster("the registrar's topology", reply.topology().cluster()));
  ui::LinksAnswer answer;
  answer.host_bytes_per_second = cluster.topology.host_bytes_per_second;
  answer.network_bytes_per_second = cluster.topology.network_bytes_per_second;
  answer.source = cluster.topology.source;
  if (!reply.topology().measured().empty()) {
    TESSERA_TRY(answer.measured, engine::ParseLinkSpeeds(reply.topology().measured()));
  }
  return ui::Answer(std::move(answer));
}

Result<ui::Answer> readDigest(const wire::Reply& reply) {
  const wire::DigestReply& digest = reply.digest();
  return ui::Answer(ui::DigestAnswer{digest.job(),
                                     digest.digest(),
                                     digest.step(),
                                     digest.epoch(),
                                     digest.timeline(),
                                     {digest.tensors().begin(), digest.tensors().end()}});
}

Result<ui::Answer> readCheckpoints(const wire::Reply& reply) {
  std::vector<engine::CheckpointEntry> list;
  for (const wire::CheckpointInfo& info : reply.list_checkpoints().checkpoints()) {
    TESSERA_TRY(list.emplace_back(), agents::Decode(info));
  }
  return ui::Answer(std::move(list));
}

Result<ui::Answer> readLoad(const wire::Reply& reply) {
  const wire::LoadCheckpointReply& load = reply.load_checkpoint();
  if (load.transaction() == 0) return ui::Answer(load.text());
  return ui::Answer(fmt::format("transaction {} loads it", load.transaction()));
}

Result<ui::Answer> readRegistrar(const wire::Reply& reply) {
  const wire::RegistrarReply& known = reply.registrar();
  ui::RegistrarAnswer answer{known.node(),  known.endpoint(),   known.events(),
                             known.store(), known.generation(), known.problem()};
  for (const wire::RegisterMember& member : known.members())
    answer.members.push_back(
        {member.place(), member.version(), member.leads(), member.seconds(), member.problem()});
  return ui::Answer(std::move(answer));
}

Result<ui::Answer> readLog(const wire::Reply& reply) {
  return ui::Answer(
      ui::LogAnswer{{reply.log().lines().begin(), reply.log().lines().end()}, reply.log().next()});
}

ui::TuneRow toUi(const Configuration& place) {
  return {.mesh = place.mesh, .options = place.options, .devices = place.devices};
}

ui::TuneAnswer toUi(const std::vector<Measurement>& measurements) {
  ui::TuneAnswer answer;
  for (const Measurement& m : measurements)
    answer.rows.push_back(
        {m.place.mesh, m.place.options, m.place.devices, m.predicted, m.measured, m.failure});
  return answer;
}

Result<ui::Answer> tune(const ui::TuneRequest& request, Session& session,
                        const std::stop_token& stop,
                        const std::function<void(const ui::Answer&)>& progress) {
  const TuneWatch watch{[&] { return stop.stop_requested(); },
                        [&](const TuneActivity& activity, const std::vector<Measurement>& soFar) {
                          ui::TuneAnswer answer = toUi(soFar);
                          answer.doing = {activity.number, activity.of, toUi(activity.place)};
                          if (progress) progress(ui::Answer(std::move(answer)));
                        }};
  TESSERA_TRY(const TuneResult result, tuneJob(session, request.job,
                                               {.devices = {},
                                                .top = request.top,
                                                .steps = request.steps,
                                                .keepsBest = request.keeps_best},
                                               watch));
  if (!result.settled) return result.settled.error();
  ui::TuneAnswer answer = toUi(result.measurements);
  answer.kept = toUi(result.kept);
  answer.stopped = result.stopped;
  return ui::Answer(std::move(answer));
}

void setSimulation(const ui::SimulateRequest& request, wire::SimulateRequest& out) {
  using enum ui::SimulateRequest::Act;
  switch (request.act) {
    case Speed:
      return out.set_speed(request.value);
    case Slow:
      agents::Encode(request.device, out.mutable_slow()->mutable_device());
      return out.mutable_slow()->set_factor(request.value);
    case Cut:
      out.mutable_cut()->set_node(request.device.node);
      return out.mutable_cut()->set_seconds(request.value);
    case Port:
      out.mutable_port()->set_node(request.device.node);
      return out.mutable_port()->set_share(request.value);
    case Restart:
      return out.set_restart_agent(request.device.node);
    case AddNodes:
      return out.mutable_add_nodes()->set_count(static_cast<std::int32_t>(request.value));
  }
}

}  // namespace

Result<std::optional<OneMessage>> messageOf(const ui::Request& request,
                                            const agents::Profile& profile) {
  using Some = Result<std::optional<OneMessage>>;
  OneMessage one;
  const auto set = Overloaded{
      [&](const ui::DigestRequest& r) -> Some {
        one.message.mutable_digest()->set_job(r.job);
        one.timeout = kJobTimeout;
        one.read = readDigest;
        return one;
      },
      [&](const ui::LinksRequest& r) -> Some {
        one.message.mutable_topology()->set_measure(r.measure);
        if (r.measure) one.timeout = kLinksTimeout;
        one.read = readLinks;
        return one;
      },
      [&](const ui::LogRequest& r) -> Some {
        wire::LogRequest& log = *one.message.mutable_log();
        log.set_node(r.node);
        log.set_lines(r.lines);
        log.set_job(r.job);
        log.set_device(r.device);
        log.set_from(r.from);
        one.timeout = kLogTimeout;
        one.read = readLog;
        return one;
      },
      [&](const ui::CheckpointsRequest& r) -> Some {
        one.message.mutable_list_checkpoints()->set_job(r.job);
        one.timeout = kCheckpointTimeout;
        one.read = readCheckpoints;
        return one;
      },
      [&](const ui::DeleteCheckpointRequest& r) -> Some {
        one.message.mutable_delete_checkpoint()->set_path(r.path);
        one.timeout = kCheckpointTimeout;
        one.read = [](const wire::Reply& reply) -> Result<ui::Answer> {
          return ui::Answer(std::int64_t{reply.delete_checkpoint().bytes()});
        };
        return one;
      },
      [&](const ui::LoadCheckpointRequest& r) -> Some {
        wire::LoadCheckpointRequest& load = *one.message.mutable_load_checkpoint();
        load.set_job(r.job);
        load.set_path(r.path);
        load.set_parameters_only(r.parameters_only);
        one.timeout = kCheckpointTimeout;
        one.read = readLoad;
        return one;
      },
      [&](const ui::ThrottleRequest& r) -> Some {
        one.message.mutable_throttle()->set_bytes_per_second(r.bytes_per_second);
        one.read = carried;
        return one;
      },
      [&](const ui::NodeRequest& r) -> Some {
        const bool givesUp = r.act == ui::NodeRequest::Act::GiveUp;
        if (!givesUp) {
          TESSERA_RETURN_IF_ERROR(checkIsEmulated(profile));
        }
        if (r.act == ui::NodeRequest::Act::Start) {
          if (!isSimulated(profile.directory)) return std::nullopt;  // by its keeper, locally
          one.message.mutable_simulate()->set_start_node(r.node);
          one.read = carried;
          return one;
        }
        one.message.mutable_kill_node()->set_node(r.node);
        one.message.mutable_kill_node()->set_give_up(givesUp);
        one.read = carried;
        return one;
      },
      [&](const ui::FailDeviceRequest& r) -> Some {
        TESSERA_RETURN_IF_ERROR(checkIsEmulated(profile));
        agents::Encode(r.device, one.message.mutable_fail_device()->mutable_device());
        one.read = carried;
        return one;
      },
      [&](const ui::SimulateRequest& r) -> Some {
        setSimulation(r, *one.message.mutable_simulate());
        one.read = carried;
        return one;
      },
      [&](const ui::RegistrarRequest&) -> Some {
        one.message.mutable_registrar();
        one.read = readRegistrar;
        return one;
      },
      [&](const ui::CheckMeshRequest& r) -> Some {
        one.message = checkMeshMessage(r.job, r.mesh);
        one.timeout = kCheckMeshTimeout;
        one.read = [](const wire::Reply& reply) -> Result<ui::Answer> {
          TESSERA_TRY(std::string notAsked, notAskedOf(reply));
          return ui::Answer(std::move(notAsked));
        };
        return one;
      },
      [&](const ui::NodeEventsRequest& r) -> Some {
        engine::EventQuery query;
        query.after = r.after;
        query.notes = true;
        query.newest = true;
        agents::Encode(query, one.message.mutable_events());
        one.read = [](const wire::Reply& reply) -> Result<ui::Answer> {
          TESSERA_TRY(auto events, agents::DecodeAll<engine::Event>(reply.events().events()));
          return ui::Answer(std::move(events));
        };
        return one;
      },
      [&](const ui::ProbeRequest& r) -> Some {
        if (!r.measure) return std::nullopt;  // the profile has the last result
        one.message.mutable_probe();
        one.timeout = kProbeTimeout;
        one.read = [kept = profile](const wire::Reply& reply) mutable -> Result<ui::Answer> {
          TESSERA_TRY(auto calibration, keepMeasured(kept, reply));
          return ui::Answer(std::move(calibration));
        };
        return one;
      },
      [](const ui::ScenarioRequest&) -> Some { return std::nullopt; },  // several pages
      [](const ui::TuneRequest&) -> Some { return std::nullopt; }};
  return std::visit(set, request);
}

bool takesLong(const ui::Request& request) {
  return std::holds_alternative<ui::TuneRequest>(request);
}

Result<ui::Answer> carryOut(const ui::Request& request, const agents::Profile& profile,
                            const std::stop_token& stop,
                            const std::function<void(const ui::Answer&)>& progress) {
  if (const auto* act = std::get_if<ui::NodeRequest>(&request)) {
    TESSERA_RETURN_IF_ERROR(startLocalNode(profile, act->node, {}));
    return ui::Answer(ui::Carried{});
  }
  if (std::holds_alternative<ui::ProbeRequest>(request)) {
    TESSERA_TRY(auto calibration, lastMeasured(profile));
    return ui::Answer(std::move(calibration));
  }
  TESSERA_TRY(auto session, openSession(profile));
  session.noted = true;  // the panel shows who operates
  if (const auto* past = std::get_if<ui::ScenarioRequest>(&request)) {
    TESSERA_TRY(const auto scenario, scenarioOfJob(session, past->job));
    return ui::Answer(agents::sim::ToJson(scenario));
  }
  return tune(std::get<ui::TuneRequest>(request), session, stop, progress);
}

}  // namespace tessera::app
