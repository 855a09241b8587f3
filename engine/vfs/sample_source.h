// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What the folders data/ of the file tree read: the data of jobs. Implemented over files and
/// servers by agents/data, and by tests.

#include <cstdint>
#include <memory>

#include "engine/data/data_mix.h"
#include "engine/vfs/state_source.h"
#include "ptc/base/result.h"

namespace tessera::engine::vfs {

/// The data of a job, open, and how the job goes through them: with step s, counted from 0, it
/// takes the s-th global batch of the order that the seed gives.
struct JobData {
  engine::DataMix mix;
  std::int64_t seed = 0;
  std::int64_t global_batch = 1;  // samples, >= 1
  std::int64_t max_steps = 0;     // 0: no end
};
using JobDataPtr = std::shared_ptr<const JobData>;

/// \threadsafety Any thread, several at once.
class SampleSource {
 public:
  virtual ~SampleSource() = default;
  /// The data of `job`: the same object as long as the job's settings are the same and the data are
  /// not opened anew. May take long the first time. \pre job.has_data
  /// \error kTimeout while the data are still being gone through, with how far that is; else why
  ///     they cannot be read here
  virtual Result<JobDataPtr> Open(const JobInfo& job) = 0;
  /// Samples of `data` could not be read. What is wrong may be mended, so they are opened anew when
  /// they are asked for later.
  virtual void Failed(const JobDataPtr& data) = 0;
  /// What is being opened ends soon with kCancelled, and nothing is opened any more.
  virtual void Stop() = 0;
};

}  // namespace tessera::engine::vfs
