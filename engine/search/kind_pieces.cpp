// SPDX-License-Identifier: Apache-2.0
#include "engine/search/kind_pieces.h"

#include "ptc/base/at.h"

namespace tessera::engine {

KindPieces PiecesOn(const ptc::Kinds& kinds, const ptc::KindOnStages& staged,
                    std::optional<int> from_rank, std::optional<int> to_rank) {
  static const std::vector<ptc::Box> kNone;
  const ptc::Kind& kind = kinds.kinds[At(staged.kind)];
  const bool is_old =
      from_rank && kinds.from.IsOn(staged.from_stages, kinds.from.StageOf(*from_rank));
  const bool is_new = to_rank && kinds.to.IsOn(staged.to_stages, kinds.to.StageOf(*to_rank));
  return {is_old ? kind.pieces.held[At(kinds.from.PartOf(kind.from_axes, *from_rank))] : kNone,
          is_new ? kind.pieces.needed[At(kinds.to.PartOf(kind.to_axes, *to_rank))] : kNone};
}

}  // namespace tessera::engine
