// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The position of a job in its data, computed from a snapshot and the history, as plain values for
/// the Data page.

#include <optional>
#include <vector>

#include "engine/cluster/snapshot.h"

namespace tessera::ui {

/// Positions count samples in the order of the pass; the permutation maps a position to a sample.
/// A batch may reach into the next pass: positions from `numSamples` on belong to that pass.
struct DataView {
  /// The part of a batch that one data-parallel rank reads.
  struct Share {
    std::int64_t dp = 0;
    std::int64_t begin = 0, end = 0;         // positions
    std::vector<ptc::DeviceId> devices;      // with this dp coordinate
    std::vector<std::int64_t> samples = {};  // the first few; empty if data sets are mixed
  };
  /// A committed change of the mesh: other ranks read the batches from `position` on.
  struct Change {
    std::int64_t txn = 0;
    std::int64_t step = 0;      // the last step before the change
    std::int64_t position = 0;  // in this pass
    std::int64_t fromDp = 1, toDp = 1;
  };

  std::int64_t numSamples = 0;   // in a pass
  std::int64_t pass = 0;         // from 0
  std::int64_t next = 0;         // position of the next batch
  std::int64_t globalBatch = 0;  // samples
  std::int64_t step = 0;         // completed steps
  std::vector<Share> shares = {};
  std::vector<Change> changes = {};        // of this pass, ascending
  std::optional<double> secondsLeft = {};  // of the pass, at the present step time
  double done() const { return static_cast<double>(next) / static_cast<double>(numSamples); }
};

/// The number of samples listed per share.
inline constexpr int kShownSamples = 6;

/// Returns nothing if the job reads its data itself or they are not known yet.
std::optional<DataView> makeDataView(const engine::JobStatus& job,
                                     const std::vector<engine::HistoryEntry>& history);

/// Returns the shares of a batch at position `begin` for `degree` data-parallel ranks, without
/// devices and samples.
std::vector<DataView::Share> sharesOf(std::int64_t begin, std::int64_t globalBatch,
                                      std::int64_t degree);

}  // namespace tessera::ui
