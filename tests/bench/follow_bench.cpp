// SPDX-License-Identifier: Apache-2.0
// A copy that takes longer than a step of the built-in trainer, spread over several steps: the
// pause beside that of the plain way, in turn, and the time of a step while it copies.
//
//   follow_bench [--rounds N] [--link RATE]     of the emulated port of each node, such as 100MB/s
#include <fmt/format.h>

#include <QCoreApplication>
#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <vector>

#include "ptc/base/median.h"
#include "tests/bench/machine.h"
#include "tests/bench/step_seconds.h"
#include "tests/support/local_cluster.h"

using tessera::UpperMedian;
using namespace tessera::test;

namespace {

const QString kJob = QStringLiteral("mini");
const QString kMesh = QStringLiteral("tp=2");
const QString kPlaces[] = {QStringLiteral("n0g0,n0g1"), QStringLiteral("n1g0,n1g1")};

struct Ways {
  std::vector<double> pause[2], planned[2];  // ms: plain, and over steps
  std::vector<double> step;                  // while it copies, over the usual
  int steps = 0;                             // the most
};

bool MoveOnce(const LocalCluster& cluster, const QString& devices, bool follows, Ways& ways) {
  if (!cluster.GoesOn(kJob, 12)) return false;
  const QStringList way = {"--overlap", follows ? "on" : "off"};
  const Json plan =
      cluster.Ask(QStringList{"plan", kJob, "--mesh", kMesh, "--devices", devices} + way);
  const Json moved = cluster.Apply(kJob, kMesh, devices, way);
  if (!plan.is_object() || !moved.is_object() || moved["result"] != "committed" ||
      moved["digest_before"] != moved["digest_after"]) {
    fmt::print(stderr, "{} {}\n", plan.dump(), moved.dump());
    return false;
  }
  ways.pause[follows].push_back(1e3 * moved["pause_seconds"].get<double>());
  ways.planned[follows].push_back(1e3 * plan["pause_estimate_seconds"].get<double>());
  if (!follows) return true;
  const int steps = plan["overlap"]["steps"].get<int>();
  ways.steps = std::max(ways.steps, steps);
  if (!cluster.GoesOn(kJob, 2)) return false;
  ways.step.push_back(Slowdown(cluster, kJob, moved["step"].get<std::int64_t>(), steps, 10));
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const QCoreApplication app(argc, argv);
  QString link = QStringLiteral("100MB/s");
  int rounds = 5;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--link" && i + 1 < argc) {
      link = QString::fromLocal8Bit(argv[++i]);
    } else if (word == "--rounds" && i + 1 < argc) {
      rounds = std::max(1, std::atoi(argv[++i]));
    } else {
      fmt::print(stderr, "usage: follow_bench [--rounds N] [--link RATE]\n");
      return 2;
    }
  }
  fmt::print("{}\n", Machine());
  const LocalCluster cluster({.nodes = 2,
                              .devices = 2,
                              .memory = "128M",
                              .link = link,
                              .one_host = false,
                              .plain_lanes = true});
  if (cluster.up().code != 0 || cluster.Run({"job", "start", "gpt-mini", "--name", kJob, "--mesh",
                                             kMesh, "--devices", kPlaces[0]},
                                            160)
                                        .code != 0) {
    return 1;
  }
  Ways ways;
  int place = 0;
  for (int round = 0; round < rounds; ++round) {
    for (const bool follows : {false, true}) {
      place = 1 - place;
      if (!MoveOnce(cluster, kPlaces[place], follows, ways)) return 1;
    }
  }
  fmt::print("gpt-mini, {} to another node, links of {} (emulated), medians of {} rounds\n",
             kMesh.toStdString(), link.toStdString(), rounds);
  const auto text = [&](int way) {
    return fmt::format("{:.0f} ms (planned {:.0f})", UpperMedian(ways.pause[way]),
                       UpperMedian(ways.planned[way]));
  };
  fmt::print(
      "pause: plain {}, copied over up to {} steps {}, ratio {:.2f}; step while it copies {:.2f} "
      "x\n",
      text(0), ways.steps, text(1), UpperMedian(ways.pause[1]) / UpperMedian(ways.pause[0]),
      UpperMedian(ways.step));
  return 0;
}
