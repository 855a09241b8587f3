// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The tensors of each stage, by their kinds.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ptc/base/at.h"
#include "ptc/plan/kinds.h"

namespace tessera::ptc {

/// By stage of one side: the indices into `kinds.staged` of the tensors that are on it, ascending.
/// \param ranks kinds.from or kinds.to
/// \param stages &KindOnStages::from_stages or &KindOnStages::to_stages
inline std::vector<std::vector<std::size_t>> StagedByStage(const Kinds& kinds,
                                                           const RankParts& ranks,
                                                           int KindOnStages::*stages) {
  std::vector<std::vector<std::size_t>> by_stage(At(ranks.num_stages()));
  for (std::size_t s = 0; s < kinds.staged.size(); ++s) {
    for (const std::int64_t stage : ranks.stages(kinds.staged[s].*stages)) {
      by_stage[static_cast<std::size_t>(stage)].push_back(s);
    }
  }
  return by_stage;
}

}  // namespace tessera::ptc
