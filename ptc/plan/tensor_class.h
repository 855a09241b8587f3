// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Tensors that two layouts treat alike: same shape and element size, in each layout the same cut
/// and stages. A model of any depth has few such classes, and pieces, cells and moves are computed
/// once for each.

#include <vector>

#include "ptc/layout.h"

namespace tessera::ptc {

struct TensorClasses {
  std::vector<std::size_t> class_of;  // by tensor
  std::vector<int> first;             // by class: the first tensor of it
  std::vector<std::int64_t> count;    // by class: number of tensors
};

/// Whether the two collections have the same tensors: the same names with the same dtypes, shapes
/// and roles. How they are cut and placed may differ. \error kInvalidArgument naming the first
/// tensor that differs
Status CheckSameTensors(const Collection& from, const Collection& to);

/// Classes are numbered in the order of their first tensors.
/// \pre CheckSameTensors(from, to)
TensorClasses ClassifyTensors(const Layout& from, const Layout& to);

}  // namespace tessera::ptc
