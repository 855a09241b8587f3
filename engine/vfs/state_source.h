// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The state of jobs at step boundaries, which the file tree reads. The cluster client implements
/// it with lanes and mapped memory; tests implement it too.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ptc/base/result.h"
#include "ptc/layout.h"

namespace tessera::engine::vfs {

/// A job at one moment.
struct JobInfo {
  std::string name;
  std::int64_t epoch = 0;
  std::int64_t timeline = 0;
  std::int64_t step = 0;
  ptc::Layout layout;
  std::string settings_json = {};  // engine::ToJson of the job's settings
  /// Whether a SampleSource can open the job's data. It cannot for a job that runs its own program.
  bool has_data = false;
};

/// The whole state of one job after one step. It does not change.
/// \threadsafety Any thread, several at once.
class StateView {
 public:
  /// Releases the view's memory.
  virtual ~StateView() = default;
  /// The job when the view was taken.
  virtual const JobInfo& info() const = 0;
  /// Reads the row-major elements of `box` of tensor `tensor` (an index into the layout's
  /// collection). No other bytes are transferred.
  /// \pre the box lies in the tensor, out.size() is its size in bytes
  /// \error kDataLoss, kUnavailable naming node and tensor, if the node that holds them is lost
  virtual Status Read(int tensor, const ptc::Box& box, std::span<std::byte> out) const = 0;
  /// The same elements without a copy, if they are one row-major range of this process's memory,
  /// valid as long as the view. Empty otherwise: then Read gets them. Returns at once.
  /// \pre the box lies in the tensor
  virtual std::span<const std::byte> Direct(int /*tensor*/, const ptc::Box& /*box*/) const {
    return {};
  }
};
using StateViewPtr = std::shared_ptr<const StateView>;

/// \threadsafety Any thread, several at once.
class StateSource {
 public:
  virtual ~StateSource() = default;
  /// All jobs that have a layout, ordered by name.
  virtual Result<std::vector<JobInfo>> Jobs() = 0;
  /// Returns a view of `job` at the next step boundary; the job continues to train. While this
  /// process holds an earlier view of the job, returns that one.
  /// \error kResourceExhausted naming bytes and limit if the memory for views is used up; kNotFound
  ///     if there is no such job; kUnavailable if a transaction of the job takes too long
  virtual Result<StateViewPtr> Pin(const std::string& job) = 0;
  /// Fails pending and later calls of Jobs, Pin and StateView::Read that wait for another process,
  /// with kCancelled. The server calls it before it ends.
  virtual void Cancel() {}
};

}  // namespace tessera::engine::vfs
