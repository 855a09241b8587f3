// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What the property tests of ptc compare with: ownership element by element, written from the
/// definitions and sharing no code with ptc's boxes, cells or plans. And the random jobs they run
/// on.

#include <cstdint>
#include <random>
#include <vector>

#include "ptc/layout.h"

namespace tessera::test {

/// For each element of the tensor in row-major order, whether the rank holds it.
std::vector<bool> HeldElements(const ptc::Layout& layout, int rank, int tensor);

/// Row-major indices in the uncut tensor of the elements of a box, in the box's row-major order.
std::vector<std::size_t> ElementsOf(const ptc::Shape& shape, const ptc::Box& box);

/// A few small tensors and two meshes, on overlapping sets of devices, that both can cut them. In
/// every second job the tensors are cut and placed by other rules after the change than before.
struct Job {
  ptc::Layout from;
  ptc::Layout to;
};
Job AnyJob(std::mt19937_64& rng);

}  // namespace tessera::test
