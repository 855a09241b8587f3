// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Files that are written into the tree, from their first byte until the state that they make up is
/// taken. A file that is closed is either staged, whole and checked, or gone.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/vfs/content.h"
#include "engine/vfs/handed_set.h"
#include "engine/vfs/job_facts.h"
#include "engine/vfs/names.h"
#include "engine/vfs/sample_source.h"
#include "engine/vfs/staged_bytes.h"
#include "engine/vfs/state_sink.h"

namespace tessera::engine::vfs {

/// A file of one rank. \threadsafety Any thread.
class IncomingFile {
 public:
  IncomingFile(NodeKey key, JobFactsPtr facts, std::unique_ptr<StagedBytes> bytes)
      : facts_(std::move(facts)), key_(std::move(key)), bytes_(std::move(bytes)) {}
  NodeKey key() const;
  std::int64_t size() const;
  /// Copies into `out` what there is. \return how much
  std::size_t Read(std::int64_t offset, std::span<std::byte> out) const;

 private:
  friend class Incoming;
  enum class State : std::uint8_t {
    kWritten,  // not checked since
    kStaged,   // checked; a part of its job's set
    kFixed,    // is being checked or taken: nobody writes
    kGone,     // taken, or removed
  };
  const JobFactsPtr facts_;  // of the job when the file was begun
  mutable std::mutex mutex_;
  NodeKey key_;  // guarded by mutex_, as all below
  State state_ = State::kWritten;
  std::shared_ptr<StagedBytes> bytes_;  // nullptr once it is gone
  int handles_ = 0;                     // that are open on it
  bool again_ = false;                  // was staged before, and is written anew
  Time touched_ = {};                   // last closed
};
using IncomingFilePtr = std::shared_ptr<IncomingFile>;

/// \threadsafety Any thread. No lock is held while state is taken.
class Incoming {
 public:
  struct Options {
    std::int64_t memory_bytes = std::int64_t{1} << 30;
    /// So long a hand-in waits for the rest of it after its last file.
    std::chrono::milliseconds patience{600000};
  };
  /// \param sink nullptr: nothing can be written \param samples nullptr: no data are known
  Incoming(std::shared_ptr<StateSink> sink, Options options,
           std::shared_ptr<SampleSource> samples = nullptr);

  bool takes() const { return sink_ != nullptr; }
  /// A new file, empty, or the one that is there. \pre the key is of a rank of the job of `facts`
  Result<IncomingFilePtr> Create(const NodeKey& key, const JobFactsPtr& facts);
  /// A handle on it is open, until Release.
  void Open(IncomingFile& file);
  /// \error those of StagedBytes; kUnavailable while its state is being taken;
  ///     kFailedPrecondition for a file that is gone
  Status Write(IncomingFile& file, std::int64_t offset, std::span<const std::byte> bytes);
  Status Resize(IncomingFile& file, std::int64_t size);
  /// Has memory ready for the next bytes of a file that is written in order. Worth a call after
  /// each write, by a thread that the writer does not wait for.
  void MakeRoomAhead(IncomingFile& file);
  /// Where something was written since the last time: checks the file, stages it, and with the last
  /// missing one has the state taken. A file without a byte is passed over: shells close one
  /// descriptor of it before they write to another. After an error the file is as it was written.
  /// \param now facts of the job now
  /// \error as ReadHandedFile, CheckHandedCursor, HandedSet::Check, StateSink::Take;
  /// kFailedPrecondition where the job
  ///     has another layout than when the file was begun
  Status Flush(const IncomingFilePtr& file, const JobFactsPtr& now, Time time);
  /// Gives a file another name in its folder, in the place of one that may be there. Where the name
  /// is one that state is handed in with, the file is checked and staged as by Flush; after an
  /// error it has its old name. \pre both keys are of one folder \error kNotFound; kUnavailable
  /// while either is being taken;
  ///     as Flush
  Status Rename(const NodeKey& from, const NodeKey& to, const JobFactsPtr& now, Time time);
  /// With its last handle a file goes that was not staged, but for one that may yet be renamed.
  void Release(const IncomingFilePtr& file);
  /// \error kNotFound; kUnavailable while its state is being taken
  Status Remove(const NodeKey& key);

  /// nullptr where there is none.
  IncomingFilePtr Find(const NodeKey& key) const;
  /// The files in ranks/R/ of a job.
  std::vector<Child> In(const NodeKey& rank_folder) const;
  /// Drops what waits for too long.
  void Tick(Time now);

 private:
  struct Round {
    explicit Round(JobInfo job) : set(std::move(job)) {}
    HandedSet set;
    Time touched = {};
    bool taking = false;
  };
  Status MakeWritable(IncomingFile& file);
  Status RemoveLocked(const NodeKey& key);
  Status HandIn(const IncomingFilePtr& file, const JobFactsPtr& now, Time time);
  Status Stage(const IncomingFilePtr& file, const JobFactsPtr& now, Time time);
  Result<Round*> RoundFor(const IncomingFile& file, const HandedFile& handed,
                          const JobFactsPtr& now);
  Status TakeIfComplete(const std::string& job);
  void BackToWritten(IncomingFile& file);
  void Drop(const NodeKey& key);
  void DropRound(const std::string& job);
  void DropForgottenScratch(Time now);
  void SetStates(const Round& round, IncomingFile::State state);

  const std::shared_ptr<StateSink> sink_;
  const std::shared_ptr<SampleSource> samples_;
  const Options options_;
  const std::shared_ptr<StagingBudget> budget_;
  mutable std::mutex mutex_;  // guards what follows; taken before that of a file
  std::map<NodeKey, IncomingFilePtr> files_;
  std::map<std::string, Round> rounds_;  // by job
};

/// What can be written in a folder of a rank: the names of a hand-in, and any others that are not
/// taken, as libraries write a file under one name and give it its own when it is whole.
std::optional<NodeKey> IncomingNamed(const NodeKey& rank_folder, std::string_view name);

}  // namespace tessera::engine::vfs
