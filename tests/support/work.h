// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Costs in units of a piece of work that the same thread does in the same run. A slow machine, or a
/// sanitizer, makes both longer; other processes make neither longer, because only the processor
/// time of the thread counts. tests/bench prints real times.

#include <time.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tessera::test {

/// Returns the processor time of this thread in seconds.
inline double ProcessorSeconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

template <typename Act>
double ProcessorSecondsOf(const Act& act) {
  const double before = ProcessorSeconds();
  act();
  return ProcessorSeconds() - before;
}

/// Returns the processor seconds of one unit of work: sorts 16,384 numbers, which takes about a
/// millisecond. The median of five.
inline double WorkUnit() {
  std::vector<double> times;
  for (int run = 0; run < 5; ++run) {
    std::vector<std::uint32_t> numbers(1 << 14);
    std::uint32_t state = 1;
    for (std::uint32_t& number : numbers) number = state = state * 1'664'525U + 1'013'904'223U;
    times.push_back(ProcessorSecondsOf([&] { std::sort(numbers.begin(), numbers.end()); }));
  }
  std::nth_element(times.begin(), times.begin() + 2, times.end());
  return times[2];
}

/// Returns the median cost of `act(0)`, `act(1)`, …, in units of work.
template <typename Act>
double UnitsOf(int runs, const Act& act) {
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) times.push_back(ProcessorSecondsOf([&] { act(i); }));
  std::nth_element(times.begin(), times.begin() + runs / 2, times.end());
  return times[static_cast<std::size_t>(runs / 2)] / WorkUnit();
}

}  // namespace tessera::test
