// SPDX-License-Identifier: Apache-2.0
// How far the busiest port of plans is from the exact optimum, over random changes. Prints the
// machine, median and worst; arguments: changes (1000), seed (1).
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "ptc/certificate/certificate.h"
#include "ptc/schedule/schedule.h"
#include "tests/bench/machine.h"
#include "tests/ptc/changes.h"

using namespace tessera;

namespace {

struct Sample {
  double ratio;
  std::string text;
};

void Print(const char* what, std::vector<Sample> samples, double limit) {
  std::sort(samples.begin(), samples.end(),
            [](const Sample& a, const Sample& b) { return a.ratio < b.ratio; });
  const auto above = std::count_if(samples.begin(), samples.end(),
                                   [limit](const Sample& s) { return s.ratio > limit; });
  fmt::print("{:<34} median {:.4f}  worst {:.4f}  above {:.2f}: {} of {}   worst: {}\n", what,
             samples[samples.size() / 2].ratio, samples.back().ratio, limit, above, samples.size(),
             samples.back().text);
}

}  // namespace

int main(int argc, char** argv) {
  const int changes = argc > 1 ? std::atoi(argv[1]) : 1000;
  const auto seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  std::mt19937_64 rng(seed);
  std::vector<Sample> direct, in_racks, sent, relayed, gain, rounds;
  int identical = 0;
  int off_volume = 0;
  int lost = 0;
  int stored = 0;
  for (int i = 0; i < changes; ++i) {
    const test::Change change = test::AnyChange(rng, 4);
    const auto plan = ptc::MakePlan(change.from, change.to, change.topology, {.lost = change.lost});
    if (!plan) {
      fmt::print(stderr, "{}: {}\n", change.text, plan.error().ToString());
      return 1;
    }
    const ptc::Certificate certificate =
        ptc::Certify(change.from, change.to, change.topology, change.lost, plan->port_prices);
    lost += change.lost.empty() ? 0 : 1;
    off_volume += plan->bytes.moved() != certificate.volume;
    if (certificate.direct.seconds == 0) {
      ++identical;
      continue;
    }
    const bool racks = change.topology.rack_bytes_per_second.has_value();
    (racks ? in_racks : direct)
        .push_back({plan->transfer_seconds / certificate.direct.seconds,
                    change.text + ", " + plan->busiest_port});
    stored += plan->bytes.storage > 0;
    if (plan->bytes.storage > 0 || racks) continue;  // schedules know neither
    const auto schedule = [&](bool relay) {
      return *ptc::MakeSchedule(*plan, change.from, change.to, change.topology, {.relay = relay});
    };
    const ptc::Schedule straight = schedule(false);
    const ptc::Schedule passed_on = schedule(true);
    sent.push_back({straight.busiest.seconds / certificate.direct.seconds,
                    change.text + ", " + straight.busiest.port});
    relayed.push_back({passed_on.busiest.seconds / certificate.direct.seconds,
                       change.text + ", " + passed_on.busiest.port});
    gain.push_back({passed_on.busiest.seconds / certificate.relayed.seconds, change.text});
    rounds.push_back({passed_on.seconds / straight.seconds, change.text});
  }
  fmt::print(
      "{}\n{} changes, seed {}; {} moved nothing, {} moved other bytes than the bound\n"
      "hosts failed in {}, {} read from storage\n",
      test::Machine(), changes, seed, identical, off_volume, lost, stored);
  Print("plan / direct optimum", direct, 1.01);
  Print("plan with racks / direct optimum", in_racks, 1.01);
  Print("rounds, direct / direct optimum", sent, 1.01);
  Print("with relay / direct optimum", relayed, 1.0 + 1e-9);
  Print("with relay / bound of all plans", gain, 1.0 + 1e-9);
  Print("rounds with relay / without", rounds, 1.0 + 1e-9);
  return 0;
}
