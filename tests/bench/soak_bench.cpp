// SPDX-License-Identifier: Apache-2.0
// Many simulated clusters (agents/sim). Prints each seed that does not hold.
//
//   soak_bench [SEEDS [FIRST]]
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>

#include "agents/sim/transaction_sim.h"
#include "tests/bench/machine.h"

using namespace tessera;

int main(int argc, char** argv) {
  const std::uint64_t seeds = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100'000;
  const std::uint64_t first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
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
