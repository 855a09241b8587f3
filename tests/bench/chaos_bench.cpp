// SPDX-License-Identifier: Apache-2.0
// Rounds of random failures on a real cluster (tests/e2e/chaos.h).
//
//   chaos_bench [ROUNDS [SEED]]     default: 200 rounds of seed 1
#include <fmt/format.h>

#include <QCoreApplication>
#include <chrono>
#include <cstdlib>

#include "tests/bench/machine.h"
#include "tests/e2e/chaos.h"

using namespace tessera::test;

int main(int argc, char** argv) {
  const QCoreApplication app(argc, argv);
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 200;
  const auto seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  fmt::print("{}\n", Machine());
  const auto begin = std::chrono::steady_clock::now();
  Chaos chaos(seed);
  for (int i = 0; i < rounds; ++i) {
    const QString wrong = chaos.Round();
    fmt::print("{:>4} {}\n", i, chaos.story().toStdString());
    if (wrong.isEmpty()) continue;
    fmt::print("failed: {}\n", wrong.toStdString());
    return 1;
  }
  const QString wrong = chaos.Finish();
  const Chaos::Count& count = chaos.count();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  fmt::print(
      "{} rounds of seed {} in {:.0f} s: {} committed, {} rolled back, {} unknown to the client; "
      "{} "
      "restarts, {} recoveries, {} returns to a snapshot; {}\n",
      rounds, seed, took.count(), count.committed, count.rolled_back, count.unknown, count.restarts,
      count.recoveries, count.returns,
      wrong.isEmpty() ? std::string("nothing is lost") : wrong.toStdString());
  return wrong.isEmpty() ? 0 : 1;
}
