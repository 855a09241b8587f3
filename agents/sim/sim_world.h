// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What all parts of one simulation share: time, chance, and the first thing that went wrong.

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <random>
#include <string>

#include "agents/sim/virtual_clock.h"

namespace tessera::agents::sim {

class SimWorld {
 public:
  explicit SimWorld(std::uint64_t seed, std::function<void(const std::string& line)> trace = {})
      : random_(seed), trace_(std::move(trace)) {}

  VirtualClock clock;
  /// The first violation, with its time; empty: none.
  std::string violation;
  /// A step of the job has been decided, and is in the memory of a rank of this epoch.
  std::function<void(const std::string& job, std::int64_t epoch)> on_decision;

  Time Pick(Time least, Time most) {
    return std::uniform_int_distribution<Time>(least, most)(random_);
  }
  bool Chance(double p) { return std::bernoulli_distribution(p)(random_); }
  void Violate(const std::string& what) {
    if (!violation.empty()) return;
    violation = fmt::format("at {} ms: {}", clock.now(), what);
    Note("VIOLATION: " + what);
  }
  bool is_traced() const { return trace_ != nullptr; }
  void Note(const std::string& line) {
    if (trace_) trace_(fmt::format("{:>7} {}", clock.now(), line));
  }
  /// Parts that take the time for a moment of the machine's clock expect it to be long after the
  /// clock's epoch.
  std::chrono::steady_clock::time_point time_point() const {
    return std::chrono::steady_clock::time_point(std::chrono::hours(1)) +
           std::chrono::milliseconds(clock.now());
  }

  /// Seconds since 1970.
  double wall_clock() const { return epoch_ + static_cast<double>(clock.now()) / 1000; }
  /// The wall clock at the begin.
  void SetEpoch(double wall_clock) { epoch_ = wall_clock; }

 private:
  std::mt19937_64 random_;
  double epoch_ = 1e9;
  const std::function<void(const std::string& line)> trace_;
};

}  // namespace tessera::agents::sim
