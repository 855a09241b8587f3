// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What a device holds and needs of the tensors of a kind.

#include <optional>
#include <vector>

#include "ptc/plan/kinds.h"

namespace tessera::engine {

/// The pieces of one tensor on a device.
struct KindPieces {
  const std::vector<ptc::Box>& held;    // in the old layout
  const std::vector<ptc::Box>& needed;  // in the new one
};
/// \param from_rank, to_rank of the device in each layout; none: it is not in it
/// \return references into `kinds`
KindPieces PiecesOn(const ptc::Kinds& kinds, const ptc::KindOnStages& staged,
                    std::optional<int> from_rank, std::optional<int> to_rank);

}  // namespace tessera::engine
