// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The folders data/R: what data-parallel rank R reads with each step, as files. DESIGN.md,
/// "Samples".

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "engine/vfs/content.h"
#include "engine/vfs/job_facts.h"
#include "engine/vfs/names.h"
#include "engine/vfs/sample_source.h"
#include "ptc/base/result.h"

namespace tessera::engine::vfs {

/// How many of the coming steps a folder lists.
inline constexpr std::int64_t kListedSteps = 64;

/// One file: the samples that one rank of so many takes of the global batch of one step. Immutable.
struct ShareFile {
  NodeKey key;
  int ranks = 1;
  /// Not held: data that were opened anew are let go of by their source, which may take long.
  std::weak_ptr<const JobData> data;
  std::int64_t size = 0;  // bytes
};
using ShareFilePtr = std::shared_ptr<const ShareFile>;
/// Whether they show the same bytes under the same name.
bool SameBytes(const ShareFile& a, const ShareFile& b);

/// \threadsafety Any thread, several at once. No lock is held while data are opened or read.
class DataFolder {
 public:
  /// \param source may be nullptr: then no job has data \param max_bytes of all contents together
  DataFolder(std::shared_ptr<SampleSource> source, std::int64_t max_bytes)
      : source_(std::move(source)), max_bytes_(max_bytes) {}

  /// What stands in a folder data/R now: the files of the coming steps.
  /// \error kNotFound where the job has no such rank or no data; kDataLoss, kTimeout of the source
  Result<std::vector<Child>> Children(const NodeKey& folder, const JobFacts& facts);
  /// The file `name` of a folder data/R. There is one for each step that the job ever takes, as the
  /// job's mesh cuts it now. \error as Children; of ShareFileBytes
  Result<ShareFilePtr> Find(const NodeKey& folder, std::string_view name, const JobFacts& facts);
  /// Its bytes. \error kFailedPrecondition where the job now cuts it otherwise or reads other data:
  ///     look it up again; kDataLoss where samples cannot be read; kResourceExhausted naming bytes
  ///     and limit where too much is open
  Result<ContentPtr> Open(const ShareFilePtr& file, const JobFacts& facts);

 private:
  struct Recent {
    ShareFilePtr file;
    ContentPtr content;
  };
  Result<JobDataPtr> DataOf(const NodeKey& folder, const JobFacts& facts);
  Result<ContentPtr> Read(const ShareFile& file, const JobDataPtr& data);
  void Remember(ShareFilePtr file, ContentPtr content);

  const std::shared_ptr<SampleSource> source_;
  const std::int64_t max_bytes_;
  /// Bytes of all contents that are there, some of which outlive this.
  const std::shared_ptr<std::atomic<std::int64_t>> used_ =
      std::make_shared<std::atomic<std::int64_t>>(0);
  std::mutex mutex_;
  std::list<Recent> recent_;  // guarded by mutex_; what was opened last stands first
};

}  // namespace tessera::engine::vfs
