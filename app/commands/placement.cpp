// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "app/commands/proposal.h"
#include "app/commands/units.h"

namespace tessera::app {

Result<Placement> readPlacement(const Arguments& arguments) {
  Placement placement;
  if (const auto text = arguments.value("devices")) {
    TESSERA_TRY(placement.devices, ptc::ParseDevices(*text).Context("--devices"));
  }
  if (const auto text = arguments.value("mesh")) {
    TESSERA_TRY(placement.mesh, ptc::ParseMeshShape(*text).Context("--mesh"));
  }
  if (!placement.devices.empty() && placement.mesh) {
    const auto mesh = ptc::DeviceMesh::Make(*placement.mesh, placement.devices);
    if (!mesh) return mesh.error();
  }
  return placement;
}

Result<std::optional<engine::StepOptions>> readStepOptions(const Arguments& arguments,
                                                           engine::StepOptions base) {
  if (!arguments.has("zero") && !arguments.has("micro-batch")) return std::nullopt;
  if (const auto text = arguments.value("zero")) base.zero = *text == "on";
  TESSERA_TRY(base.micro_batch,
              arguments.integer("micro-batch", base.micro_batch, 0, std::int64_t{1} << 20));
  return base;
}

bool readRelay(const Arguments& arguments) { return arguments.valueOr("relay", "auto") != "off"; }

Result<wire::PlanRequest> readPlanRequest(const Arguments& arguments) {
  TESSERA_RETURN_IF_ERROR(checkName("job", arguments.word(0)));
  TESSERA_TRY(const auto placement, readPlacement(arguments));
  if (placement.devices.empty() && !placement.mesh && !arguments.has("zero") &&
      !arguments.has("micro-batch"))
    return InvalidArgument("nothing to change: give --devices, --mesh, --zero or --micro-batch");
  if (placement.devices.empty() && arguments.has("pin"))
    return InvalidArgument("--pin needs --devices, whose order it fixes");
  if (arguments.has("use-all") && (placement.devices.empty() || placement.mesh))
    return InvalidArgument(
        "--use-all chooses the mesh of --devices: give --devices, and no --mesh");
  wire::PlanRequest request;
  request.set_job(arguments.word(0));
  for (const ptc::DeviceId device : placement.devices)
    agents::Encode(device, request.add_devices());
  if (placement.mesh) agents::Encode(*placement.mesh, request.mutable_mesh());
  request.set_pin(arguments.has("pin"));
  request.set_use_all(arguments.has("use-all"));
  request.set_no_relay(!readRelay(arguments));
  const std::string overlap = arguments.valueOr("overlap", "auto");
  request.set_overlap(overlap == "on"    ? wire::PlanRequest::ON
                      : overlap == "off" ? wire::PlanRequest::OFF
                                         : wire::PlanRequest::AUTO);
  if (const auto text = arguments.value("move-memory")) {
    std::int64_t bytes = -1;
    if (*text != "auto") {
      TESSERA_TRY(bytes, parseMemory(*text).Context("--move-memory"));
    }
    if (overlap == "on")
      return InvalidArgument(
          "--overlap on needs old and new state side by side, which --move-memory avoids");
    request.set_move_memory(bytes);
  }
  TESSERA_RETURN_IF_ERROR(readStepOptions(arguments));
  return request;
}

namespace {

/// "dp=2,tp=2 on n0g0,… with zero, micro-batch 4, 0.25 s a step".
std::string describeTarget(const ptc::MeshShape& mesh, const std::vector<ptc::DeviceId>& devices,
                           const engine::StepOptions& options, const std::optional<double>& step) {
  const std::string with = engine::ToString(options);
  return fmt::format("{} on {}{}{}", ptc::ToString(mesh), ptc::ToString(devices),
                     with.empty() ? "" : " with " + with,
                     step ? fmt::format(", {} a step (estimate)", formatSeconds(*step)) : "");
}

/// The devices of a job that is to have another number of them: it keeps those of its first ranks,
/// and gets idle ones, first of the nodes that it is on.
Result<std::vector<ptc::DeviceId>> devicesFor(const ptc::MeshShape& mesh,
                                              const engine::JobStatus& job,
                                              const engine::ClusterSnapshot& snapshot) {
  const auto wanted = static_cast<std::size_t>(mesh.num_ranks());
  std::vector<ptc::DeviceId> devices = job.devices;
  std::vector<ptc::DeviceId> here;
  std::vector<ptc::DeviceId> elsewhere;
  for (const engine::NodeStatus& node : snapshot.nodes) {
    if (node.state != engine::NodeState::kAlive) continue;
    const bool has_ranks =
        std::ranges::any_of(job.devices, [&](ptc::DeviceId id) { return id.node == node.node; });
    for (const engine::DeviceStatus& device : node.devices)
      if (device.job.empty() && !device.joining && !device.failed)
        (has_ranks ? here : elsewhere).push_back(device.id);
  }
  std::ranges::move(here, std::back_inserter(devices));
  std::ranges::move(elsewhere, std::back_inserter(devices));
  if (devices.size() < wanted)
    return InvalidArgument(fmt::format("--mesh {} needs {} GPUs: '{}' has {}, and {} more are idle",
                                       ptc::ToString(mesh), wanted, job.name, job.devices.size(),
                                       devices.size() - job.devices.size()));
  devices.resize(wanted);
  return devices;
}

/// Fills in from the running job what the command line does not change: its devices, and the other
/// one of --zero and --micro-batch.
Status completeFromJob(Session& session, const Arguments& arguments, wire::PlanRequest* request) {
  TESSERA_TRY(const auto given, readStepOptions(arguments));
  if (!given && request->devices_size() > 0) return OkStatus();
  TESSERA_TRY(const auto snapshot, session.snapshot());
  TESSERA_TRY(const auto job, findJob(snapshot, request->job()));
  if (job.state == engine::JobState::kUnknown) return FailedPrecondition(job.reason);
  if (given) {
    TESSERA_TRY(const auto options, readStepOptions(arguments, job.options));
    agents::Encode(*options, request->mutable_options());
  }
  if (request->devices_size() > 0) return OkStatus();
  TESSERA_TRY(const auto placement, readPlacement(arguments));
  std::vector<ptc::DeviceId> devices = job.devices;
  if (placement.mesh) {
    TESSERA_TRY(devices, devicesFor(*placement.mesh, job, snapshot));
  }
  for (const ptc::DeviceId device : devices) agents::Encode(device, request->add_devices());
  // --zero or --micro-batch alone keep the mesh.
  if (!placement.mesh) agents::Encode(job.mesh, request->mutable_mesh());
  return OkStatus();
}

/// What moves when, and the pause of the other way.
std::string describeOverlap(const engine::OverlapPlan& overlap) {
  if (overlap.pause <= 0) return fmt::format("  moves    all in the pause. {}\n", overlap.why);
  const std::string gradients = formatBytes(overlap.gradient_bytes);
  const std::string pause = formatSeconds(overlap.pause);
  const std::string plain = formatSeconds(overlap.plain_pause);
  if (overlap.chosen) {
    const std::string over =
        overlap.steps > 1 ? fmt::format(" over {} steps", overlap.steps) : std::string();
    std::string text = fmt::format(
        "  moves    while the job trains{}, except {} of gradients (pause {} if all in the "
        "pause)\n",
        over, gradients, plain);
    if (overlap.follow_bytes > 0)
      text += fmt::format("           {} of gradients keep the copies up to date meanwhile\n",
                          formatBytes(overlap.follow_bytes));
    return text;
  }
  return fmt::format("  moves    all in the pause (pause {} if only {} of gradients in it)\n",
                     pause, gradients);
}

std::string describeRollback(const engine::PlanSummary& plan) {
  if (plan.in_rounds.rounds > 0) return "until the first round";
  return plan.rollback ? "yes" : "no";
}

}  // namespace

std::string describeCertificate(const engine::PlanCertificate& certificate) {
  if (certificate.port.empty()) return "  busiest port  nothing moves\n";
  std::string text = fmt::format(
      "  busiest port  {}: {} = {} (least of any plan: {} direct, {} with relay)\n",
      certificate.port, formatBytes(certificate.port_bytes), engine::GapText(certificate),
      formatBytes(certificate.direct_bound), formatBytes(certificate.relayed_bound));
  text += fmt::format("  held only once, needed elsewhere  {}\n",
                      formatBytes(certificate.single_source_bytes));
  return text + fmt::format("  bandwidths  {} inside a host, {} between hosts ({})\n",
                            formatRate(certificate.host_bytes_per_second),
                            formatRate(certificate.network_bytes_per_second),
                            certificate.bandwidths_from);
}

Result<engine::PlanSummary> askPlan(Session& session, const Arguments& arguments,
                                    wire::PlanRequest* request) {
  TESSERA_RETURN_IF_ERROR(completeFromJob(session, arguments, request));
  wire::Request message;
  *message.mutable_plan() = *request;
  TESSERA_TRY(const auto reply, session.ask(std::move(message)));
  return agents::Decode(reply.plan());
}

wire::Request checkMeshMessage(const std::string& job, const ptc::MeshShape& mesh) {
  wire::Request message;
  message.mutable_check_mesh()->set_job(job);
  agents::Encode(mesh, message.mutable_check_mesh()->mutable_mesh());
  return message;
}

Result<std::string> notAskedOf(const wire::Reply& reply) {
  const wire::CheckMeshReply& answer = reply.check_mesh();
  if (!answer.refused().empty()) return FailedPrecondition(answer.refused());
  return answer.not_asked();
}

Result<std::string> askProgram(Session& session, const engine::PlanSummary& plan) {
  const auto reply = session.ask(checkMeshMessage(plan.job, plan.to_mesh), kCheckMeshTimeout);
  if (!reply) return reply.error().ToString();
  return notAskedOf(*reply);
}

std::string describeNotAsked(const std::string& why) {
  if (why.empty()) return {};
  return fmt::format("  program  was not asked whether it can run there: {}\n", why);
}

std::string describePlan(const engine::PlanSummary& plan) {
  std::string text = fmt::format("plan {} for {} (epoch {})\n", plan.hash, plan.job, plan.epoch);
  text += fmt::format("  from     {}\n", describeTarget(plan.from_mesh, plan.from_devices,
                                                        plan.from_options, plan.from_step_seconds));
  text += fmt::format("  to       {}\n", describeTarget(plan.to_mesh, plan.to_devices,
                                                        plan.to_options, plan.to_step_seconds));
  if (!plan.idle.empty()) text += fmt::format("  idle     {}\n", ptc::ToString(plan.idle));
  if (!plan.why.empty()) text += fmt::format("  because  {}\n", plan.why);
  if (plan.survival) text += fmt::format("  {}\n", describeSurvival(*plan.survival));
  const std::string without =
      plan.relayed ? fmt::format("(relayed; {} without)", formatBytes(plan.network_direct)) : "";
  text += formatTable({{"  stays in place", formatBytes(plan.kept)},
                       {"  repacked on its device", formatBytes(plan.device)},
                       {"  inside a host", formatBytes(plan.host)},
                       {"  over the network", formatBytes(plan.network), without},
                       {"  moved in all", formatBytes(plan.moved())},
                       {"  least that must move", formatBytes(plan.volume_bound)}},
                      {1});
  text += describeCertificate(plan.certificate);
  text += fmt::format("  pause    {} (estimate); rollback: {}\n",
                      formatSeconds(plan.pause_estimate), describeRollback(plan));
  text += describeOverlap(plan.overlap);
  const engine::MoveInRounds& rounds = plan.in_rounds;
  if (rounds.rounds > 0)
    text += fmt::format("  rounds   {}, each with at most {} beside the state of a GPU\n",
                        rounds.rounds, formatBytes(rounds.move_memory));
  std::vector<std::vector<std::string>> peaks = {{"  device", "peak", "of"}};
  if (rounds.rounds > 0) peaks.front().emplace_back("beside the state");
  for (std::size_t i = 0; i < plan.peak_memory.size(); ++i) {
    const auto& peak = plan.peak_memory[i];
    peaks.push_back(
        {"  " + ptc::ToString(peak.device), formatBytes(peak.bytes), formatBytes(peak.capacity)});
    if (rounds.rounds > 0 && i < rounds.extra.size())
      peaks.back().push_back(formatBytes(rounds.extra[i].planned));
  }
  text += formatTable(peaks, {1, 2, 3});
  if (plan.snapshots.bytes > 0)
    text += fmt::format("  snapshots  {} each, up to {} on n{} (memory of the host)\n",
                        formatBytes(plan.snapshots.bytes), formatBytes(plan.snapshots.peak_bytes),
                        plan.snapshots.peak_node);
  return text;
}

OptionSpec devicesOption(std::string fallback) {
  return {.name = "devices",
          .value = "LIST",
          .help = "GPUs: n0g0,n0g1,... or 2x4 for two nodes of four",
          .fallback = std::move(fallback)};
}
OptionSpec meshOption(std::string fallback) {
  return {.name = "mesh",
          .value = "MESH",
          .help = "dp=2,tp=2,pp=1; axes that are left out are 1",
          .fallback = std::move(fallback)};
}
OptionSpec zeroOption(std::string fallback) {
  return {.name = "zero",
          .value = "",
          .help = "shard the optimizer state over the dp ranks (ZeRO-1)",
          .fallback = std::move(fallback),
          .choices = {"on", "off"}};
}
OptionSpec microBatchOption(std::string fallback) {
  return {.name = "micro-batch",
          .value = "N",
          .help = "samples per forward and backward pass; 0 lets the trainer choose",
          .fallback = std::move(fallback)};
}
OptionSpec pinOption() {
  return {.name = "pin",
          .value = "",
          .help = "use --devices in this order as ranks 0, 1, ...; otherwise their order is free"};
}
OptionSpec useAllOption() {
  return {
      .name = "use-all",
      .value = "",
      .help = "take the fastest mesh that uses the most of --devices, even if tp and pp change"};
}
OptionSpec relayOption() {
  return {.name = "relay",
          .value = "",
          .help =
              "auto sends data that several GPUs of a node need to that node once and copies it "
              "inside, if that is not slower; off sends every copy over the network",
          .fallback = "auto",
          .choices = {"auto", "on", "off"}};
}
OptionSpec overlapOption() {
  return {.name = "overlap",
          .value = "",
          .help =
              "on copies the state while the job computes the gradients of a step, and moves "
              "only these in the pause; off moves all state in the pause; auto takes what is "
              "expected to pause less",
          .fallback = "auto",
          .choices = {"auto", "on", "off"}};
}
OptionSpec moveMemoryOption() {
  return {.name = "move-memory",
          .value = "SIZE",
          .help =
              "move in rounds that need at most this much of a GPU beside its state, such as "
              "64M, or auto; what a round has moved is freed before the next, so that nothing can "
              "be rolled "
              "back from the first round on",
          .fallback = "old and new state side by side"};
}
std::vector<OptionSpec> planOptions(std::vector<OptionSpec> more) {
  std::vector<OptionSpec> options = {
      devicesOption("the job's GPUs, and idle ones if --mesh needs more"),
      meshOption("tp and pp as now, dp as large as the GPUs allow; see `propose`"),
      zeroOption("as now"),
      microBatchOption("as now"),
      pinOption(),
      useAllOption(),
      relayOption(),
      overlapOption(),
      moveMemoryOption()};
  std::ranges::move(more, std::back_inserter(options));
  return options;
}

}  // namespace tessera::app
