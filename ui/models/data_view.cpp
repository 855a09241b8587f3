// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/data_view.h"

#include <algorithm>
#include <utility>

#include "engine/data/cursor.h"
#include "ui/models/device_names.h"

namespace tessera::ui {
namespace {

std::vector<DataView::Change> changesOf(const engine::JobStatus& job, const DataView& view,
                                        const std::vector<engine::HistoryEntry>& history) {
  std::vector<DataView::Change> changes;
  for (const engine::HistoryEntry& entry : history) {
    if (!engine::IsOf(entry, job) || entry.result != "committed" || entry.step > job.step) continue;
    const std::int64_t position = entry.step * view.globalBatch - view.pass * view.numSamples;
    if (position < 0) continue;  // of an earlier pass
    const auto from = ptc::ParseDeviceMesh(entry.from), to = ptc::ParseDeviceMesh(entry.to);
    if (!from || !to) continue;
    changes.push_back({entry.id, entry.step, position, from->shape()[ptc::Axis::kDp],
                       to->shape()[ptc::Axis::kDp]});
  }
  std::sort(changes.begin(), changes.end(), [](const auto& a, const auto& b) {
    return std::pair(a.position, a.txn) < std::pair(b.position, b.txn);
  });
  return changes;
}

}  // namespace

std::vector<DataView::Share> sharesOf(std::int64_t begin, std::int64_t globalBatch,
                                      std::int64_t degree) {
  std::vector<DataView::Share> shares;
  for (std::int64_t dp = 0; dp < degree; ++dp) {
    const engine::BatchShare share = engine::ShareOfBatch(globalBatch, dp, degree);
    shares.push_back({dp, begin + share.begin, begin + share.end, {}});
  }
  return shares;
}

std::optional<DataView> makeDataView(const engine::JobStatus& job,
                                     const std::vector<engine::HistoryEntry>& history) {
  if (job.data.empty() || job.data.num_samples < 1 || job.global_batch < 1) return std::nullopt;
  if (!job.at_change.empty()) return std::nullopt;  // its position does not follow from its step
  if (job.step < 0 || !ptc::DeviceMesh::Make(job.mesh, job.devices)) return std::nullopt;
  DataView view;
  view.numSamples = job.data.num_samples;
  view.globalBatch = job.global_batch;
  view.step = job.step;
  const engine::Cursor cursor =
      engine::Advance({.seed = job.data.seed}, job.step * job.global_batch, view.numSamples);
  view.pass = cursor.pass;
  view.next = cursor.next;
  view.changes = changesOf(job, view, history);
  if (job.step_seconds) {
    const auto steps =
        static_cast<double>(view.numSamples - view.next) / static_cast<double>(view.globalBatch);
    view.secondsLeft = steps * *job.step_seconds;
  }
  view.shares = sharesOf(view.next, view.globalBatch, job.mesh[ptc::Axis::kDp]);
  for (DataView::Share& share : view.shares) {
    for (int rank = 0; rank < static_cast<int>(job.devices.size()); ++rank) {
      if (coordinate(job.mesh, rank, ptc::Axis::kDp) == share.dp) {
        share.devices.push_back(job.devices[static_cast<std::size_t>(rank)]);
      }
    }
    if (job.data.parts.size() != 1) continue;
    const std::int64_t first = share.begin - view.next;
    const std::int64_t shown = std::min<std::int64_t>(share.end - share.begin, kShownSamples);
    const auto samples = engine::SamplesAt(cursor, first, first + shown, view.numSamples);
    if (samples) share.samples = *samples;
  }
  return view;
}

}  // namespace tessera::ui
