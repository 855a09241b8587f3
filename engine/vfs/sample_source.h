// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The data sets of jobs, which the folders data/ of the file tree read. agents/data implements it
/// with files and web servers; tests implement it too.

#include <cstdint>
#include <memory>

#include "engine/data/data_mix.h"
#include "engine/vfs/state_source.h"
#include "ptc/base/result.h"

namespace tessera::engine::vfs {

/// The open data of a job and the order in which the job reads them: step s, counted from 0, takes
/// the s-th global batch of the order that the seed determines.
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
  /// Opens the data of `job`, which may take long the first time. Returns the same object until the
  /// job's settings change or the data are opened again.
  /// \pre job.has_data
  /// \error kTimeout with the progress while the data are being indexed; otherwise the reason why
  ///     they cannot be read on this host
  virtual Result<JobDataPtr> Open(const JobInfo& job) = 0;
  /// Reports that samples of `data` could not be read. The next Open opens the data again, because
  /// somebody may have repaired them.
  virtual void Failed(const JobDataPtr& data) = 0;
  /// Fails pending and later calls of Open with kCancelled.
  virtual void Stop() = 0;
};

}  // namespace tessera::engine::vfs
