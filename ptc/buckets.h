// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The position of each tensor in its bucket, whose elements are dealt to the ranks as one
/// sequence.

#include <cstdint>
#include <vector>

#include "ptc/mesh.h"
#include "ptc/stages.h"
#include "ptc/tensor_spec.h"

namespace tessera::ptc {

/// The position of one tensor in its bucket. It depends on the elements that the cuts leave of the
/// tensors before it, and on which of these tensors are on the stage of the rank.
struct BucketPlace {
  std::vector<Axis> axes;           // the axes it depends on, in the order of kAxes; none is flat
  std::vector<std::int64_t> start;  // elements before the tensor; row-major over `axes`
  std::vector<std::int64_t> total;  // elements of the whole bucket; row-major over `axes`
};

/// The positions of all tensors in buckets that are cut flat on a mesh.
class Buckets {
 public:
  Buckets(const MeshShape& mesh, const Collection& tensors,
          const std::vector<std::int64_t>& stage_of_layer);
  /// The position of a tensor, or nullptr if it is in no bucket.
  const BucketPlace* Find(int tensor) const;

 private:
  std::vector<int> place_of_;  // by tensor: index into places_, or -1; empty if no bucket is cut
  std::vector<BucketPlace> places_;
};

}  // namespace tessera::ptc
