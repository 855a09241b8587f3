// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What a job reads, as a snapshot tells it.

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::engine {

/// The data of a job that trains with the built-in trainer; empty for others, whose data are their
/// own. Where the job stands in them follows from its step: each takes one global batch.
struct DataStatus {
  struct Part {
    std::string name;    // as it was given: a path, a URL
    std::string format;  // "text", "megatron", …
    std::int64_t num_samples = 0;
    double weight = 0;  // 0: in proportion to the samples
    friend bool operator==(const Part&, const Part&) = default;
  };
  std::vector<Part> parts = {};
  std::int64_t num_samples = 0;  // of a pass
  std::int64_t sequence = 0;     // tokens of a sample
  std::int64_t seed = 0;
  bool empty() const { return parts.empty(); }
  friend bool operator==(const DataStatus&, const DataStatus&) = default;
};

}  // namespace tessera::engine
