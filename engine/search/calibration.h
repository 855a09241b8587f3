// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The constants of the cost model (engine/search/cost_model.h): the measured speed of the machines
/// and links of a cluster. `tessera-train --probe` measures them, the profile stores them.

#include <cstdint>
#include <string>
#include <string_view>

#include "ptc/base/result.h"

namespace tessera::engine {

/// Time of a message or collective as a straight line (Hockney 1994): seconds + bytes * per_byte.
struct LinkCost {
  double seconds = 0;
  double seconds_per_byte = 0;
  double At(std::int64_t bytes) const {
    return seconds + seconds_per_byte * static_cast<double>(bytes);
  }
  friend bool operator==(const LinkCost&, const LinkCost&) = default;
};

/// The cost of a collective by the number of ranks: measured with 2, 4 and 8 ranks on one machine,
/// interpolated linearly over log2(ranks). Above 8 ranks it is a ring (Patarasu and Yuan 2009): the
/// latency grows with n - 1, and the time per byte with (n - 1) / n, so it stays nearly constant.
struct CollectiveCost {
  LinkCost two, four, eight;
  /// One rank costs nothing.
  /// \pre ranks >= 1
  LinkCost Of(std::int64_t ranks) const;
  friend bool operator==(const CollectiveCost&, const CollectiveCost&) = default;
};

/// Seconds are those of one core that works alone, unless stated otherwise. The defaults were
/// measured by `tessera-train --probe` on a virtual machine with 2 cores of an AMD EPYC, OpenBLAS
/// 0.3.21; those between hosts over loopback on 2 cores of a busy Emerald Rapids
/// (engine/search/DESIGN.md).
struct Calibration {
  double measured_at = 0;  // wall clock, seconds since 1970; 0: the built-in constants
  std::string cpu = {};    // model name, for a reader
  std::int64_t cores = 2;  // of a machine
  /// The work that all cores together do while one core alone does 1: less than `cores` if they
  /// share caches or are two threads of one core.
  double all_cores_speed = 1.8;

  /// Seconds of a forward and backward pass:
  /// pass + layers * layer + FLOPs / flops_per_second + elements * element.
  double pass_seconds = 0;        // each micro-batch: embedding, loss, bookkeeping
  double layer_seconds = 3.9e-4;  // each layer of each micro-batch: calls, autograd
  double flops_per_second = 1e11;
  double element_seconds = 4.5e-10;  // each element of an activation, outside matrix products
  /// Each parameter of a rank: its gradient is zeroed, copied, and added to the norm.
  double gradient_seconds = 2.2e-9;
  double update_seconds = 6.9e-10;  // each parameter that a rank updates: AdamW

  // Ranks of one host use shared memory, ranks of several hosts TCP. A gather counts the bytes of
  // its whole result.
  CollectiveCost shared_all_reduce = {{7.2e-6, 1.6e-10}, {1.5e-5, 4.2e-10}, {3.8e-5, 1.4e-9}};
  CollectiveCost network_all_reduce = {{1.5e-5, 7e-10}, {4e-5, 1.8e-9}, {2.8e-4, 5.3e-9}};
  CollectiveCost shared_gather = {{6.9e-6, 1.1e-10}, {1.4e-5, 1.4e-10}, {2.4e-5, 5.2e-10}};
  CollectiveCost network_gather = {{1.4e-5, 2.4e-10}, {2.4e-5, 5e-10}, {3.6e-4, 2.8e-9}};
  // A message between pipeline stages.
  LinkCost shared_send = {1.9e-5, 7e-11};
  LinkCost network_send = {9.3e-6, 1.9e-10};
  /// The rest of a step, for each rank: data, step decision, messages to the agent. Not probed:
  /// steps of gpt-nano on one rank differed by no more with and without a cluster.
  double step_seconds = 5e-4;

  friend bool operator==(const Calibration&, const Calibration&) = default;
};

/// JSON, one line, all keys.
std::string ToJson(const Calibration& calibration);
/// \error kInvalidArgument naming a key that is unknown, missing, or not a finite number within its
///     limits
Result<Calibration> ParseCalibration(std::string_view json);

}  // namespace tessera::engine
