// SPDX-License-Identifier: Apache-2.0
// Many simulated clusters (agents/sim). Prints each seed that does not hold.
//
//   soak_bench [--seeds N] [--first SEED]
#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cstdint>
#include <string_view>

#include "agents/sim/transaction_sim.h"
#include "tests/bench/machine.h"

using namespace tessera;

int main(int argc, char** argv) {
  std::uint64_t seeds = 100'000, first = 1;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view option = argv[i];
    std::uint64_t* const value = option == "--seeds"   ? &seeds
                                 : option == "--first" ? &first
                                                       : nullptr;
    const std::string_view text = i + 1 < argc ? argv[i + 1] : "";
    const char* const end = text.data() + text.size();
    if (!value || text.empty() || std::from_chars(text.data(), end, *value).ptr != end) {
      fmt::print(stderr, "usage: soak_bench [--seeds N] [--first SEED]\n");
      return 2;
    }
  }
  fmt::print("{}\n", test::Machine());
  const auto begin = std::chrono::steady_clock::now();
  std::int64_t events = 0, transactions = 0, commits = 0, bad = 0;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    const agents::sim::SimResult result = agents::sim::Simulate(seed);
    events += result.events;
    transactions += result.transactions;
    commits += result.commits;
    if (result.violation.empty()) continue;
    ++bad;
    fmt::print("seed {}: {}\n", seed, result.violation);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  fmt::print("{} seeds, {} do not hold: {} events, {} transactions, {} commits, {:.0f} s\n", seeds,
             bad, events, transactions, commits, took.count());
  return bad == 0 ? 0 : 1;
}
