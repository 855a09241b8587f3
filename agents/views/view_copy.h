// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Copies one node's share of a job's state after one step, while the job continues to train. The
/// update of the next step waits on each device until the cells of that device are copied.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/store/arena.h"
#include "engine/store/piece_table.h"
#include "engine/store/view_memory.h"
#include "engine/store/view_plan.h"
#include "ptc/layout.h"

namespace tessera::agents {

/// A device whose cells are copied, with its table of the epoch of the view.
struct ViewSource {
  ptc::DeviceId id;
  engine::Arena* arena = nullptr;
  engine::PieceTable table;
};

struct ViewTask {
  std::string job;
  ptc::Layout layout;
  std::shared_ptr<const engine::ViewPlan> plan;
  engine::ViewStamp stamp;
  std::vector<ViewSource> sources;
  std::chrono::steady_clock::time_point deadline;
  std::optional<std::int32_t> guest = {};  // of a snapshot
  std::uint64_t origin = 0;                // of the job, as JobRow::origin
};

/// Sets the `hold` words of all sources, so that no update after `step` begins.
/// \return nullopt; or the step of a later update that has already begun, in which case nothing is
///     held
std::optional<std::int64_t> HoldUpdatesAfter(std::int64_t step,
                                             const std::vector<ViewSource>& sources);

/// Uses its own threads: one allocates the memory, and one per device copies.
class ViewCopy {
 public:
  /// Takes over the holds of the sources. Clears each hold when its device is copied, and all holds
  /// on an error. `done` runs once, on the copy's thread, with the memory or with an error.
  /// \error kTimeout naming the device that did not reach the step; kResourceExhausted; kDataLoss
  ///     if a device changed during the copy
  /// \pre HoldUpdatesAfter(task.stamp.step, task.sources) held them
  ViewCopy(ViewTask task, std::function<void(Result<engine::ViewMemory>)> done);
  /// Cancels the copy (kCancelled), waits for its threads and clears all holds.
  ~ViewCopy();

 private:
  Result<engine::ViewMemory> Run(const std::stop_token& stop);
  Status CopyDevice(const ViewSource& source, const engine::ViewMemory& memory,
                    const std::stop_token& stop) const;
  Status WaitForStep(const ViewSource& source, const std::stop_token& stop) const;

  const ViewTask task_;
  std::jthread thread_;
};

}  // namespace tessera::agents
