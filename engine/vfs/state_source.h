// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What the file tree reads: the state of jobs at step boundaries. Implemented by the cluster
/// client over lanes and mapped memory, and by tests.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ptc/base/result.h"
#include "ptc/layout.h"

namespace tessera::engine::vfs {

/// A job as it is now.
struct JobInfo {
  std::string name;
  std::int64_t epoch = 0;
  std::int64_t timeline = 0;
  std::int64_t step = 0;
  ptc::Layout layout;
  std::string settings_json = {};  // engine::ToJson of the job's settings
  /// Whether a SampleSource can know what the job reads: not so of programs of others.
  bool has_data = false;
};

/// The state of one job after one step, all of it, which nothing changes any more.
/// \threadsafety Any thread, several at once.
class StateView {
 public:
  /// Gives the view's memory back.
  virtual ~StateView() = default;
  /// What the job was when the view was taken.
  virtual const JobInfo& info() const = 0;
  /// Row-major elements of `box` of tensor `tensor` (an index into the layout's collection). Only
  /// these bytes move.
  /// \pre the box lies in the tensor, out.size() is its size in bytes
  /// \error kDataLoss, kUnavailable naming node and tensor, where the node that holds it is lost
  virtual Status Read(int tensor, const ptc::Box& box, std::span<std::byte> out) const = 0;
  /// The same elements where they lie row-major in one range of this process's memory, good as long
  /// as the view; empty where they do not, and then Read gets them. Saves a copy of what is mapped.
  /// Takes no time worth speaking of. \pre the box lies in the tensor
  virtual std::span<const std::byte> Direct(int /*tensor*/, const ptc::Box& /*box*/) const {
    return {};
  }
};
using StateViewPtr = std::shared_ptr<const StateView>;

/// \threadsafety Any thread, several at once.
class StateSource {
 public:
  virtual ~StateSource() = default;
  /// All jobs that have a layout, by name.
  virtual Result<std::vector<JobInfo>> Jobs() = 0;
  /// A view of `job` at the next step boundary; the job trains on. While an earlier view of the job
  /// is held by anyone in this process, that one.
  /// \error kResourceExhausted naming bytes and limit where the views' memory is used up; kNotFound
  ///     for a job that is not there; kUnavailable while the job is being reconfigured for too long
  virtual Result<StateViewPtr> Pin(const std::string& job) = 0;
  /// Ends what waits in Jobs and Pin, and in Read of views where it waits for others, and what
  /// comes later, with kCancelled: whoever serves from the source is about to end.
  virtual void Cancel() {}
};

}  // namespace tessera::engine::vfs
