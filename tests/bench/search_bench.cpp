// SPDX-License-Identifier: Apache-2.0
// What the choice of a mesh costs: at a start, and as the proposal for a job that trains on half of
// the nodes and may use all. Nodes are simulated ones of 8 H100. Times are those of the processor.
//
//   search_bench [MODEL]     one model only
#include <fmt/format.h>
#include <time.h>

#include <string_view>

#include "agents/sim/hardware.h"
#include "engine/model/job_layout.h"
#include "engine/model/large_models.h"
#include "engine/search/propose.h"
#include "tests/bench/machine.h"

using namespace tessera;
using namespace tessera::agents::sim;

namespace {

constexpr int kDevicesOfANode = 8;

double ProcessorSeconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

std::vector<ptc::DeviceId> Devices(int nodes) {
  std::vector<ptc::DeviceId> out;
  for (int n = 0; n < nodes; ++n) {
    for (int d = 0; d < kDevicesOfANode; ++d) out.push_back({n, d});
  }
  return out;
}

engine::SearchInput InputOf(std::string_view model, int nodes, const Hardware& hardware) {
  engine::SearchInput input;
  input.job = "job";
  input.settings.model = *engine::FindAnyModel(model);
  input.settings.global_batch = 512;
  input.settings.precision = engine::Precision::kBf16;
  input.devices = Devices(nodes);
  for (const ptc::DeviceId device : input.devices) {
    input.capacities[device] = hardware.device_bytes;
    input.machines.machine_of_node[device.node] = device.node;
  }
  input.machines.topology = SpeedsOf(hardware);
  input.calibration = CalibrationOf(hardware, kDevicesOfANode);
  return input;
}

/// Runs a search.
/// \return its time, and what it recommends
struct Searched {
  double seconds = 0;
  Result<engine::Proposal> proposal;
};
Searched Search(const engine::SearchInput& input) {
  const double begin = ProcessorSeconds();
  auto proposal = engine::Propose(input);
  return {ProcessorSeconds() - begin, std::move(proposal)};
}

std::string TextOf(const Result<engine::Proposal>& proposal) {
  if (!proposal) return proposal.error().message;
  const engine::Candidate& best = proposal->candidates.front();
  return engine::ShortText(best.mesh, best.options);
}

void Run(std::string_view model, int nodes) {
  const Hardware hardware = *FindHardware("h100");
  engine::SearchInput half = InputOf(model, nodes / 2, hardware);
  engine::SearchInput input = InputOf(model, nodes, hardware);
  const Searched start = Search(input);
  std::string change = "-";
  double change_seconds = 0;
  if (const auto running = engine::Propose(half)) {
    const engine::Candidate& now = running->candidates.front();
    const auto tensors = *engine::TensorsOf(input.settings, now.options.zero);
    input.layout = *engine::MakeLayout(tensors, *ptc::DeviceMesh::Make(now.mesh, now.devices));
    input.options = now.options;
    const Searched grown = Search(input);
    change = TextOf(grown.proposal);
    change_seconds = grown.seconds;
  }
  fmt::print("{:<13} {:>5} {:>8.2f} {:>9.2f}  {} | {}\n", model, nodes * kDevicesOfANode,
             start.seconds, change_seconds, TextOf(start.proposal), change);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view only = argc > 1 ? argv[1] : "";
  fmt::print("{}\n\n", test::Machine());
  fmt::print("{:<13} {:>5} {:>8} {:>9}  {}\n", "model", "GPUs", "start s", "change s",
             "chosen at the start | for the change");
  struct Row {
    const char* model;
    int nodes;
  };
  for (const Row& row :
       {Row{"gpt3-1.3b", 8}, Row{"llama-3-8b", 16}, Row{"llama-3-8b", 64}, Row{"llama-3-70b", 128},
        Row{"llama-3-70b", 512}, Row{"llama-3-405b", 128}, Row{"llama-3-405b", 512}}) {
    if (only.empty() || only == row.model) Run(row.model, row.nodes);
  }
  return 0;
}
