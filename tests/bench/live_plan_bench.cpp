// SPDX-License-Identifier: Apache-2.0
/// \file
/// The plan of a live change on 2,048 nodes of 8 devices: Llama-3-405B with Adam. The registrar
/// plans the change with its costs, memory and certificate. An agent, which is another process,
/// parses both layouts, makes the outline, compares its hash, expands the moves of its own devices
/// and chooses where their pieces lie. Printed are the times of both, and the memory that the
/// agent's part takes.

#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agents/registrar/planner.h"
#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "engine/catalogue/catalogue.h"
#include "engine/model/job_layout.h"
#include "engine/store/allocate.h"
#include "ptc/layout_pair.h"
#include "ptc/plan/device_cells.h"
#include "ptc/plan/plan.h"
#include "tests/bench/machine.h"

using namespace tessera;
using Clock = std::chrono::steady_clock;

namespace {

constexpr int kNodes = 2048;
constexpr std::int32_t kDevicesPerNode = 8;
constexpr std::int64_t kDeviceBytes = std::int64_t{1} << 50;  // memory never limits here

template <typename T>
T Must(Result<T> result) {
  if (result) return std::move(*result);
  fmt::print(stderr, "{}\n", result.error().ToString());
  std::exit(1);
}

double Milliseconds(Clock::time_point since) {
  return std::chrono::duration<double, std::milli>(Clock::now() - since).count();
}

/// Bytes of memory that this process has used at most so far, in MiB.
double PeakMiB() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

double ResidentMiB() {
  std::ifstream statm("/proc/self/statm");
  double size = 0, resident = 0;
  statm >> size >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

engine::JobSettings Settings() {
  engine::JobSettings settings;
  ptc::NamedText tensors = Must(engine::FindCatalogueTensors("llama-3-405b"));
  const ptc::NamedText rules = Must(engine::FindRuleSet("llama"));
  tensors.text.insert(tensors.text.find('{') + 1, "\"optimizer\": \"adamw\",");
  settings.program = engine::OwnProgram{"true", tensors, rules};
  return settings;
}

std::vector<ptc::DeviceId> Devices(int nodes) {
  std::vector<ptc::DeviceId> devices;
  for (std::int32_t node = 0; node < nodes; ++node) {
    for (std::int32_t index = 0; index < kDevicesPerNode; ++index) devices.push_back({node, index});
  }
  return devices;
}

/// What an agent does between the message and its first copy, for the devices of node `node`.
struct AgentPart {
  double parse = 0, outline = 0, expand = 0, place = 0, cells = 0;  // ms
  std::size_t moves = 0;
};

AgentPart RunAgent(const std::string& from_text, const std::string& to_text,
                   const std::string& cluster_text, bool relayed, std::uint64_t hash,
                   std::int32_t node) {
  AgentPart part;
  auto begin = Clock::now();
  const auto [from, to] = Must(ptc::ParseLayoutPair(from_text, to_text));
  const ptc::Cluster cluster = Must(ptc::ParseCluster("topology", cluster_text));
  part.parse = Milliseconds(begin);
  begin = Clock::now();
  const auto relaying = relayed ? ptc::Relaying::kAlways : ptc::Relaying::kNever;
  const ptc::Outline outline = Must(
      ptc::MakeOutline(from, to, cluster.topology, {.relaying = relaying, .with_figures = false}));
  if (outline.hash != hash) {
    fmt::print(stderr, "the agent's plan is {}, the registrar's {}\n", ptc::Hex16(outline.hash),
               ptc::Hex16(hash));
    std::exit(1);
  }
  part.outline = Milliseconds(begin);
  begin = Clock::now();
  std::vector<ptc::DeviceId> own;
  for (std::int32_t index = 0; index < kDevicesPerNode; ++index) own.push_back({node, index});
  const ptc::DeviceMoves moves = ptc::MovesOf(outline, from, to, own);
  part.moves = moves.moves.size();
  part.expand = Milliseconds(begin);
  begin = Clock::now();
  for (const ptc::DeviceId device : own) {
    const auto rank = from.mesh().RankOf(device);
    const auto old = rank ? Must(engine::AllocateInitial("j", 1, from, *rank, kDeviceBytes))
                          : Must(engine::PieceTable::Make(1, from.hash(), "j", {}, kDeviceBytes));
    static_cast<void>(Must(engine::AllocateNext(old, from, to, device, moves.moves, kDeviceBytes)));
  }
  part.place = Milliseconds(begin);
  begin = Clock::now();
  const ptc::DeviceCells cells(from, to, ptc::CellOwners::kNeeders);
  for (const ptc::DeviceId device : own) static_cast<void>(cells.Of(device));
  part.cells = Milliseconds(begin);
  return part;
}

void Measure(const char* from_shape, const char* to_shape, bool zero) {
  const engine::JobSettings settings = Settings();
  const auto tensors = Must(engine::TensorsOf(settings, zero));
  const auto layout = [&](const char* shape) {
    const ptc::MeshShape mesh = *ptc::ParseMeshShape(shape);
    const auto nodes = static_cast<int>(mesh.num_ranks() / kDevicesPerNode);
    return Must(engine::MakeLayout(tensors, *ptc::DeviceMesh::Make(mesh, Devices(nodes))));
  };
  agents::PlanBasis basis;
  basis.job.job = "llama";
  basis.job.settings = settings;
  basis.job.layout = layout(from_shape);
  basis.job.options.zero = zero;
  for (const ptc::DeviceId device : Devices(kNodes)) basis.job.capacities[device] = kDeviceBytes;
  wire::PlanRequest request;
  const ptc::MeshShape to_mesh = *ptc::ParseMeshShape(to_shape);
  agents::Encode(to_mesh, request.mutable_mesh());
  const auto to_nodes = static_cast<int>(to_mesh.num_ranks() / kDevicesPerNode);

  constexpr int kRuns = 5;
  std::vector<double> times;
  std::optional<agents::Planned> planned;
  for (int run = 0; run < kRuns; ++run) {
    const auto begin = Clock::now();
    planned = Must(agents::PlanChange(basis, request, Devices(to_nodes), {}));
    times.push_back(Milliseconds(begin));
  }
  std::sort(times.begin(), times.end());
  fmt::print(
      "{} -> {}{}: plan {}, {} pairs of devices, {:.2f} TB moved\n"
      "  registrar {:.0f} ms (least {:.0f})\n",
      from_shape, to_shape, zero ? " zero" : "", ptc::Hex16(planned->plan.hash),
      planned->summary.flows.size(), static_cast<double>(planned->plan.bytes.moved()) / 1e12,
      times[kRuns / 2], times.front());
  std::fflush(stdout);

  const std::string from_text = ptc::ToJson(*basis.job.layout);
  const std::string to_text = ptc::ToJson(planned->to);
  const std::string cluster_text =
      ptc::ToJson(ptc::Cluster{basis.job.machines.topology, Devices(kNodes)});
  const bool relayed = planned->summary.relayed;
  const std::uint64_t hash = planned->plan.hash;
  // The child starts with the memory of this process, so what is not in use is given back first.
  planned.reset();
  malloc_trim(0);
  const pid_t child = fork();
  if (child == 0) {
    const double before = ResidentMiB();
    std::vector<AgentPart> parts;
    for (int run = 0; run < kRuns; ++run) {
      parts.push_back(RunAgent(from_text, to_text, cluster_text, relayed, hash, run * 37));
    }
    std::sort(parts.begin(), parts.end(), [](const AgentPart& a, const AgentPart& b) {
      return a.parse + a.outline + a.expand + a.place < b.parse + b.outline + b.expand + b.place;
    });
    const AgentPart& p = parts[kRuns / 2];
    fmt::print(
        "  agent {:.0f} ms: layouts {:.0f}, outline {:.0f}, {} moves of its 8 devices {:.0f}, "
        "places "
        "{:.0f}; cells of digests {:.0f} ms; {:.0f} MiB on top of {:.0f}\n",
        p.parse + p.outline + p.expand + p.place, p.parse, p.outline, p.moves, p.expand, p.place,
        p.cells, PeakMiB() - before, before);
    std::fflush(stdout);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) std::exit(1);
}

}  // namespace

int main() {
  fmt::print("{}\nLlama-3-405B, bf16 with Adam in f32, {} nodes of {} devices\n", test::Machine(),
             kNodes, kDevicesPerNode);
  for (const bool zero : {false, true}) {
    Measure("tp=8,pp=16,dp=128", "tp=8,pp=16,dp=120", zero);
    Measure("tp=8,pp=16,dp=120", "tp=8,pp=16,dp=128", zero);
    Measure("tp=8,pp=16,dp=128", "tp=16,pp=8,dp=128", zero);
  }
}
