// SPDX-License-Identifier: Apache-2.0
// How long a plan takes. Prints the machine, medians of repeated runs in milliseconds.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "engine/model/gpt.h"
#include "ptc/plan/plan.h"
#include "tests/bench/machine.h"

using namespace tessera;

namespace {

struct Side {
  const char* mesh;
  bool zero = false;
};

void Time(const char* model, const Side& from_side, const Side& to_side) {
  const auto layout = [model](const Side& side) {
    const engine::JobSettings settings{.model = *engine::FindModel(model)};
    return *ptc::Layout::Make(*ptc::ParseDeviceMesh(side.mesh),
                              *engine::MakeCollection(settings, side.zero));
  };
  const ptc::Layout from = layout(from_side);
  const ptc::Layout to = layout(to_side);
  std::vector<double> milliseconds;
  std::size_t moves = 0;
  for (int i = 0; i < 21; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const auto plan = ptc::MakePlan(from, to, {});
    milliseconds.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
            .count());
    moves = plan->moves.size();
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  const auto describe = [](const Side& side) {
    return fmt::format("{}{}", side.mesh, side.zero ? " zero" : "");
  };
  fmt::print("{:<10} {:<30} -> {:<30} {:>5} tensors {:>6} moves {:>8.2f} ms\n", model,
             describe(from_side), describe(to_side), from.collection().tensors().size(), moves,
             milliseconds[milliseconds.size() / 2]);
}

}  // namespace

int main() {
  fmt::print("{}\nplanning, median of 21\n", test::Machine());
  for (const auto& [from_zero, to_zero] :
       {std::pair{false, false}, {true, true}, {false, true}, {true, false}}) {
    const auto time = [&](const char* from, const char* to) {
      Time("gpt-mini", {from, from_zero}, {to, to_zero});
    };
    time("dp=2,tp=2,pp=1 on 1x4", "dp=4,tp=2,pp=1 on 2x4");
    time("dp=4,tp=2,pp=1 on 2x4", "dp=2,tp=4,pp=1 on 2x4");
    time("dp=8,tp=2,pp=1 on 2x8", "dp=4,tp=4,pp=1 on 2x8");
    time("dp=4,tp=2,pp=2 on 2x8", "dp=2,tp=2,pp=4 on 2x8");
    time("dp=16,tp=4,pp=1 on 8x8", "dp=8,tp=8,pp=1 on 8x8");
  }
  return 0;
}
