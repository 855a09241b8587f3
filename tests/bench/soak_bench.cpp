// SPDX-License-Identifier: Apache-2.0
// Many simulated clusters (agents/sim). Prints each seed that does not hold, or the trace of one.
//
//   soak_bench [--seeds N] [--first SEED] [--most BAD] | --trace SEED
#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cstdint>
#include <string_view>

#include "agents/sim/soak.h"
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
  const auto soaked =
      agents::sim::Soak({.first = first, .seeds = seeds, .most_bad = most},
                        [](std::uint64_t seed, const agents::sim::ClusterResult& result) {
                          fmt::print("seed {}: {}\n", seed, result.violation);
                          std::fflush(stdout);
                        });
  const agents::sim::ClusterResult& sum = soaked.sum;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  fmt::print(
      "{} seeds, {} do not hold: {} events, {} steps, {} changes, {} commits, {} over several "
      "steps, {} in rounds, "
      "{} recoveries, {} of them from what given-up rounds had left ({} were given up), {:.0f} s\n",
      soaked.seeds, soaked.bad, sum.events, sum.steps, sum.transactions, sum.commits, sum.followed,
      sum.in_rounds, sum.recoveries, sum.from_left, sum.left, took.count());
  return soaked.bad == 0 ? 0 : 1;
}
