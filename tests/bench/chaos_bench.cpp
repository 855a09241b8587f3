// SPDX-License-Identifier: Apache-2.0
// Rounds of random failures on a real cluster (tests/e2e/chaos.h).
//
//   chaos_bench [ROUNDS [SEED]] [--machines]     default: 200 rounds of seed 1, on loopback
//
// With --machines the nodes are network namespaces, and links are cut too. That needs root.
#include <fmt/format.h>

#include <QCoreApplication>
#include <chrono>

#include "tests/bench/machine.h"
#include "tests/e2e/chaos.h"

using namespace tessera::test;

int main(int argc, char** argv) {
  const QCoreApplication app(argc, argv);
  QStringList words = app.arguments().mid(1);
  const auto place = words.removeAll(QStringLiteral("--machines")) > 0 ? Chaos::Place::kMachines
                                                                       : Chaos::Place::kLoopback;
  const int rounds = words.isEmpty() ? 200 : words[0].toInt();
  const std::uint64_t seed = words.size() < 2 ? 1 : words[1].toULongLong();
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  fmt::print("{}\n", Machine());
  const auto begin = std::chrono::steady_clock::now();
  Chaos chaos(seed, place);
  if (!chaos.problem().isEmpty()) {
    fmt::print("{}\n", chaos.problem().toStdString());
    return 1;
  }
  QString wrong;
  int done = 0;
  for (; done < rounds && wrong.isEmpty(); ++done) {
    wrong = chaos.Round();
    fmt::print("{:>4} {}\n", done, chaos.story().toStdString());
  }
  if (wrong.isEmpty()) wrong = chaos.Finish();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  fmt::print("{} rounds of seed {} in {:.0f} s: {}; {}\n", done, seed, took.count(),
             chaos.Summary().toStdString(),
             wrong.isEmpty() ? std::string("nothing is lost") : wrong.toStdString());
  if (!wrong.isEmpty()) fmt::print("the logs are in {}\n", chaos.KeepFolder().toStdString());
  return wrong.isEmpty() ? 0 : 1;
}
