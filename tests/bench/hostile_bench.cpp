// SPDX-License-Identifier: Apache-2.0
/// \file
/// What hostile peers of the registrar cost a job that trains beside it: a flood of requests, a
/// client that does not read, 1,000 connections that say nothing, and all of them. Step times
/// without and with them in turn; medians of rounds. The flood gets the processor only when nobody
/// else wants it, so the figure is what its messages cost the agents.
///
///   hostile_bench [--rounds N]
#include <fmt/format.h>

#include <QCoreApplication>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agents/node/config.h"
#include "ptc/base/median.h"
#include "tests/bench/machine.h"
#include "tests/bench/step_seconds.h"
#include "tests/support/hostile_peers.h"

using tessera::UpperMedian;
using namespace tessera;
using namespace tessera::test;

namespace {

constexpr double kSeconds = 12;  // of one measurement
constexpr int kConnections = 1000, kRequests = 2000;

struct Peers {
  std::unique_ptr<Flooder> flood;
  std::unique_ptr<StalledReader> stalled;
  std::unique_ptr<SilentConnections> silent;
};

struct Case {
  const char* name;
  std::function<Peers(const Target&)> start;
  std::vector<double> without = {}, with = {};
};

int Fail(const std::string& text) {
  fmt::print(stderr, "{}\n", text);
  return 1;
}

int Measure(int rounds) {
  const QString job = QStringLiteral("mini");
  LocalCluster cluster(
      {.nodes = 1, .devices = 2, .memory = QStringLiteral("1G"), .link = {}, .one_host = false});
  if (cluster.up().code != 0) return Fail(cluster.up().Text().toStdString());
  const Outcome start =
      cluster.Run({"job", "start", "gpt-10m", "--name", job, "--mesh", "dp=2"}, 160);
  if (start.code != 0 || !cluster.WaitStep(job, 4, 120)) return Fail(start.Text().toStdString());
  const auto config = agents::LoadAgentConfig(cluster.ConfigOf(0).toStdString());
  if (!config) return Fail(config.error().ToString());
  const Target target{config->registrar_endpoint, config->registrar_key, agents::NewCurveKeys()};
  const QString allowed = cluster.home() + "/clusters/t/allowed/guest.pub";
  if (!agents::SavePublicKey(target.keys.public_key, allowed.toStdString(), "viewer")) return 1;

  const auto flood = [](const Target& at) { return std::make_unique<Flooder>(at); };
  const auto stalled = [](const Target& at) {
    return std::make_unique<StalledReader>(at, kRequests);
  };
  const auto silent = [](const Target& at) {
    return std::make_unique<SilentConnections>(at.endpoint, kConnections);
  };
  std::vector<Case> cases = {
      {"a flood of requests",
       [&](const Target& at) {
         return Peers{flood(at), {}, {}};
       }},
      {"a client that does not read",
       [&](const Target& at) {
         return Peers{{}, stalled(at), {}};
       }},
      {"1,000 silent connections",
       [&](const Target& at) {
         return Peers{{}, {}, silent(at)};
       }},
      {"all of them",
       [&](const Target& at) {
         return Peers{flood(at), stalled(at), silent(at)};
       }},
  };
  StepSeconds(cluster, job, kSeconds);  // the agents read the key meanwhile
  for (int round = 0; round < rounds; ++round) {
    for (Case& each : cases) {
      each.without.push_back(StepSeconds(cluster, job, kSeconds));
      const Peers peers = each.start(target);
      each.with.push_back(StepSeconds(cluster, job, kSeconds));
      if (peers.flood && peers.flood->refusal().empty()) return Fail("the flood was not refused");
    }
  }
  for (const Case& each : cases) {
    const double without = UpperMedian(each.without), with = UpperMedian(each.with);
    fmt::print("steps of gpt-10m: {:.3f} s; beside {}: {:.3f} s: {:.2f} x\n", without, each.name,
               with, with / without);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const QCoreApplication app(argc, argv);
  int rounds = 5;
  if (argc == 3 && std::string(argv[1]) == "--rounds") {
    rounds = std::max(1, std::atoi(argv[2]));
  } else if (argc != 1) {
    fmt::print(stderr, "usage: hostile_bench [--rounds N]\n");
    return 2;
  }
  fmt::print("{}\n", Machine());
  return Measure(rounds);
}
