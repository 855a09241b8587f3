// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Settings that a change may include besides mesh and devices.

#include <cstdint>
#include <string>
#include <string_view>

#include "ptc/base/result.h"

namespace tessera::engine {

struct StepOptions {
  /// Cuts optimizer state flat over the data-parallel ranks (ZeRO-1; Rajbhandari et al., SC 2020,
  /// section 5.1). Changes the layout.
  bool zero = false;
  /// Samples of one forward and backward pass; 0: the trainer chooses. Does not change the layout.
  std::int64_t micro_batch = 0;
  friend bool operator==(const StepOptions&, const StepOptions&) = default;
};

/// "zero, micro-batch 4"; empty for the defaults.
std::string ToString(const StepOptions& options);
/// Parses what ToString returns.
/// \error kInvalidArgument naming the text
Result<StepOptions> ParseStepOptions(std::string_view text);

}  // namespace tessera::engine
