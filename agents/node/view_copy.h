// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Copies one node's share of a job's state after one step, while the job trains on: updates of
/// later steps are held back device by device, until what the device contributes is copied.

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

/// A device that contributes, as it holds the epoch of the view.
struct ViewSource {
  ptc::DeviceId id;
  engine::Arena* arena = nullptr;
  engine::PieceTable table;
};

/// What is to be copied.
struct ViewTask {
  std::string job;
  ptc::Layout layout;
  std::shared_ptr<const engine::ViewPlan> plan;
  engine::ViewStamp stamp;
  std::vector<ViewSource> sources;
  std::chrono::steady_clock::time_point deadline;
};

/// Sets the `hold` words of all sources so that no update after that of `step` begins. \return the
/// step of an update past it that has begun already, and then nothing is held
std::optional<std::int64_t> HoldUpdatesAfter(std::int64_t step,
                                             const std::vector<ViewSource>& sources);

/// Runs on threads of its own: one that makes the memory, and one a device.
class ViewCopy {
 public:
  /// Takes over the holds of the sources and clears each as soon as its device is copied, whatever
  /// happens. `done` runs once, on the copy's thread.
  /// `done` gets kTimeout naming the device that did not reach the step; kResourceExhausted; or
  /// kDataLoss where a device went on all the same.
  /// \pre HoldUpdatesAfter(task.stamp.step, task.sources) held them
  ViewCopy(ViewTask task, std::function<void(Result<engine::ViewMemory>)> done);
  /// Makes it end soon with kCancelled, waits for it; no hold of it is left.
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
