// SPDX-License-Identifier: Apache-2.0
// How long certificates take, up to 16,384 devices. Prints the machine, medians of repeated runs
// and the most memory that the program ever had.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "ptc/certificate/certificate.h"
#include "tests/bench/llama.h"
#include "tests/bench/machine.h"

using namespace tessera;

namespace {

double PeakMebibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void Time(const char* from_mesh, const char* to_mesh, bool zero) {
  const auto model = test::MakeLlama(test::kLlama405B, zero);
  const auto from = *ptc::Layout::Make(*ptc::ParseDeviceMesh(from_mesh), model);
  const auto to = *ptc::Layout::Make(*ptc::ParseDeviceMesh(to_mesh), model);
  std::vector<double> milliseconds;
  ptc::Certificate certificate;
  for (int i = 0; i < 5; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    certificate = ptc::Certify(from, to, {});
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    milliseconds.push_back(took.count());
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  fmt::print(
      "{:<24} -> {:<24} {:<5} {:>8.1f} ms  volume {:>7.2f} TB  direct {:>7.2f} s {:<9} "
      "relayed {:>7.2f} s  peak memory so far {:.0f} MiB\n",
      from_mesh, to_mesh, zero ? "zero" : "", milliseconds[milliseconds.size() / 2],
      static_cast<double>(certificate.volume) / 1e12, certificate.direct.seconds,
      certificate.direct.port, certificate.relayed.seconds, PeakMebibytes());
}

}  // namespace

int main() {
  fmt::print("{}\ncertificates of Llama-3-405B with Adam states, median of 5\n", test::Machine());
  for (bool zero : {false, true}) {
    Time("tp=8,pp=16,dp=1 on 16x8", "tp=16,pp=8,dp=1 on 16x8", zero);
    Time("tp=8,pp=16,dp=8 on 128x8", "tp=16,pp=8,dp=8 on 128x8", zero);
    Time("tp=8,pp=16,dp=32 on 512x8", "tp=16,pp=8,dp=32 on 512x8", zero);
    Time("tp=8,pp=16,dp=128 on 2048x8", "tp=16,pp=8,dp=128 on 2048x8", zero);
    Time("tp=8,pp=16,dp=128 on 2048x8", "tp=8,pp=16,dp=120 on 1920x8", zero);
  }
  return 0;
}
