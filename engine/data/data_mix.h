// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// All that a job trains on: one data set or several in a fixed proportion, and their order.
///
/// The order is that of a balanced binary tree over the parts. A node whose left half has the
/// weight L and whose both halves have W sends its i-th sample to the left iff
/// floor((i + 1) L / W) > floor(i L / W), as a Sturmian word of slope L / W (Lothaire, "Algebraic
/// Combinatorics on Words", 2002, chapter 2): the left half has had floor(i L / W) of the first i.
/// So part and place within it follow from a position by one division a level, and of the first i
/// samples part k has had i * weight(k), give or take less than the depth of the tree.

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

/// A part's own samples come in the order of its own passes, each permuted anew, each sample once a
/// pass. A pass of the mix is the sum of the parts' samples; with weights in proportion to their
/// samples it visits every sample once. Where a sample stands follows from its position alone, so
/// it is the same on every mesh. With one part the order is that of SamplesAt.
/// \threadsafety Immutable.
class DataMix {
 public:
  /// Weights are rounded to multiples of 1 / kWeightUnit of their sum, and never to 0.
  static constexpr std::int64_t kWeightUnit = std::int64_t{1} << 32;

  struct Part {
    DatasetPtr data;
    double weight = 0;  // > 0; in all parts, or 0 in all: in proportion to their samples
  };
  /// \error kInvalidArgument for no part, a weight that is no positive number or missing in some,
  ///     parts of different sequence length, more samples than Permutation takes, over 65536 parts
  static Result<DataMix> Make(std::vector<Part> parts);

  const std::vector<Part>& parts() const { return parts_; }
  std::int64_t sequence() const { return parts_.front().data->sequence(); }
  std::int64_t num_samples() const { return num_samples_; }  // of a pass
  /// The share of a part in the order, as it was rounded.
  double share(int part) const;
  /// That of the data set where there is one part.
  std::uint64_t fingerprint() const;

  /// Samples at positions [begin, end) after the cursor, across passes if need be.
  /// O((end - begin) log parts) time.
  /// \error kInvalidArgument for a damaged cursor or range, as SamplesAt; for one that lies 2^62
  ///     samples or more after the beginning, where there are several parts
  Result<std::vector<SampleId>> SamplesAt(const Cursor& cursor, std::int64_t begin,
                                          std::int64_t end) const;
  /// As Dataset::ReadTokens.
  Status ReadTokens(const SampleId& id, std::span<std::int32_t> out) const {
    return parts_[static_cast<std::size_t>(id.part)].data->ReadTokens(id.sample, out);
  }

 private:
  explicit DataMix(std::vector<Part> parts) : parts_(std::move(parts)) {}
  struct Place {
    std::size_t part = 0;
    std::int64_t index = 0;  // how many samples of the part come before, over all passes
  };
  Place PlaceAt(std::int64_t position) const;

  std::vector<Part> parts_;
  std::vector<std::int64_t> weights_before_;  // of parts [0, i); one more than there are parts
  std::int64_t num_samples_ = 0;
};

}  // namespace tessera::engine
