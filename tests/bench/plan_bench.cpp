// SPDX-License-Identifier: Apache-2.0
// How long a plan takes. Prints the machine, medians of repeated runs in milliseconds.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "engine/model/gpt.h"
#include "ptc/plan/plan.h"
#include "tests/bench/machine.h"

using namespace tessera;

namespace {

void Time(const char* model, const char* from_text, const char* to_text) {
  const auto tensors = *engine::MakeCollection(*engine::FindModel(model));
  const auto from = *ptc::Layout::Make(*ptc::ParseDeviceMesh(from_text), tensors);
  const auto to = *ptc::Layout::Make(*ptc::ParseDeviceMesh(to_text), tensors);
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
  fmt::print("{:<10} {:<28} -> {:<28} {:>5} tensors {:>6} moves {:>8.2f} ms\n", model, from_text,
             to_text, tensors->tensors().size(), moves, milliseconds[milliseconds.size() / 2]);
}

}  // namespace

int main() {
  fmt::print("{}\nplanning, median of 21\n", test::Machine());
  Time("gpt-mini", "dp=2,tp=2,pp=1 on 1x4", "dp=4,tp=2,pp=1 on 2x4");
  Time("gpt-mini", "dp=4,tp=2,pp=1 on 2x4", "dp=2,tp=4,pp=1 on 2x4");
  Time("gpt-mini", "dp=8,tp=2,pp=1 on 2x8", "dp=4,tp=4,pp=1 on 2x8");
  Time("gpt-mini", "dp=16,tp=4,pp=1 on 8x8", "dp=8,tp=8,pp=1 on 8x8");
  return 0;
}
