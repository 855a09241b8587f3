// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/offline_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/commands/placement.h"
#include "app/commands/units.h"
#include "ptc/base/counted.h"

namespace tessera::app {
namespace {

std::int64_t numPieces(const ptc::Layout& layout) {
  const std::int64_t ranks = layout.mesh().num_ranks();
  const std::int64_t pp = layout.mesh().shape()[ptc::Axis::kPp];
  std::int64_t pieces = 0;
  for (std::size_t t = 0; t < layout.collection().tensors().size(); ++t) {
    const ptc::Parts parts = layout.PartsOf(static_cast<int>(t));
    std::int64_t boxes = 0;
    for (const auto& part : parts.boxes) boxes += std::ssize(part);
    // Each part is on the same number of ranks of the tensor's stages.
    const bool isCutByStage = std::ranges::count(parts.axes, ptc::Axis::kPp) > 0;
    const std::int64_t stages = isCutByStage ? pp : std::ssize(parts.stages);
    pieces += boxes * (ranks / pp * stages / std::ssize(parts.boxes));
  }
  return pieces;
}

std::int64_t numMessages(const ptc::Schedule& schedule) {
  std::int64_t messages = 0;
  for (const ptc::Round& round : schedule.rounds) messages += std::ssize(round.messages);
  return messages;
}

std::pair<ptc::DeviceId, std::int64_t> peakOf(const ptc::Schedule& schedule) {
  const auto peak = std::ranges::max_element(schedule.peak_memory, {},
                                             &std::pair<const ptc::DeviceId, std::int64_t>::second);
  return *peak;
}

}  // namespace

OptionSpec budgetOption() {
  return {.name = "memory",
          .value = "SIZE",
          .help =
              "with a model: memory for state per GPU; the schedule frees old pieces between "
              "rounds to stay below it",
          .fallback = "no limit"};
}

Result<OfflineSchedule> makeOfflineSchedule(const Arguments& arguments,
                                            const OfflineLayouts& layouts,
                                            const ptc::PlanBytes& bytes) {
  OfflineSchedule out;
  ptc::ScheduleOptions options;
  options.relay = readRelay(arguments) && layouts.lost.empty();  // as in a change
  if (const auto text = arguments.value("memory")) {
    TESSERA_TRY(options.memory_budget, parseMemory(*text).Context("--memory"));
    if (options.memory_budget == 0) return InvalidArgument("--memory must be above 0");
  }
  out.memoryBudget = options.memory_budget;
  out.networkDirect = bytes.network;
  out.storage = bytes.storage;
  const bool needsSchedule = out.memoryBudget > 0 || arguments.has("relay");
  if (out.storage > 0) {
    if (!needsSchedule) return out;
    return FailedPrecondition(
        fmt::format("--{}: there is no schedule for a plan that reads {} from storage",
                    out.memoryBudget > 0 ? "memory" : "relay", formatBytes(out.storage)));
  }
  out.numPieces = numPieces(layouts.from) + numPieces(layouts.to);
  if (out.numPieces > kMostScheduledPieces) {
    if (!needsSchedule) return out;
    if (out.memoryBudget == 0)
      return ResourceExhausted(
          fmt::format("--relay: there is no schedule above {} pieces; this plan has {}",
                      kMostScheduledPieces, out.numPieces));
    return ResourceExhausted(
        fmt::format("--memory: there is no schedule above {} pieces; this plan has {}",
                    kMostScheduledPieces, out.numPieces));
  }
  TESSERA_TRY(const ptc::Plan plan,
              ptc::MakePlan(layouts.from, layouts.to, layouts.topology, {.lost = layouts.lost}));
  TESSERA_TRY(out.schedule,
              ptc::MakeSchedule(plan, layouts.from, layouts.to, layouts.topology, options));
  return out;
}

std::string describe(const OfflineSchedule& s, const engine::PlanCertificate& certificate) {
  if (s.storage > 0)
    return fmt::format("  schedule  none: {} come from storage\n", formatBytes(s.storage));
  if (!s.schedule)
    return fmt::format("  schedule  none above {} pieces; this plan has {}\n", kMostScheduledPieces,
                       s.numPieces);
  const ptc::Schedule& schedule = *s.schedule;
  std::string text =
      fmt::format("  schedule  {}, {}, {} in all\n", Counted(std::ssize(schedule.rounds), "round"),
                  Counted(numMessages(schedule), "message"), formatSeconds(schedule.seconds));
  if (schedule.busiest.port.empty()) return text;
  text += fmt::format(
      "    network       {}{}\n", formatBytes(schedule.network_bytes),
      s.isRelayed() ? fmt::format(" (relayed; {} without)", formatBytes(s.networkDirect)) : "");
  text += fmt::format(
      "    busiest port  {}: {} in {} (least of any plan: {} direct, {} with relay)\n",
      schedule.busiest.port, formatBytes(schedule.busiest.bytes),
      formatSeconds(schedule.busiest.seconds), formatSeconds(certificate.direct_seconds),
      formatSeconds(certificate.relayed_seconds));
  const auto [device, bytes] = peakOf(schedule);
  return text + fmt::format("    peak memory   {}{} on {}\n", formatBytes(bytes),
                            s.memoryBudget > 0 ? " of " + formatBytes(s.memoryBudget) : "",
                            ptc::ToString(device));
}

Json toJson(const OfflineSchedule& s, const engine::PlanCertificate& certificate) {
  Json json = {{"relay", {{"on", s.isRelayed()}, {"network_direct_bytes", s.networkDirect}}},
               {"schedule", nullptr}};
  if (!s.schedule && s.storage == 0) {
    json["schedule_pieces"] = {{"these", s.numPieces}, {"most", kMostScheduledPieces}};
  }
  if (!s.schedule) return json;
  const ptc::Schedule& schedule = *s.schedule;
  Json peaks = Json::object();
  for (const auto& [device, bytes] : schedule.peak_memory) peaks[ptc::ToString(device)] = bytes;
  json["schedule"] = {
      {"rounds", schedule.rounds.size()},
      {"messages", numMessages(schedule)},
      {"seconds", schedule.seconds},
      {"network_bytes", schedule.network_bytes},
      {"host_bytes", schedule.host_bytes},
      {"busiest_port",
       {{"port", schedule.busiest.port},
        {"bytes", schedule.busiest.bytes},
        {"seconds", schedule.busiest.seconds},
        {"bound_seconds", certificate.direct_seconds},
        {"relayed_seconds", certificate.relayed_seconds}}},
      {"memory_budget_bytes", s.memoryBudget > 0 ? Json(s.memoryBudget) : Json(nullptr)},
      {"peak_bytes", std::move(peaks)},
      {"hash", ptc::Hex16(schedule.hash)}};
  return json;
}

}  // namespace tessera::app
