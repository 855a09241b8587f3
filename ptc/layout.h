// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A layout: which boxes of which tensors each device of a mesh holds (alpha after phi after
/// sigma).

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ptc/mesh.h"
#include "ptc/stages.h"
#include "ptc/tensor_spec.h"

namespace tessera::ptc {

/// What the ranks hold of one tensor. The boxes of a rank depend on its stage and on its
/// coordinates along the axes that cut; a model on 16,384 devices has few such parts, and
/// everything that must be fast computes with them and never with ranks.
struct Parts {
  std::vector<Axis> axes;               // that cut the tensor, in the order of kAxes, degree > 1
  std::vector<std::vector<Box>> boxes;  // row-major over `axes`; parts may be empty or equal
  std::vector<std::int64_t> stages;     // ascending; all of them where axis pp cuts
};

class Buckets;  // ptc/buckets.h

/// Mesh, stages and tensors; expands lazily to boxes. Cheap to copy, immutable.
class Layout {
 public:
  /// \error kInvalidArgument for a Split::kEven that does not divide:
  ///     `tensor 'h.0.w': dim 1 = 10 is not divisible by axis tp = 4`
  ///     (a segment is named as `segment 2 of dim 0 = 10`), for heads that do not go into the parts
  ///     (names K, Q and T), and as StagesOfLayers.
  static Result<Layout> Make(DeviceMesh mesh, CollectionPtr tensors, StageRule stages = {});

  const DeviceMesh& mesh() const { return mesh_; }
  const Collection& collection() const { return *tensors_; }
  const CollectionPtr& collection_ptr() const { return tensors_; }
  const StageRule& stage_rule() const { return stage_rule_; }
  /// Stage of each layer.
  const std::vector<std::int64_t>& stage_of_layer() const { return *stage_of_layer_; }

  /// Boxes of tensor `tensor` that `rank` holds, ascending: one a segment (never merged across
  /// segments), none where the tensor is on another stage or the rank's part has no elements. Of a
  /// flat tensor of n dims up to max(1, 2n-1) for each such box, each one contiguous row-major
  /// range of it; where the segments are those of dim 0 (or there are none), the ascending order is
  /// the order along the shard. \pre 0 <= rank < mesh().num_ranks(), 0 <= tensor < tensors().size()
  std::vector<Box> Boxes(int rank, int tensor) const;
  /// All parts of one tensor. Boxes(rank, t) is PartsOf(t).boxes[PartIndex(rank, parts)] where the
  /// rank's stage is among the stages, and none elsewhere.
  Parts PartsOf(int tensor) const;
  /// Position in parts.boxes that the coordinates of `rank` select.
  std::size_t PartIndex(int rank, const Parts& parts) const;
  /// Bytes of state that `rank` holds.
  std::int64_t BytesOf(int rank) const;
  /// Equal on every machine for equal layouts: xxh3-64 of the compact text form.
  std::uint64_t hash() const;
  friend bool operator==(const Layout& a, const Layout& b) {
    return a.mesh_ == b.mesh_ && a.stage_rule_ == b.stage_rule_ && *a.tensors_ == *b.tensors_;
  }

 private:
  Layout(DeviceMesh mesh, CollectionPtr tensors, StageRule rule,
         std::vector<std::int64_t> stage_of_layer);
  /// Boxes of a tensor at coordinates along all axes.
  std::vector<Box> BoxesAt(int tensor, const Coordinates& at) const;
  DeviceMesh mesh_;
  CollectionPtr tensors_;
  StageRule stage_rule_;
  std::shared_ptr<const std::vector<std::int64_t>> stage_of_layer_;
  std::shared_ptr<const Buckets> buckets_;
};

/// Compact JSON, keys sorted: {"mesh":"dp=2,tp=2,pp=1 on n0g0,…","num_layers":4,"tensors":[…]};
/// keys of options stand only where they differ from the default, so old texts and hashes stay as
/// they are.
std::string ToJson(const Layout& layout);
/// \error kInvalidArgument naming the byte offset or the key; never throws, never aborts.
Result<Layout> ParseLayout(std::string_view json);
/// 16 lower-case hex digits: the spelling of every hash and digest.
std::string Hex16(std::uint64_t value);
Result<std::uint64_t> ParseHex16(std::string_view text);

}  // namespace tessera::ptc
