// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A layout: the boxes of tensors that each device of a mesh holds. In the terms of the Tenplex
/// paper it combines slicing (sigma), partitioning (phi) and allocation (alpha).

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ptc/mesh.h"
#include "ptc/stages.h"
#include "ptc/tensor_spec.h"

namespace tessera::ptc {

/// The parts of one tensor. The boxes of a rank depend only on its stage and on its coordinates
/// along the axes that cut. There are few such parts even on 16,384 devices, so everything that
/// must be fast computes with parts and not with ranks.
struct Parts {
  std::vector<Axis> axes;               // those that cut the tensor, in the order of kAxes
  std::vector<std::vector<Box>> boxes;  // row-major over `axes`; parts may be empty or equal
  std::vector<std::int64_t> stages;     // ascending; all of them if axis pp cuts the tensor
};

class Buckets;  // ptc/buckets.h

/// A mesh, a stage rule and tensors. Boxes are computed on request and never stored. Immutable and
/// cheap to copy. Any thread may call any function.
class Layout {
 public:
  /// \error kInvalidArgument if a Split::kEven does not divide the size:
  ///     `tensor 'h.0.w': dim 1 = 10 is not divisible by axis tp = 4`
  ///     (a segment is named as `segment 2 of dim 0 = 10`); if heads cannot be divided among the
  ///     parts; and as CheckScales and StagesOfLayers. kUnimplemented for a dtype below one byte.
  static Result<Layout> Make(DeviceMesh mesh, CollectionPtr tensors, StageRule stages = {});

  const DeviceMesh& mesh() const { return mesh_; }
  const Collection& collection() const { return *tensors_; }
  const CollectionPtr& collection_ptr() const { return tensors_; }
  const StageRule& stage_rule() const { return stage_rule_; }
  /// The stage of each layer.
  const std::vector<std::int64_t>& stage_of_layer() const { return *stage_of_layer_; }

  /// The boxes of a tensor that `rank` holds, ascending: one per segment, which are not merged even
  /// if they touch; none if the tensor is on another stage or if the rank's part has no elements.
  ///
  /// A flat cut divides each of these boxes into up to max(1, 2n-1) boxes for n dims, each one
  /// contiguous row-major range. If the segments are those of dim 0, or if there are none, the
  /// ascending order is the order along the shard.
  /// \pre 0 <= rank < mesh().num_ranks(), 0 <= tensor < tensors().size()
  std::vector<Box> Boxes(int rank, int tensor) const;
  /// All parts of one tensor. Boxes(rank, t) is PartsOf(t).boxes[PartIndex(rank, parts)] if the
  /// stage of the rank is among the stages, and empty otherwise.
  Parts PartsOf(int tensor) const;
  /// The index into parts.boxes for the coordinates of `rank`.
  std::size_t PartIndex(int rank, const Parts& parts) const;
  /// The bytes of state that `rank` holds.
  std::int64_t BytesOf(int rank) const;
  /// xxh3-64 of the compact text form, so equal layouts have equal hashes on every machine. The
  /// first call prints the text, O(tensors); later calls, also on copies, return the stored value.
  std::uint64_t hash() const;
  friend bool operator==(const Layout& a, const Layout& b) {
    return a.mesh_ == b.mesh_ && a.stage_rule_ == b.stage_rule_ && *a.tensors_ == *b.tensors_;
  }

 private:
  Layout(DeviceMesh mesh, CollectionPtr tensors, StageRule rule,
         std::vector<std::int64_t> stage_of_layer);
  struct Hash;
  /// The boxes of a tensor at coordinates along all axes.
  std::vector<Box> BoxesAt(int tensor, const Coordinates& at) const;
  DeviceMesh mesh_;
  CollectionPtr tensors_;
  StageRule stage_rule_;
  std::shared_ptr<const std::vector<std::int64_t>> stage_of_layer_;
  std::shared_ptr<const Buckets> buckets_;
  std::shared_ptr<Hash> hash_;  // shared by all copies
};

/// Compact JSON with sorted keys: {"mesh":"dp=2,tp=2,pp=1 on n0g0,…","num_layers":4,"tensors":[…]}.
/// An option is printed only if it differs from the default, so that a new option changes no old
/// text and no old hash.
std::string ToJson(const Layout& layout);
/// \error kInvalidArgument naming the byte offset or the key
Result<Layout> ParseLayout(std::string_view json);
/// 16 lower-case hex digits, the text form of every hash and digest.
std::string Hex16(std::uint64_t value);
/// \error kInvalidArgument naming the text
Result<std::uint64_t> ParseHex16(std::string_view text);

}  // namespace tessera::ptc
