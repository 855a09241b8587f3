// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The data of a job in a snapshot of the cluster.

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::engine {

/// The data of a job of the built-in trainer; empty for a job that runs its own program. The
/// position of the job in the data follows from its step, because each step takes one global batch.
struct DataStatus {
  /// One data set of the mixture.
  struct Dataset {
    std::string name;    // as the user gave it: a path, a URL
    std::string format;  // "text", "megatron", …
    std::int64_t num_samples = 0;
    double weight = 0;  // 0: in proportion to the samples
    friend bool operator==(const Dataset&, const Dataset&) = default;
  };
  std::vector<Dataset> parts = {};
  std::int64_t num_samples = 0;  // of a pass
  std::int64_t sequence = 0;     // tokens of a sample
  std::int64_t seed = 0;
  bool empty() const { return parts.empty(); }
  friend bool operator==(const DataStatus&, const DataStatus&) = default;
};

}  // namespace tessera::engine
