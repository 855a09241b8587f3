// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Small layouts that a test writes down: a mesh as text, and tensors that are all alike.

#include <string>
#include <utility>
#include <vector>

#include "ptc/layout.h"

namespace tessera::test {

/// Tensors w0, w1, … of one shape. `cuts` has the axes of the first dims.
inline ptc::CollectionPtr EqualTensors(int count, const ptc::Shape& shape,
                                       const std::vector<std::vector<ptc::Axis>>& cuts = {},
                                       ptc::DType dtype = ptc::DType::kU8) {
  std::vector<ptc::TensorSpec> specs(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    ptc::TensorSpec& spec = specs[static_cast<std::size_t>(i)];
    spec.name = "w" + std::to_string(i);
    spec.dtype = dtype;
    spec.shape = shape;
    for (const std::vector<ptc::Axis>& axes : cuts) spec.rule.dims.push_back({axes});
  }
  return *ptc::Collection::Make(std::move(specs), 0);
}

/// \param mesh as ParseDeviceMesh
inline ptc::Layout On(const std::string& mesh, const ptc::CollectionPtr& collection) {
  return *ptc::Layout::Make(*ptc::ParseDeviceMesh(mesh), collection);
}

}  // namespace tessera::test
