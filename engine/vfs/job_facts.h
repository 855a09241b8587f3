// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What the tree needs to know of jobs, polled at most so often.

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

/// A moment; engine has no clock of its own.
using Time = std::chrono::steady_clock::time_point;

/// A job at one step, with what takes time to derive from its layout.
struct JobFacts {
  JobInfo info;
  std::uint64_t layout_hash = 0;
  ContentPtr layout_json;
};
using JobFactsPtr = std::shared_ptr<const JobFacts>;

/// \param before facts of the job some time ago, or nullptr: where the layout is still the same,
///     nothing is derived anew
JobFactsPtr MakeFacts(JobInfo info, const JobFactsPtr& before);

using Jobs = std::map<std::string, JobFactsPtr, std::less<>>;
using JobsPtr = std::shared_ptr<const Jobs>;

/// The jobs of a source as they were a moment ago. One thread at a time asks the source; others
/// meanwhile get what was known before. \threadsafety Any thread, several at once.
class JobsCache {
 public:
  /// \param source outlives this \param keep how long an answer is good
  JobsCache(StateSource& source, std::chrono::milliseconds keep) : source_(source), keep_(keep) {}
  /// Jobs whose name cannot be the name of a folder are left out.
  /// \error that of StateSource::Jobs
  Result<JobsPtr> Get(Time now);

 private:
  StateSource& source_;
  const std::chrono::milliseconds keep_;
  std::mutex mutex_;
  std::condition_variable answered_;
  bool asking_ = false;                       // guarded by mutex_, as all below
  std::optional<Result<JobsPtr>> last_ = {};  // the last answer
  JobsPtr known_ = std::make_shared<Jobs>();  // the last that was no error
  Time asked_ = {};                           // when that of last_ was asked for
};

}  // namespace tessera::engine::vfs
