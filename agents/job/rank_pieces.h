// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A piece table in the form of the C interface: names instead of indices, addresses instead of
/// offsets, each parameter with its gradient.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "agents/job/tessera_job.h"
#include "engine/store/arena.h"
#include "engine/store/piece_table.h"
#include "ptc/tensor_spec.h"

namespace tessera::agents {

/// State pieces in order of (tensor name, box). Their pointers lead into the arena and this object.
class RankPieces {
 public:
  RankPieces() = default;
  /// \error kDataLoss naming the tensor, for an index or rank that does not fit the collection, a
  ///     piece whose size is not that of its box, or a parameter without its gradient
  static Result<RankPieces> Make(const engine::Arena& arena, const engine::PieceTable& table,
                                 const ptc::Collection& collection);

  RankPieces(RankPieces&&) = default;
  RankPieces& operator=(RankPieces&&) = default;
  RankPieces(const RankPieces&) = delete;
  RankPieces& operator=(const RankPieces&) = delete;

  const std::vector<tessera_piece>& pieces() const { return pieces_; }

 private:
  const char* Intern(std::string_view text) { return texts_.emplace(text).first->c_str(); }
  std::set<std::string> texts_;
  std::vector<tessera_piece> pieces_;
};

}  // namespace tessera::agents
