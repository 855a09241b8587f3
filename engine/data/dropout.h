// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Dropout (Srivastava et al., JMLR 15, 2014) with masks that belong to elements, not to ranks.
/// Whether an element is dropped is a function of (seed, site, sample, element), so a run drops the
/// same elements under every mesh, micro-batch and order of computing.

#include <cstdint>
#include <span>

namespace tessera::engine {

/// Fills in the factors of consecutive elements of the activation of one sample, from
/// `first_element` of the uncut activation: 0 with probability `probability`, to the nearest
/// 1/65536, else 1 / (1 - probability). `site` numbers the operation in the model. `sample` counts
/// the samples of the whole run, so a sample that is read again in a later pass gets another mask.
/// The values for a seed must never change. Takes less than 1 ns per element; ranges that begin and
/// end at multiples of 64 waste nothing.
/// \pre first_element >= 0, 0 <= probability < 1
/// \threadsafety Pure.
void DropoutMask(std::int64_t seed, std::uint64_t site, std::int64_t sample,
                 std::int64_t first_element, double probability, std::span<float> out);

}  // namespace tessera::engine
