// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The jobs of a source, polled at a limited rate, with what is derived from their layouts.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "engine/vfs/content.h"
#include "engine/vfs/state_source.h"
#include "ptc/base/result.h"

namespace tessera::engine::vfs {

/// A point in time. Callers pass it in, because engine reads no clock.
using Time = std::chrono::steady_clock::time_point;

/// A job at one step, with values that take time to derive from its layout.
struct JobFacts {
  JobInfo info;
  std::uint64_t layout_hash = 0;
  ContentPtr layout_json;
};
using JobFactsPtr = std::shared_ptr<const JobFacts>;

/// \param before earlier facts of the job, or nullptr. If the layout is the same, the derived
///     values are copied from it.
JobFactsPtr MakeFacts(JobInfo info, const JobFactsPtr& before);

using Jobs = std::map<std::string, JobFactsPtr, std::less<>>;
using JobsPtr = std::shared_ptr<const Jobs>;

/// Caches the jobs of a source. One thread at a time calls the source; other threads get the
/// previous answer meanwhile.
/// \threadsafety Any thread, several at once.
class JobsCache {
 public:
  /// \param source outlives this
  /// \param keep how long an answer is valid
  JobsCache(StateSource& source, std::chrono::milliseconds keep) : source_(source), keep_(keep) {}
  /// Omits jobs whose name cannot be the name of a folder.
  /// \error that of StateSource::Jobs
  Result<JobsPtr> Get(Time now);
  /// Replaces what is known of a job by the facts of a view that was just opened. Without it, files
  /// without a view could show an earlier step than a file that was read before them.
  void Update(const JobFactsPtr& facts);

 private:
  StateSource& source_;
  const std::chrono::milliseconds keep_;
  std::mutex mutex_;
  std::condition_variable answered_;
  bool asking_ = false;                       // guarded by mutex_, as all below
  std::optional<Result<JobsPtr>> last_ = {};  // the last answer
  JobsPtr known_ = std::make_shared<Jobs>();  // of the last answer without error
  Time asked_ = {};                           // when last_ was requested
  Jobs newer_ = {};                           // updates since the request that is under way
};

}  // namespace tessera::engine::vfs
