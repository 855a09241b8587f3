// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/plan_offline.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "app/commands/json.h"
#include "app/commands/lost_state.h"
#include "app/commands/offline_layouts.h"
#include "app/commands/offline_schedule.h"
#include "app/commands/placement.h"
#include "app/commands/units.h"
#include "engine/cluster/certificate.h"
#include "ptc/certificate/certificate.h"
#include "ptc/plan/outline.h"

namespace tessera::app {
namespace {

/// Everything that is printed.
struct OfflinePlan {
  ModelSource source;
  OfflineLayouts layouts;
  ptc::Outline outline;
  std::int64_t volumeBound = 0;
  engine::PlanCertificate certificate;
  OfflineSchedule schedule;
};

Result<OfflinePlan> makePlan(const Arguments& arguments) {
  const auto rules = arguments.valueOr("rules", "");
  TESSERA_TRY(auto source, readModelSource(arguments, rules,
                                           arguments.has("model") ? ptc::OptimizerState::kAdamW
                                                                  : ptc::OptimizerState::kAsFile));
  TESSERA_TRY(auto layouts, readOfflineLayouts(arguments, source));
  TESSERA_TRY(auto outline,
              ptc::MakeOutline(layouts.from, layouts.to, layouts.topology, {.lost = layouts.lost}));
  const auto bounds =
      ptc::Certify(layouts.from, layouts.to, layouts.topology, layouts.lost, outline.port_prices);
  auto certificate = engine::Summarize(bounds, layouts.topology);
  certificate.port = outline.busiest_port.name;
  certificate.port_bytes = outline.busiest_port.bytes;
  certificate.port_seconds = outline.busiest_port.seconds;
  TESSERA_TRY(auto schedule, makeOfflineSchedule(arguments, layouts, outline.bytes));
  return OfflinePlan{std::move(source), std::move(layouts),     std::move(outline),
                     bounds.volume,     std::move(certificate), std::move(schedule)};
}

/// "n0g0 … n2047g7, 16384 devices on 2048 hosts"; all names if they are few.
std::string describeDevices(const std::vector<ptc::DeviceId>& devices,
                            const ptc::Topology& topology) {
  constexpr std::size_t kFew = 16;
  if (devices.size() <= kFew) return ptc::ToString(devices);
  std::set<std::int32_t> hosts;
  for (const ptc::DeviceId device : devices) hosts.insert(topology.HostOf(device));
  const auto [first, last] = std::ranges::minmax(devices);
  return fmt::format("{} devices on {} hosts, {} … {}", devices.size(), hosts.size(),
                     ptc::ToString(first), ptc::ToString(last));
}

std::string describeOfflinePlan(const OfflinePlan& plan) {
  const ptc::Outline& outline = plan.outline;
  const auto& topology = plan.layouts.topology;
  const ptc::Collection& state = plan.layouts.from.collection();
  std::string text = fmt::format(
      "plan {} for {}: {} in {} tensors, rules {}, optimizer {}{}\n", ptc::Hex16(outline.hash),
      plan.source.name, formatBytes(state.total_bytes()), state.tensors().size(),
      plan.source.rules.name, ToString(plan.source.optimizer), plan.source.zero ? ", zero" : "");
  const auto place = [&](const ptc::Layout& layout) {
    return fmt::format("{} on {}", ToString(layout.mesh().shape()),
                       describeDevices(layout.mesh().devices(), topology));
  };
  text += fmt::format("  from     {}\n", place(plan.layouts.from));
  text += fmt::format("  to       {}\n", place(plan.layouts.to));
  if (!plan.layouts.idle.empty())
    text += fmt::format("  idle     {}\n", describeDevices(plan.layouts.idle, topology));
  text += describeLost(outline, plan.layouts.from);
  text += formatTable({{"  stays in place", formatBytes(outline.bytes.kept)},
                       {"  repacked on its device", formatBytes(outline.bytes.device)},
                       {"  inside a host", formatBytes(outline.bytes.host)},
                       {"  over the network", formatBytes(outline.bytes.network)},
                       {"  from storage", formatBytes(outline.bytes.storage)},
                       {"  moved in all", formatBytes(outline.bytes.moved())},
                       {"  least that must move", formatBytes(plan.volumeBound)}},
                      {1});
  text += describeCertificate(plan.certificate);
  if (!outline.peak_memory.empty()) {
    const auto peak = std::ranges::max_element(outline.peak_memory);
    const auto at = static_cast<std::size_t>(peak - outline.peak_memory.begin());
    const double sum = std::accumulate(outline.peak_memory.begin(), outline.peak_memory.end(), 0.0);
    text += fmt::format(
        "  peak memory  {} on {}, {} per device on average\n", formatBytes(*peak),
        ptc::ToString(outline.devices[at]),
        formatBytes(static_cast<std::int64_t>(sum / static_cast<double>(outline.devices.size()))));
  }
  text += fmt::format("  transfer  {} (estimate)\n", formatSeconds(outline.transfer_seconds));
  return text + describe(plan.schedule, plan.certificate);
}

Json offlinePlanToJson(const OfflinePlan& plan) {
  const ptc::Outline& outline = plan.outline;
  const auto place = [](const ptc::Layout& layout) {
    return Json{{"mesh", app::toJson(layout.mesh().shape())},
                {"devices", app::toJson(layout.mesh().devices())},
                {"layout_hash", ptc::Hex16(layout.hash())}};
  };
  Json peaks = Json::object();
  for (std::size_t d = 0; d < outline.devices.size(); ++d)
    peaks[ptc::ToString(outline.devices[d])] = outline.peak_memory[d];
  Json json = {{"model", plan.source.name},
               {"rules", plan.source.rules.name},
               {"optimizer", ToString(plan.source.optimizer)},
               {"zero", plan.source.zero},
               {"state_bytes", plan.layouts.from.collection().total_bytes()},
               {"from", place(plan.layouts.from)},
               {"to", place(plan.layouts.to)},
               {"hash", ptc::Hex16(outline.hash)},
               {"bytes",
                {{"kept", outline.bytes.kept},
                 {"device", outline.bytes.device},
                 {"host", outline.bytes.host},
                 {"network", outline.bytes.network},
                 {"snapshot", outline.bytes.snapshot},
                 {"storage", outline.bytes.storage}}},
               {"volume_bound_bytes", plan.volumeBound},
               {"network_bound_bytes", plan.certificate.network_bound},
               {"busiest_port", portOf(plan.certificate)},
               {"bandwidths", bandwidthsOf(plan.certificate)},
               {"idle", app::toJson(plan.layouts.idle)},
               {"lost", lostToJson(outline, plan.layouts.from)},
               {"peak_bytes", std::move(peaks)},
               {"single_source", outline.single_source_pieces},
               {"single_source_bytes", plan.certificate.single_source_bytes},
               {"transfer_estimate_seconds", outline.transfer_seconds}};
  json.update(toJson(plan.schedule, plan.certificate));
  return json;
}

}  // namespace

std::vector<OptionSpec> offlinePlanOptions() {
  std::vector<OptionSpec> options = modelOptions("adamw with --model, else as in the table");
  std::erase_if(options, [](const OptionSpec& option) { return option.name == "zero"; });
  options.push_back(rulesOption());
  options.push_back(budgetOption());
  for (OptionSpec& option : offlineLayoutOptions()) options.push_back(std::move(option));
  return options;
}

bool isOfflinePlan(const Arguments& arguments) {
  return arguments.has("model") || arguments.has("tensors");
}

int planOffline(const Invocation& call) {
  for (const char* option : {"mesh", "micro-batch", "candidates", "use-all", "overlap"})
    if (call.arguments.has(option))
      return wrongUsage(InvalidArgument(fmt::format(
          "--{} is for a running job: without one --from and --to give the meshes", option)));
  if (call.arguments.numWords() > 0)
    return wrongUsage(InvalidArgument(
        fmt::format("JOB '{}' and a model are given: choose one", call.arguments.word(0))));
  const auto plan = makePlan(call.arguments);
  if (!plan) {
    return plan.error().code == ErrorCode::kInvalidArgument &&
                   plan.error().ToString().starts_with("--")
               ? wrongUsage(plan.error())
               : failed(plan.error());
  }
  if (call.json) {
    printLine(offlinePlanToJson(*plan));
  } else {
    fmt::print("{}", describeOfflinePlan(*plan));
  }
  return kDone;
}

}  // namespace tessera::app
