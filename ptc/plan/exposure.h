// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Computes the state that exists in one place only: what a job loses with a device, a node or a
/// rack.

#include <cstdint>
#include <map>
#include <span>

#include "ptc/mesh.h"
#include "ptc/plan/kinds.h"

namespace tessera::ptc {

/// Returns, by domain, the bytes of the new layout that only ranks of this domain hold. Domains
/// that hold no byte alone are left out. O(ranks + cells).
/// \param domain_of by rank of the new layout, such as the numbers of the nodes
/// \pre one domain per rank
std::map<std::int32_t, std::int64_t> HeldOnlyIn(const Kinds& kinds,
                                                std::span<const std::int32_t> domain_of);

}  // namespace tessera::ptc
