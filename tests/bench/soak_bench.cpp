// SPDX-License-Identifier: Apache-2.0
// Many simulated clusters (agents/sim). Prints each seed that does not hold, or the trace of one.
//
//   soak_bench [--seeds N] [--first SEED] [--most BAD] | --trace SEED
#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cstdint>
#include <string_view>

#include "agents/sim/cluster_sim.h"
#include "tests/bench/machine.h"

using namespace tessera;

int main(int argc, char** argv) {
  std::uint64_t seeds = 100'000, first = 1, most = ~0ULL, traced = 0;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view option = argv[i];
    std::uint64_t* const value = option == "--seeds"   ? &seeds
                                 : option == "--first" ? &first
                                 : option == "--most"  ? &most
                                 : option == "--trace" ? &traced
                                                       : nullptr;
    const std::string_view text = i + 1 < argc ? argv[i + 1] : "";
    const char* const end = text.data() + text.size();
    if (!value || text.empty() || std::from_chars(text.data(), end, *value).ptr != end) {
      fmt::print(stderr,
                 "usage: soak_bench [--seeds N] [--first SEED] [--most BAD] | --trace SEED\n");
      return 2;
    }
  }
  if (traced != 0) {
    const auto result = agents::sim::SimulateCluster(
        traced, [](const std::string& line) { fmt::print("{}\n", line); });
    fmt::print("{}\n", result.violation.empty() ? "holds" : result.violation);
    return result.violation.empty() ? 0 : 1;
  }
  fmt::print("{}\n", test::Machine());
  const auto begin = std::chrono::steady_clock::now();
  agents::sim::ClusterResult sum;
  std::uint64_t bad = 0;
  for (std::uint64_t seed = first; seed < first + seeds && bad < most; ++seed) {
    const agents::sim::ClusterResult result = agents::sim::SimulateCluster(seed);
    sum.events += result.events;
    sum.steps += result.steps;
    sum.transactions += result.transactions;
    sum.commits += result.commits;
    sum.recoveries += result.recoveries;
    if (result.violation.empty()) continue;
    ++bad;
    fmt::print("seed {}: {}\n", seed, result.violation);
    std::fflush(stdout);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  fmt::print(
      "{} seeds, {} do not hold: {} events, {} steps, {} changes, {} commits, {} recoveries, "
      "{:.0f} s\n",
      seeds, bad, sum.events, sum.steps, sum.transactions, sum.commits, sum.recoveries,
      took.count());
  return bad == 0 ? 0 : 1;
}
