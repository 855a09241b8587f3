// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/placement.h"

#include <fmt/format.h>

#include <algorithm>

#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
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
  if (const auto text = arguments.value("zero")) {
    if (*text != "on" && *text != "off")
      return InvalidArgument(fmt::format("--zero '{}' is neither on nor off", *text));
    base.zero = *text == "on";
  }
  TESSERA_TRY(base.micro_batch,
              arguments.integer("micro-batch", base.micro_batch, 0, std::int64_t{1} << 20));
  return base;
}

Result<bool> readRelay(const Arguments& arguments) {
  const std::string text = arguments.valueOr("relay", "auto");
  if (text != "auto" && text != "on" && text != "off")
    return InvalidArgument(fmt::format("--relay '{}' is none of auto, on and off", text));
  return text != "off";
}

Result<wire::PlanRequest> readPlanRequest(const Arguments& arguments) {
  TESSERA_RETURN_IF_ERROR(checkName("job", arguments.word(0)));
  TESSERA_TRY(const auto placement, readPlacement(arguments));
  if (placement.devices.empty())
    return InvalidArgument("--devices is missing: on which devices shall the job run");
  wire::PlanRequest request;
  request.set_job(arguments.word(0));
  for (const ptc::DeviceId device : placement.devices)
    agents::Encode(device, request.add_devices());
  if (placement.mesh) agents::Encode(*placement.mesh, request.mutable_mesh());
  request.set_pin(arguments.has("pin"));
  TESSERA_TRY(const bool relay, readRelay(arguments));
  request.set_no_relay(!relay);
  TESSERA_RETURN_IF_ERROR(readStepOptions(arguments));
  return request;
}

namespace {

/// "dp=2,tp=2 on n0g0,… with zero, micro-batch 4, 0.25 s a step".
std::string describePlace(const ptc::MeshShape& mesh, const std::vector<ptc::DeviceId>& devices,
                          const engine::StepOptions& options, const std::optional<double>& step) {
  const std::string with = engine::ToString(options);
  return fmt::format("{} on {}{}{}", ptc::ToString(mesh), ptc::ToString(devices),
                     with.empty() ? "" : " with " + with,
                     step ? fmt::format(", {} a step (estimate)", formatSeconds(*step)) : "");
}

/// Adds what --zero and --micro-batch say.
Status addStepOptions(Session& session, const Arguments& arguments, wire::PlanRequest* request) {
  TESSERA_TRY(const auto given, readStepOptions(arguments));
  if (!given) return OkStatus();
  TESSERA_TRY(const auto snapshot, session.snapshot());
  const auto job = std::ranges::find(snapshot.jobs, request->job(), &engine::JobStatus::name);
  if (job == snapshot.jobs.end())
    return NotFound(fmt::format("job '{}' does not exist", request->job()));
  TESSERA_TRY(const auto options, readStepOptions(arguments, job->options));
  agents::Encode(*options, request->mutable_options());
  return OkStatus();
}

}  // namespace

std::string describeCertificate(const engine::PlanCertificate& certificate) {
  if (certificate.port.empty()) return "  busiest port  nothing moves\n";
  std::string text = fmt::format(
      "  busiest port  {}: {} = {} (least of any plan: {} straight, {} with relay)\n",
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
  TESSERA_RETURN_IF_ERROR(addStepOptions(session, arguments, request));
  wire::Request message;
  *message.mutable_plan() = *request;
  TESSERA_TRY(const auto reply, session.ask(std::move(message)));
  return agents::Decode(reply.plan());
}

std::string describePlan(const engine::PlanSummary& plan) {
  std::string text = fmt::format("plan {} for {} (epoch {})\n", plan.hash, plan.job, plan.epoch);
  text += fmt::format("  from     {}\n", describePlace(plan.from_mesh, plan.from_devices,
                                                       plan.from_options, plan.from_step_seconds));
  text += fmt::format("  to       {}\n", describePlace(plan.to_mesh, plan.to_devices,
                                                       plan.to_options, plan.to_step_seconds));
  if (!plan.idle.empty()) text += fmt::format("  idle     {}\n", ptc::ToString(plan.idle));
  if (!plan.why.empty()) text += fmt::format("  because  {}\n", plan.why);
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
  text += fmt::format("  pause    {} (estimate); pieces with one source: {}; rollback: {}\n",
                      formatSeconds(plan.pause_estimate), plan.single_source,
                      plan.rollback ? "yes" : "no");
  std::vector<std::vector<std::string>> peaks = {{"  device", "peak", "of"}};
  for (const auto& peak : plan.peak_memory)
    peaks.push_back(
        {"  " + ptc::ToString(peak.device), formatBytes(peak.bytes), formatBytes(peak.capacity)});
  return text + formatTable(peaks, {1, 2});
}

OptionSpec devicesOption(const std::string& fallback) {
  return {"devices", "LIST", "n0g0,n0g1,... or 2x4 for two nodes of four " + fallback};
}
OptionSpec meshOption(const std::string& fallback) {
  return {"mesh", "MESH", "dp=2,tp=2,pp=1; axes left out are 1 " + fallback};
}
OptionSpec zeroOption(const std::string& fallback) {
  return {"zero", "on|off", "cuts the optimizer's state over the dp ranks (ZeRO-1) " + fallback};
}
OptionSpec microBatchOption(const std::string& fallback) {
  return {"micro-batch", "N",
          "samples of one forward and backward pass; 0: the trainer chooses " + fallback};
}
OptionSpec pinOption() {
  return {"pin", "", "takes --devices as the order of ranks, not as a set"};
}
OptionSpec relayOption() {
  return {
      "relay", "auto|off",
      "sends what several devices of a node lack there once and passes it on inside, where that "
      "is no slower (default: auto)"};
}
std::vector<OptionSpec> planOptions(std::vector<OptionSpec> more) {
  std::vector<OptionSpec> options = {devicesOption("(required)"),
                                     meshOption("(default: the fastest, see `propose`)"),
                                     zeroOption("(default: as now)"),
                                     microBatchOption("(default: as now)"),
                                     pinOption(),
                                     relayOption()};
  std::ranges::move(more, std::back_inserter(options));
  return options;
}

}  // namespace tessera::app
