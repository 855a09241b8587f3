// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The folders data/D: the samples that data-parallel rank D reads at each step, as files. See
/// DESIGN.md, "Samples".

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

/// Number of coming steps that a folder lists.
inline constexpr std::int64_t kListedSteps = 64;

/// One file: the share of one of `ranks` data-parallel ranks in the global batch of one step.
/// Immutable.
struct ShareFile {
  NodeKey key;
  int ranks = 1;
  /// Weak, because the source releases data that it opens again, and that may take long.
  std::weak_ptr<const JobData> data;
  std::int64_t size = 0;  // bytes
};
using ShareFilePtr = std::shared_ptr<const ShareFile>;
/// Whether both have the same bytes under the same name.
bool SameBytes(const ShareFile& a, const ShareFile& b);

/// \threadsafety Any thread, several at once. No lock is held while data are opened or read.
class DataFolder {
 public:
  /// \param source nullptr: no job has data
  /// \param max_bytes of all contents together
  DataFolder(std::shared_ptr<SampleSource> source, std::int64_t max_bytes)
      : source_(std::move(source)), max_bytes_(max_bytes) {}

  /// Lists a folder data/D: the files of the coming steps.
  /// \error kNotFound if the job has no such rank or no data; kDataLoss, kTimeout of the source
  Result<std::vector<Child>> Children(const NodeKey& folder, const JobFacts& facts);
  /// The file `name` of a folder data/D. Each step of the job has one, also past and distant ones,
  /// divided as the present mesh divides it.
  /// \error as Children and ShareFileBytes
  Result<ShareFilePtr> Find(const NodeKey& folder, std::string_view name, const JobFacts& facts);
  /// Reads the file.
  /// \error kFailedPrecondition if the job now has another data-parallel degree or other data, so
  ///     that the file must be looked up again; kDataLoss if samples cannot be read;
  ///     kResourceExhausted naming bytes and limit if too much is open
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
  /// Bytes of all living contents, some of which outlive this.
  const std::shared_ptr<std::atomic<std::int64_t>> used_ =
      std::make_shared<std::atomic<std::int64_t>>(0);
  std::mutex mutex_;
  std::list<Recent> recent_;  // guarded by mutex_; the last opened first
};

}  // namespace tessera::engine::vfs
