// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The AdamW update of one rank, with whole or ZeRO-sharded optimizer state.

#include <cstddef>
#include <span>
#include <vector>

#include "agents/train/comm/collective.h"
#include "agents/train/model/rank_state.h"
#include "engine/model/job_update.h"

namespace tessera::agents::train {

/// Updates in two halves, so that no rank writes state before every rank has all values that it
/// will write. Prepare computes and gathers in private memory; Commit writes and makes no
/// collective.
///
/// With ZeRO-1 (Rajbhandari et al., SC 2020, section 5.1) a rank holds the optimizer state of a
/// flat share of each tensor. Prepare computes the new parameters of that share and all-gathers
/// them. Commit computes the share again, in place, and copies the shares of other ranks. AdamW
/// gives the same bits both times, and computing a share twice costs less than storing new moments.
/// A rank with whole optimizer state has nothing to prepare.
class Updater {
 public:
  /// `parameters` are those of a RankState and outlive the updater. `dp` is the group of ranks with
  /// the same parameters.
  /// \error kInvalidArgument naming a tensor whose optimizer state is neither whole nor this rank's
  ///     share (ptc::ShardRule::flat)
  static Result<Updater> Make(std::span<const ParameterPiece> parameters, CollectivePtr dp);
  Updater() = default;

  /// Reads state and gradients.
  /// \error what the group returns
  Status Prepare(const engine::UpdateCoefficients& coefficients);
  /// Writes parameters and optimizer state.
  /// \pre Prepare with the same coefficients and gradients
  void Commit(const engine::UpdateCoefficients& coefficients) const;

 private:
  /// A range of a parameter that this rank updates and sends to the other ranks.
  struct Outgoing {
    const ParameterPiece* parameter = nullptr;
    const OptimizerPiece* optimizer = nullptr;
    std::size_t at = 0;  // in mine_, in bytes
  };
  /// A range of a parameter that another rank updates.
  struct Incoming {
    std::byte* to = nullptr;
    std::size_t at = 0, bytes = 0;  // in all_
  };

  std::span<const ParameterPiece> parameters_;
  CollectivePtr dp_;
  std::vector<Outgoing> outgoing_;
  std::vector<Incoming> incoming_;
  std::vector<std::byte> mine_, all_;  // empty where the optimizer state is whole
};

}  // namespace tessera::agents::train
