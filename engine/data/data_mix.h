// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The data of a job: one data set, or several in a fixed proportion, and their order.
///
/// The order is that of a balanced binary tree over the parts. Let L be the weight of the left half
/// of a node and W that of both halves. The node sends its i-th sample to the left iff floor((i +
/// 1) L / W) > floor(i L / W), as a Sturmian word of slope L / W does (Lothaire, "Algebraic
/// Combinatorics on Words", 2002, chapter 2). The left half then has floor(i L / W) of the first i
/// samples. So the part of a position, and the index within the part, follow from one division per
/// level. Of the first i samples part k has i * weight(k), give or take less than the depth of the
/// tree.

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

/// The samples of a part come in the order of its own passes, each a new permutation with each
/// sample once. A pass of the mix has as many samples as all parts together; with weights in
/// proportion to their samples it visits every sample once. The sample at a position depends on the
/// position alone, so it is the same on every mesh. With one part the order is that of SamplesAt.
/// \threadsafety Immutable.
class DataMix {
 public:
  /// Weights are rounded to multiples of 1 / kWeightUnit of their sum, and never to 0.
  static constexpr std::int64_t kWeightUnit = std::int64_t{1} << 32;

  struct Part {
    DatasetPtr data;
    double weight = 0;  // > 0; in all parts, or 0 in all: in proportion to their samples
  };
  /// \error kInvalidArgument for no part, a weight that is negative, not finite or missing in some
  ///     parts, parts of different sequence length, more samples than Permutation takes, or more
  ///     than 65536 parts
  static Result<DataMix> Make(std::vector<Part> parts);

  const std::vector<Part>& parts() const { return parts_; }
  std::int64_t sequence() const { return parts_.front().data->sequence(); }
  std::int64_t num_samples() const { return num_samples_; }  // of a pass
  /// Returns the share of a part in the order, as it was rounded.
  double share(int part) const;
  /// With one part, the fingerprint of its data set.
  std::uint64_t fingerprint() const;

  /// Returns the samples at positions [begin, end) after the cursor, across passes if need be.
  /// O((end - begin) log parts) time.
  /// \error kInvalidArgument for a damaged cursor or range, as SamplesAt; with several parts also
  ///     for a cursor 2^62 samples or more after the beginning
  Result<std::vector<SampleId>> SamplesAt(const Cursor& cursor, std::int64_t begin,
                                          std::int64_t end) const;
  /// As Dataset::ReadTokens.
  Status ReadTokens(const SampleId& id, std::span<std::int32_t> out) const {
    return parts_[static_cast<std::size_t>(id.part)].data->ReadTokens(id.sample, out);
  }

 private:
  explicit DataMix(std::vector<Part> parts) : parts_(std::move(parts)) {}
  struct PartPosition {
    std::size_t part = 0;
    std::int64_t index = 0;  // the samples of the part before this one, over all passes
  };
  PartPosition PartPositionAt(std::int64_t position) const;

  std::vector<Part> parts_;
  std::vector<std::int64_t> weights_before_;  // of parts [0, i); one more than there are parts
  std::int64_t num_samples_ = 0;
};

}  // namespace tessera::engine
