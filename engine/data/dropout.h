// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Dropout (Srivastava et al., JMLR 15, 2014) whose masks belong to elements, not to ranks: whether
/// an element is dropped is a function of (seed, site, sample, element), so a run drops the same
/// whatever the mesh, the micro-batch and the order of computing.

#include <cstdint>
#include <span>

namespace tessera::engine {

/// Factors of consecutive elements of one sample's activation, from `first_element` of the uncut
/// one: 0 with probability `probability`, to the nearest 1/65536, else 1 / (1 - probability).
/// `site` names the place in the model; `sample` counts the samples of the whole run, so that a
/// sample which comes again in a later pass is dropped anew. Values are part of what a seed means.
/// Under 1 ns an element; ranges that begin and end at multiples of 64 waste nothing.
/// \pre first_element >= 0, 0 <= probability < 1
/// \threadsafety Pure.
void DropoutMask(std::int64_t seed, std::uint64_t site, std::int64_t sample,
                 std::int64_t first_element, double probability, std::span<float> out);

}  // namespace tessera::engine
