// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The cluster at an earlier moment, as far as the history tells it. Times are seconds since 1970,
/// by the clock of the cluster.

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/cluster/snapshot.h"
#include "ui/models/node_states.h"
#include "ui/plots/sample_series.h"

namespace tessera::ui {

/// The changes of each job in the order of time. A job is known by its name and its start
/// (engine::JobStatus::origin), because others may have had the name before. Made once per history,
/// because every entry is read.
class ChangeIndex {
 public:
  ChangeIndex() = default;
  /// `entries`, in any order, must outlive the index.
  explicit ChangeIndex(const std::vector<engine::HistoryEntry>& entries);

  /// Returns the start of the job that had this name at `time`: the last one that was started
  /// before it. `now` is the job that has the name now; null if there is none. Nothing if no job
  /// had it yet. Jobs with an unknown start, 0, were there before the others. O(log n).
  std::optional<std::int64_t> originAt(const std::string& job, const engine::JobStatus* now,
                                       double time) const;
  /// Returns the job's change that began last at or before `time`; null if there is none. O(log n).
  const engine::HistoryEntry* lastBefore(const std::string& job, std::int64_t origin,
                                         double time) const;
  /// Return null for a job without changes.
  const engine::HistoryEntry* first(const std::string& job, std::int64_t origin) const;
  const engine::HistoryEntry* last(const std::string& job, std::int64_t origin) const;
  /// The epoch of the job before `entry`, which belongs to the index.
  std::int64_t epochBefore(const engine::HistoryEntry& entry) const;
  /// Every device that a change names, ascending.
  const std::vector<ptc::DeviceId>& devices() const { return m_devices; }

 private:
  using Changes = std::vector<const engine::HistoryEntry*>;
  /// \return null for a job without changes; else not empty
  const Changes* changesOf(const std::string& job, std::int64_t origin) const;

  std::map<std::pair<std::string, std::int64_t>, Changes> m_changes;  // by job and start, ascending
  std::vector<ptc::DeviceId> m_devices;
};

/// Returns `job` and its cluster at `time`; nothing before the first sample and the first change
/// of the job. `samples` are those of the job that has the name now.
///
/// - The job is the one that had the name at that time.
/// - The job is where its last change left it: in `to` after a committed one, else in `from`. In a
///   change, the phase follows from the recorded durations. The bytes of its flows are known before
///   the transfer (none) and after it (all); in between `bytes_done` is 0.
/// - Step, loss, tokens per second and metrics are those of the last sample. Without a later change
///   all facts of the layout are those of now, including the memory. Otherwise the history does not
///   contain them: they are zero or empty.
/// - Other jobs are where their changes place them, or else where they are now. One that was
/// started
///   later is left out, if its start is known.
/// - All nodes of `now`, of the changes and of `states` exist. Their states are those of `states`;
///   where that knows none, `is_state_known` is false and the node counts as alive.
///
/// O(log n) for n changes and samples, besides the size of the result.
std::optional<engine::ClusterSnapshot> clusterAt(const engine::ClusterSnapshot& now,
                                                 const ChangeIndex& changes,
                                                 const SampleSeries& samples,
                                                 const std::string& job, double time,
                                                 const NodeStates& states = {});

}  // namespace tessera::ui
