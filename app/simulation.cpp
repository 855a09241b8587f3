// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "agents/sim/hardware.h"
#include "agents/sim/scenario.h"
#include "app/commands/local_cluster.h"
#include "engine/files/whole_file.h"
#include "engine/model/gpt.h"
#include "engine/model/large_models.h"

namespace tessera::app {
namespace {

namespace fs = std::filesystem;
namespace sim = agents::sim;

/// A model, and how it is cut on many GPUs.
struct Suited {
  int most;  // GPUs of the cluster
  const char* model;
  std::int64_t tp, pp;
  std::int64_t batch;
};
constexpr Suited kSuited[] = {{16, "gpt-mini", 2, 1, 16},
                              {64, "gpt3-1.3b", 4, 1, 256},
                              {256, "llama-3-8b", 8, 1, 256},
                              {1024, "llama-3-70b", 8, 4, 256},
                              {1 << 20, "llama-3-405b", 8, 16, 512}};

/// The job of a simulated cluster that begins with one.
sim::act::Start jobOf(int nodes, int devices) {
  const int used = std::max(1, nodes / 2) * devices;
  const Suited& suited = *std::ranges::find_if(
      kSuited, [&](const Suited& each) { return nodes * devices <= each.most; });
  sim::act::Start start;
  start.model = start.job = suited.model;
  for (int node = 0; node < std::max(1, nodes / 2); ++node)
    for (int device = 0; device < devices; ++device) start.devices.push_back({node, device});
  start.global_batch = suited.batch;
  if (engine::IsLargeModel(start.model)) start.settings["precision"] = "bf16";
  // Odd numbers of GPUs get the mesh that the cluster proposes.
  if (used % (suited.tp * suited.pp) == 0) {
    ptc::MeshShape mesh;
    mesh[ptc::Axis::kTp] = suited.tp;
    mesh[ptc::Axis::kPp] = suited.pp;
    mesh[ptc::Axis::kDp] = used / (suited.tp * suited.pp);
    start.mesh = mesh;
  }
  return start;
}

/// Starts a job on half of the nodes.
sim::Scenario usualScenario(const WantedSimulation& wanted) {
  sim::Scenario scenario;
  scenario.nodes = wanted.nodes;
  scenario.devices = wanted.devices;
  const bool isSmall = wanted.nodes * wanted.devices <= kSuited[0].most;
  scenario.hardware = !wanted.hardware.empty() ? wanted.hardware : isSmall ? "demo" : "h100";
  scenario.acts.push_back({0, jobOf(wanted.nodes, wanted.devices)});
  scenario.end = 1;
  return scenario;
}

std::string freeName() {
  const std::string name = "simulated";
  for (int i = 1;; ++i) {
    std::string tried = i == 1 ? name : fmt::format("{}-{}", name, i);
    if (!isRunning(localClusterFolder(tried))) return tried;
  }
}

}  // namespace

agents::sim::Scenario demoScenario() {
  constexpr double kFirstChange = 10, kBetweenChanges = 25;  // seconds
  constexpr int kChanges = 24;
  const std::string job = "gpt-25m";
  sim::Scenario scenario;
  scenario.title = "A job that grows and shrinks";
  scenario.nodes = 2;
  scenario.devices = 4;
  scenario.hardware = "demo";
  std::vector<ptc::DeviceId> half, all;
  for (std::int32_t node = 0; node < 2; ++node) {
    for (std::int32_t device = 0; device < 4; ++device) {
      if (node == 0) half.push_back({node, device});
      all.push_back({node, device});
    }
  }
  sim::act::Start start;
  start.model = start.job = job;
  start.devices = half;
  start.mesh = *ptc::ParseMeshShape("dp=2,tp=2");
  start.global_batch = 16;
  scenario.acts.push_back({0, std::move(start)});
  for (int i = 0; i < kChanges; ++i) {
    sim::act::Apply apply;
    apply.job = job;
    apply.devices = i % 2 == 0 ? all : half;
    scenario.acts.push_back({kFirstChange + i * kBetweenChanges, std::move(apply)});
  }
  scenario.end = kFirstChange + kChanges * kBetweenChanges;
  return scenario;
}

Result<agents::Profile> startSimulation(const WantedSimulation& wanted) {
  const sim::Scenario scenario = wanted.demo ? demoScenario() : usualScenario(wanted);
  TESSERA_TRY(const sim::Hardware hardware, sim::FindHardware(scenario.hardware));
  LocalClusterOptions options;
  options.name = freeName();
  options.nodes = static_cast<int>(scenario.nodes);
  options.devices = static_cast<int>(scenario.devices);
  options.deviceBytes = hardware.device_bytes;
  const fs::path folder = fs::path(agents::TesseraHome()) / "scenarios";
  std::error_code failure;
  fs::create_directories(folder, failure);
  const std::string file = (folder / (options.name + ".json")).string();
  TESSERA_RETURN_IF_ERROR(engine::WriteWholeFile(file, sim::ToJson(scenario), 0600));
  // A step of a large model takes half a minute, in which there is nothing to be seen.
  options.simulation =
      SimulationOptions{.hardware = scenario.hardware, .scenario = file, .ahead = true};
  return startLocalCluster(options);
}

}  // namespace tessera::app
