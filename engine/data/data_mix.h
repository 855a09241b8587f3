// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// All that a job trains on: one data set or several in a fixed proportion, and their order.

#include <cstdint>
#include <span>
#include <vector>

#include "engine/data/cursor.h"
#include "engine/data/dataset.h"

namespace tessera::engine {

/// A sample of one of the parts.
struct SampleId {
  int part = 0;
  std::int64_t sample = 0;  // of the part's data set
  friend bool operator==(const SampleId&, const SampleId&) = default;
};

/// Part k takes weight(k) of every stretch of the order, spread as evenly as whole samples allow; a
/// part's own samples come in the order of its own passes, each permuted anew, each sample once a
/// pass. A pass of the mix is the sum of the parts' samples; with weights in proportion to their
/// samples it visits every sample once. Where a sample stands follows in O(log parts) time and no
/// memory from its position, so it is the same on every mesh.
/// With one part the order is that of SamplesAt.
/// \threadsafety Immutable.
class DataMix {
 public:
  struct Part {
    DatasetPtr data;
    double weight = 0;  // > 0; in all parts, or 0 in all: in proportion to their samples
  };
  /// \error kInvalidArgument for no part, a weight that is no positive number or missing in some,
  ///     parts of different sequence length, more samples than Permutation takes
  static Result<DataMix> Make(std::vector<Part> parts);

  const std::vector<Part>& parts() const { return parts_; }
  std::int64_t sequence() const { return parts_.front().data->sequence(); }
  std::int64_t num_samples() const { return num_samples_; }  // of a pass
  std::uint64_t fingerprint() const;

  /// Samples at positions [begin, end) after the cursor, across passes if need be.
  /// \error kInvalidArgument for a damaged cursor or range, as SamplesAt
  Result<std::vector<SampleId>> SamplesAt(const Cursor& cursor, std::int64_t begin,
                                          std::int64_t end) const;
  /// As Dataset::ReadTokens.
  Status ReadTokens(const SampleId& id, std::span<std::int32_t> out) const {
    return parts_[static_cast<std::size_t>(id.part)].data->ReadTokens(id.sample, out);
  }

 private:
  explicit DataMix(std::vector<Part> parts) : parts_(std::move(parts)) {}
  std::vector<Part> parts_;
  std::int64_t num_samples_ = 0;
};

}  // namespace tessera::engine
