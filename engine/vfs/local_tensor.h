// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A tensor as one rank has it in memory: boxes of the uncut tensor that follow each other along
/// one dimension. A fused weight q|k|v that tp cuts inside each segment is the usual case:
///
///     uncut   | q0 q1 | k0 k1 | v0 v1 |        rank 0   | q0 k0 v0 |
///                                              rank 1   | q1 k1 v1 |

#include <optional>
#include <vector>

#include "ptc/box.h"
#include "ptc/tensor_spec.h"

namespace tessera::engine::vfs {

/// Immutable.
class LocalTensor {
 public:
  /// Elements of one of the boxes.
  struct Range {
    ptc::Box box;     // in the uncut tensor
    ptc::Box memory;  // the box that was divided, in the same coordinates; contains `box`
  };

  /// A tensor without elements.
  LocalTensor() = default;
  explicit LocalTensor(const ptc::Box& box) : boxes_{box} {}
  /// Joins what a rank holds of `spec` along the dimension of its segments.
  /// \param boxes ascending and disjoint
  /// \return nullopt if `boxes` differ in another dimension, or if the tensor has no segments or is
  ///     cut flat: such boxes do not form a tensor of their own
  static std::optional<LocalTensor> Join(std::vector<ptc::Box> boxes, const ptc::TensorSpec& spec);

  /// In the order of their elements along the joined dimension; none without elements.
  const std::vector<ptc::Box>& boxes() const { return boxes_; }
  /// \pre !boxes().empty()
  ptc::Shape shape() const { return Memory(0).shape(); }
  /// The box of the whole local tensor, moved so that boxes()[i] lies in it where it lies in
  /// memory.
  /// \pre 0 <= i < boxes().size()
  ptc::Box Memory(std::size_t i) const;
  /// Moves a box inside of boxes()[i] into the coordinates of Memory(0).
  ptc::Box ToMemory(std::size_t i, const ptc::Box& box) const;
  /// Divides a box in the coordinates of Memory(0) among the boxes, in their order.
  std::vector<Range> Split(const ptc::Box& box) const;
  /// Whether the ranges of Split(box) follow each other in the row-major memory of `box`.
  bool IsInOrder(const ptc::Box& box) const;

 private:
  LocalTensor(std::vector<ptc::Box> boxes, int dim) : boxes_(std::move(boxes)), dim_(dim) {}
  /// Elements along dim_ before boxes_[i].
  std::int64_t Before(std::size_t i) const;
  /// From coordinates of Memory(0) to those of boxes_[i], along dim_.
  std::int64_t ShiftOf(std::size_t i) const;

  std::vector<ptc::Box> boxes_;
  int dim_ = 0;  // they are joined along it
};

}  // namespace tessera::engine::vfs
