// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The files of one hand-in, collected until they are the whole state of a job.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/vfs/handed_cells.h"
#include "engine/vfs/handed_file.h"
#include "engine/vfs/state_sink.h"
#include "ptc/base/result.h"

namespace tessera::engine::vfs {

/// Files of one job, layout and step. One replica of each cell suffices; further replicas must be
/// equal. The digests of a file decide that, so no call reads the bytes of a file.
/// \threadsafety One thread at a time.
class HandedSet {
 public:
  using FileKey = std::pair<int, StateFile>;  // of a rank

  /// \param cells of the job's layout
  HandedSet(JobInfo job, HandedCellsPtr cells);

  const JobInfo& job() const { return job_; }
  const HandedCellsPtr& cells() const { return cells_; }
  bool empty() const { return files_.empty(); }
  bool Contains(const FileKey& key) const { return files_.contains(key); }
  /// \pre !empty()
  std::int64_t step() const { return files_.begin()->second.file.step; }

  /// Whether the file agrees with the others.
  /// \error kInvalidArgument naming both files and a remedy: another step, or a cell with other
  ///     elements
  Status Check(const HandedFile& file) const;
  /// \param alive owns the bytes of the file
  /// \pre Check(file), !Contains its key
  void Add(HandedFile file, std::shared_ptr<const void> alive);
  void Remove(const FileKey& key);
  std::vector<FileKey> Keys() const;

  /// Whether a file holds each cell.
  bool complete() const { return !files_.empty() && num_missing_ == 0; }
  /// Describes an incomplete hand-in: "3 of at most 8 files; tensor 'w' [0:4] is missing".
  std::string Missing() const;
  /// \pre complete()
  HandedStatePtr State() const;
  /// Releases the bytes of all files after their state was taken. The set can still check files.
  /// \post State may not be called
  void ReleaseBytes();

 private:
  struct Member {
    HandedFile file;
    std::shared_ptr<const void> alive;
  };
  /// The facts about a cell that the files give.
  struct Held {
    int num_files = 0;
    std::uint64_t digest = 0;  // equal in all of them
  };
  const HandedFile* FileWith(std::size_t cell) const;

  JobInfo job_;
  HandedCellsPtr cells_;
  std::map<FileKey, Member> files_;
  std::vector<Held> held_;  // by cell
  std::size_t num_missing_ = 0;
  bool taken_ = false;  // ReleaseBytes was called
};

/// "ranks/3/model.safetensors.new".
std::string HandedPath(int rank, StateFile file);

}  // namespace tessera::engine::vfs
