// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Where each tensor of a bucket starts among the elements that a rank's share is taken of.

#include <cstdint>
#include <vector>

#include "ptc/mesh.h"
#include "ptc/stages.h"
#include "ptc/tensor_spec.h"

namespace tessera::ptc {

/// Position of one tensor inside its bucket. It depends on what the cuts leave of the tensors
/// before it, and on which of them live on the rank's stage.
struct BucketPlace {
  std::vector<Axis> axes;           // on which it depends, in the order of kAxes; none is flat
  std::vector<std::int64_t> start;  // elements before the tensor; row-major over `axes`
  std::vector<std::int64_t> total;  // elements of the whole bucket
};

/// The places of all tensors in buckets that are cut flat on a mesh.
class Buckets {
 public:
  Buckets(const MeshShape& mesh, const Collection& tensors,
          const std::vector<std::int64_t>& stage_of_layer);
  /// nullptr for a tensor in no bucket.
  const BucketPlace* Find(int tensor) const;

 private:
  std::vector<int> place_of_;  // by tensor: position in places_, or -1; empty where no bucket is
  std::vector<BucketPlace> places_;
};

}  // namespace tessera::ptc
