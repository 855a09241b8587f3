// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// Where a job stands in its data, worked out from a snapshot and the history: plain values for the
/// Data page to draw.

#include <optional>
#include <vector>

#include "engine/cluster/snapshot.h"

namespace tessera::ui {

/// Positions count samples in the order of the pass; which sample stands there is the order's
/// affair. A batch may reach into the next pass: positions from `numSamples` on are of that one.
struct DataView {
  /// What one data-parallel rank reads of a batch.
  struct Share {
    std::int64_t dp = 0;
    std::int64_t begin = 0, end = 0;         // positions
    std::vector<ptc::DeviceId> devices;      // with this coordinate
    std::vector<std::int64_t> samples = {};  // the first few; none where several data sets mix
  };
  /// A committed reconfiguration: batches from `position` on are read by other ranks.
  struct Change {
    std::int64_t txn = 0;
    std::int64_t step = 0;      // the last one before it
    std::int64_t position = 0;  // in this pass
    std::int64_t fromDp = 1, toDp = 1;
  };

  std::int64_t numSamples = 0;   // of a pass
  std::int64_t pass = 0;         // from 0
  std::int64_t next = 0;         // position of the coming batch; all before it are done
  std::int64_t globalBatch = 0;  // samples
  std::int64_t step = 0;         // steps made
  std::vector<Share> shares = {};
  std::vector<Change> changes = {};        // of this pass, ascending
  std::optional<double> secondsLeft = {};  // of the pass, at the present step time
  double done() const { return static_cast<double>(next) / static_cast<double>(numSamples); }
};

/// Ids of samples that a share names.
inline constexpr int kShownSamples = 6;

/// Nothing where the job's data are its own or are not known yet.
std::optional<DataView> makeDataView(const engine::JobStatus& job,
                                     const std::vector<engine::HistoryEntry>& history);

/// The shares of a batch that begins at `begin` among `degree` data-parallel ranks; no devices, no
/// samples.
std::vector<DataView::Share> sharesOf(std::int64_t begin, std::int64_t globalBatch,
                                      std::int64_t degree);

}  // namespace tessera::ui
