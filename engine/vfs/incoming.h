// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Files that other programs write into the tree, from the first byte until a transaction takes
/// their state. A closed file is either staged, that is complete and checked, or removed.

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

/// A file of one rank.
/// \threadsafety Any thread.
class IncomingFile {
 public:
  IncomingFile(NodeKey key, JobFactsPtr facts, std::unique_ptr<StagedBytes> bytes)
      : facts_(std::move(facts)), key_(std::move(key)), bytes_(std::move(bytes)) {}
  NodeKey key() const;
  std::int64_t size() const;
  /// Copies bytes from `offset` on into `out`.
  /// \return the number of bytes
  std::size_t Read(std::int64_t offset, std::span<std::byte> out) const;

 private:
  friend class Incoming;
  enum class State : std::uint8_t {
    kWritten,  // changed since the last check
    kStaged,   // checked, and in the set of its job
    kFixed,    // being checked or taken: writes are refused
    kGone,     // taken or removed
  };
  const JobFactsPtr facts_;  // of the job when the file was begun
  mutable std::mutex mutex_;
  NodeKey key_;  // guarded by mutex_, as all below
  State state_ = State::kWritten;
  std::shared_ptr<StagedBytes> bytes_;  // nullptr in kGone
  int handles_ = 0;                     // open ones
  bool again_ = false;                  // was staged before and is being rewritten
  Time touched_ = {};                   // last closed
};
using IncomingFilePtr = std::shared_ptr<IncomingFile>;

/// \threadsafety Any thread. No lock is held while a transaction takes state or files are digested.
class Incoming {
 public:
  struct Options {
    std::int64_t memory_bytes = std::int64_t{1} << 30;
    /// How long a hand-in waits for its next file before it is dropped.
    std::chrono::milliseconds patience{600000};
  };
  /// \param sink nullptr: nothing can be written
  /// \param samples nullptr: the data of jobs are not known
  Incoming(std::shared_ptr<StateSink> sink, Options options,
           std::shared_ptr<SampleSource> samples = nullptr);

  bool takes() const { return sink_ != nullptr; }
  /// Returns the file with this key, or a new empty one.
  /// \pre the key is of a rank of the job of `facts`
  Result<IncomingFilePtr> Create(const NodeKey& key, const JobFactsPtr& facts);
  /// Counts an open handle, until Release.
  void Open(IncomingFile& file);
  /// \error as StagedBytes; kUnavailable while a transaction takes its state; kFailedPrecondition
  ///     for a file that was removed
  Status Write(IncomingFile& file, std::int64_t offset, std::span<const std::byte> bytes);
  Status Resize(IncomingFile& file, std::int64_t size);
  /// Allocates memory for the next bytes of a file that is written sequentially. Call it after each
  /// write, from a thread that the writer does not wait for.
  void MakeRoomAhead(IncomingFile& file);
  /// If the file was written since the last call, checks and stages it. If the hand-in is then
  /// complete, calls StateSink::Take. A further replica that arrives while the hand-in is taken, or
  /// within `patience` afterwards, is compared with it and removed. Ignores an empty file, because
  /// shells close one descriptor before they write to another. After an error the file can be
  /// written again.
  /// \param now facts of the job now
  /// \error as ReadHandedFile, CheckHandedCursor, HandedSet::Check, StateSink::Take;
  ///     kFailedPrecondition if the job's layout changed since the file was created
  Status Flush(const IncomingFilePtr& file, const JobFactsPtr& now, Time time);
  /// Renames a file inside its folder and replaces a file with the new name. If the new name is one
  /// of a hand-in, checks and stages the file as Flush does; after an error it has its old name.
  /// \pre both keys are of one folder
  /// \error kNotFound; kUnavailable while a transaction takes either file; as Flush
  Status Rename(const NodeKey& from, const NodeKey& to, const JobFactsPtr& now, Time time);
  /// Closes a handle. With the last one, removes a file that is not staged, unless it may still be
  /// renamed.
  void Release(const IncomingFilePtr& file);
  /// \error kNotFound; kUnavailable while a transaction takes its state
  Status Remove(const NodeKey& key);

  /// nullptr if there is no such file.
  IncomingFilePtr Find(const NodeKey& key) const;
  /// The files in ranks/R/ of a job.
  std::vector<Child> In(const NodeKey& rank_folder) const;
  /// Drops hand-ins that have waited longer than `patience`.
  void Tick(Time now);

 private:
  struct Round {
    Round(const JobFacts& facts, HandedCellsPtr cells)
        : set(facts.info, std::move(cells)), layout_hash(facts.layout_hash) {}
    HandedSet set;
    std::uint64_t layout_hash;
    Time touched = {};
    bool taking = false;
  };
  Status MakeWritable(IncomingFile& file);
  Status RemoveLocked(const NodeKey& key);
  Status HandIn(const IncomingFilePtr& file, const JobFactsPtr& now, Time time);
  /// \return whether the file waits for others; false if a hand-in with its state was taken before
  Result<bool> Stage(const IncomingFilePtr& file, const JobFactsPtr& now, Time time);
  Round* TakenWithout(const NodeKey& key, const HandedFile& handed, const JobFacts& now);
  HandedCellsPtr CellsFor(const std::string& job, const JobFacts& now) const;
  Result<Round*> RoundFor(const IncomingFile& file, const HandedFile& handed,
                          const JobFactsPtr& now, const HandedCellsPtr& cells);
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
  mutable std::mutex mutex_;  // guards the members below; locked before the mutex of a file
  std::map<NodeKey, IncomingFilePtr> files_;
  std::map<std::string, Round> rounds_;  // by job
  std::map<std::string, Round> taken_;   // by job: the last hand-in, which later replicas join
};

/// The key of a name that can be written in a folder of a rank: a name of a hand-in, or any other
/// unused name, because libraries write a temporary file and rename it.
std::optional<NodeKey> IncomingNamed(const NodeKey& rank_folder, std::string_view name);

}  // namespace tessera::engine::vfs
