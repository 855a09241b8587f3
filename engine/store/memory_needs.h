// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The memory of all devices of a layout, and during a move between two layouts. The pieces of a
/// part are summed once per kind of tensors, so that the cost does not grow with tensors times
/// devices.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "engine/store/allocate.h"
#include "ptc/layout.h"
#include "ptc/plan/kinds.h"

namespace tessera::engine {

class MemoryNeeds {
 public:
  /// \pre ptc::CheckSameTensors(from, to), without conversions of dtypes
  MemoryNeeds(const ptc::Layout& from, const ptc::Layout& to);
  /// \param kinds those of the two layouts, as an outline has them
  explicit MemoryNeeds(std::shared_ptr<const ptc::Kinds> kinds);

  /// BytesNeeded of a rank of the new layout.
  std::int64_t OfLayout(int to_rank) const;
  /// The most that OfLayout returns for any rank.
  std::int64_t MostOfLayout() const;
  /// The capacity of an arena with which a device can take part in the move: control page,
  /// both tables, old state, and the larger of old gradients and of new state that is not kept with
  /// new gradients. With OldGradients::kKept their sum, less the gradients that stay with their
  /// parameters. It suffices unless the gaps are too small.
  /// \param from_rank none: the device holds nothing, or nothing of use
  std::int64_t DuringMove(std::optional<int> from_rank, std::optional<int> to_rank,
                          OldGradients gradients = OldGradients::kFree);
  /// The gradients of a rank of the old layout, each piece rounded up.
  std::int64_t OldGradientsOf(int from_rank) const {
    return Of(Side::kFrom, from_rank).rounded_gradients;
  }
  /// The same for a plan that keeps nothing (ptc/plan/refill.h).
  std::int64_t DuringRefill(int to_rank) const;

 private:
  struct Sums {
    std::int64_t table = 0;
    std::int64_t state = 0, gradients = 0;  // as they are
    std::int64_t rounded = 0;               // both, each piece rounded up to the alignment
    std::int64_t rounded_gradients = 0;
  };
  /// The pieces of one tensor in one part.
  struct Pieces {
    std::int64_t boxes = 0, dims = 0;
    std::int64_t state = 0, rounded_state = 0;
    std::int64_t gradients = 0, rounded_gradients = 0;
  };
  enum class Side : std::uint8_t { kFrom, kTo };

  static Pieces PiecesOf(const std::vector<ptc::Box>& boxes, std::int64_t element_bytes);
  Sums Of(Side side, int rank) const;
  /// What stays where it is, each piece rounded up.
  struct Kept {
    std::int64_t state = 0, gradients = 0;
  };
  Kept KeptRounded(int from_rank, int to_rank);
  const ptc::RankParts& Ranks(Side side) const {
    return side == Side::kFrom ? kinds_->from : kinds_->to;
  }
  /// The indices of kinds_->staged on a stage.
  const std::vector<std::size_t>& StagedOn(Side side, int stage) const;

  const std::shared_ptr<const ptc::Kinds> kinds_;
  std::array<std::vector<std::vector<std::size_t>>, 2> staged_on_;  // by side and stage
  std::array<std::vector<std::vector<Pieces>>, 2> pieces_;          // by side, kind and part
  std::vector<std::unordered_map<std::uint64_t, Kept>> kept_;       // by kind; by both parts
};

}  // namespace tessera::engine
