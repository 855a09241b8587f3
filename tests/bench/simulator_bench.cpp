// SPDX-License-Identifier: Apache-2.0
// What simulated clusters cost: the time until a job trains, how much faster than time it trains,
// the time of a change, and memory. Each row runs in a process of its own. Times are those of the
// processor.
//
//   simulator_bench [all|ROW]     with `all`, also llama-3-405b on 4,096 GPUs; one row, from 1
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "agents/sim/scenario_run.h"
#include "engine/model/large_models.h"
#include "tests/bench/machine.h"

using namespace tessera;
using namespace tessera::agents::sim;

namespace {

struct Row {
  const char* model;
  int nodes, devices;
  ptc::MeshShape before, after;  // on the first half of the nodes; on all
};

ptc::MeshShape Mesh(std::int64_t dp, std::int64_t tp, std::int64_t pp) {
  ptc::MeshShape mesh;
  mesh[ptc::Axis::kDp] = dp;
  mesh[ptc::Axis::kTp] = tp;
  mesh[ptc::Axis::kPp] = pp;
  return mesh;
}

std::vector<ptc::DeviceId> Devices(int nodes, int devices) {
  std::vector<ptc::DeviceId> out;
  for (int n = 0; n < nodes; ++n) {
    for (int d = 0; d < devices; ++d) out.push_back({n, d});
  }
  return out;
}

double ProcessorSeconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

int Run(const Row& row) {
  constexpr double kTrains = 120;  // seconds before the change
  Scenario scenario;
  scenario.nodes = row.nodes;
  scenario.devices = row.devices;
  act::Start start;
  start.model = row.model;
  start.job = "job";
  start.devices = Devices(row.nodes / 2, row.devices);
  start.mesh = row.before;
  start.global_batch = 512;
  if (engine::IsLargeModel(row.model)) start.settings["precision"] = "bf16";
  scenario.acts.push_back({0, start});
  scenario.acts.push_back({kTrains, act::Apply{"job", Devices(row.nodes, row.devices), row.after}});
  scenario.end = kTrains + 120;
  const double began = ProcessorSeconds();
  double trained = 0, asked = 0, committed = 0;
  ScenarioObserver observer;
  observer.event = [&](double, const engine::Event& event) {
    const auto says = [&](const char* text) { return event.text.find(text) != std::string::npos; };
    if (says("training on")) trained = ProcessorSeconds();
    if (says("reconfigure")) asked = ProcessorSeconds();
    if (says("committed")) committed = ProcessorSeconds();
  };
  const auto history = engine::History::InMemory();
  const auto result = RunScenario(scenario, **history, **history, observer);
  if (!result || !result->failures.empty()) {
    fmt::print("{}: {}\n", row.model,
               result ? result->failures.front() : result.error().ToString());
    return 1;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print("{:<13} {:>5} {:>9.2f} {:>9.0f} {:>9.2f} {:>11.3f} {:>9.0f}\n", row.model,
             row.nodes * row.devices, trained - began, kTrains / (asked - trained),
             committed - asked, result->changes.front().pause,
             static_cast<double>(usage.ru_maxrss) / 1024);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view word = argc > 1 ? argv[1] : "";
  const std::size_t only =
      argc > 1 && word != "all" ? std::strtoul(argv[1], nullptr, 10) : std::size_t{0};
  fmt::print("{}\n\n", test::Machine());
  fmt::print("{:<13} {:>5} {:>9} {:>9} {:>9} {:>11} {:>9}\n", "model", "GPUs", "start s", "x time",
             "change s", "pause s*", "RSS MiB");
  std::fflush(stdout);
  const std::vector<Row> rows = {{"gpt-mini", 2, 4, Mesh(4, 1, 1), Mesh(8, 1, 1)},
                                 {"llama-3-8b", 16, 8, Mesh(8, 8, 1), Mesh(16, 8, 1)},
                                 {"llama-3-8b", 64, 8, Mesh(32, 8, 1), Mesh(64, 8, 1)},
                                 {"llama-3-70b", 128, 8, Mesh(16, 8, 4), Mesh(32, 8, 4)},
                                 {"llama-3-405b", 128, 8, Mesh(4, 8, 16), Mesh(8, 8, 16)},
                                 {"llama-3-405b", 512, 8, Mesh(16, 8, 16), Mesh(32, 8, 16)}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool is_last = i + 1 == rows.size();
    if (only > 0 ? i + 1 != only : is_last && word != "all") continue;
    const Row& row = rows[i];
    if (only > 0) return Run(row);  // as it is for tools that watch a process
    const pid_t child = fork();
    if (child == 0) {
      const int code = Run(row);
      std::fflush(stdout);
      _exit(code);
    }
    int status = 0;
    waitpid(child, &status, 0);
  }
  fmt::print("\n* of simulated time\n");
  return 0;
}
