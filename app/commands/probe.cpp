// SPDX-License-Identifier: GPL-3.0-or-later
/// \file
/// `probe`: measures the constants of the cost model and keeps them in the profile.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/commands/command.h"
#include "app/commands/json.h"
#include "app/commands/measure.h"
#include "app/commands/units.h"
#include "engine/search/calibration.h"
#include "ptc/base/counted.h"

namespace tessera::app {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

/// Latencies inside a host are microseconds.
std::string latency(double seconds) {
  return seconds < 1e-3 ? fmt::format("{:.0f} us", 1e6 * seconds) : formatSeconds(seconds);
}

std::string describeCalibration(const engine::Calibration& c) {
  std::vector<std::vector<std::string>> rows = {
      {"machine", fmt::format("{}, {}", c.cpu, Counted(c.cores, "core"))},
      {"all cores together", fmt::format("{:.2f} times one core", c.all_cores_speed)},
      {"matrix products", fmt::format("{:.1f} GFLOP/s a core", c.flops_per_second / 1e9)},
      {"a layer's overhead", latency(c.layer_seconds)},
      {"update", fmt::format("{:.0f} M parameters/s a core",
                             1e-6 / (c.gradient_seconds + c.update_seconds))}};
  std::string text = formatTable(rows) + "\n";
  std::vector<std::vector<std::string>> table = {
      {"all-reduce", "2 ranks", "4 ranks", "8 ranks", "1 MiB: 2 ranks", "4 ranks", "8 ranks"}};
  const auto row = [&](const char* name, const engine::CollectiveCost& cost) {
    std::vector<std::string> cells = {name};
    for (const std::int64_t bytes : {std::int64_t{0}, kMiB})
      for (const engine::LinkCost& link : {cost.two, cost.four, cost.eight})
        cells.push_back(latency(link.At(bytes)));
    table.push_back(std::move(cells));
  };
  row("inside a host", c.shared_all_reduce);
  row("between hosts", c.network_all_reduce);
  return text + formatTable(table, {1, 2, 3, 4, 5, 6});
}

int runProbe(const Invocation& call) {
  TESSERA_OR_FAILED(auto session, openSession(call));
  TESSERA_OR_FAILED(const auto calibration, call.arguments.has("show")
                                                ? lastMeasured(session.profile)
                                                : measureCluster(session, call.json || call.quiet));
  if (call.json) {
    printLine(Json::parse(engine::ToJson(calibration)));
  } else {
    fmt::print("{}\nmeasured at {}; kept in profile '{}'\n", describeCalibration(calibration),
               formatClock(calibration.measured_at), session.profile.name);
  }
  return kDone;
}

}  // namespace

Command probeCommand() {
  return {
      {.verb = "probe",
       .summary = "Measure how fast the cluster computes and communicates",
       .options = {{.name = "show", .value = "", .help = "print the last result; measure nothing"},
                   quietOption()},
       .notes = {"Estimates of step and pause times use the result. It is stored in the cluster "
                 "and in the profile; a cluster without one receives the profile's.",
                 "Run it while no job trains: it uses all cores for a few seconds."},
       .examples = {"tesseractl probe", "tesseractl probe --show"}},
      runProbe};
}

}  // namespace tessera::app
