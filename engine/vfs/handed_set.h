// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The files of one hand-in, until they are the whole state of a job.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/vfs/handed_file.h"
#include "engine/vfs/state_sink.h"
#include "ptc/base/result.h"

namespace tessera::engine::vfs {

/// Files of one job, layout and step. Of pieces that several ranks hold one is enough; where more
/// come they must be equal. \threadsafety One thread at a time.
class HandedSet {
 public:
  using FileKey = std::pair<int, Part>;  // rank and part

  explicit HandedSet(JobInfo job);

  const JobInfo& job() const { return job_; }
  bool empty() const { return files_.empty(); }
  bool Contains(const FileKey& key) const { return files_.contains(key); }
  /// \pre !empty()
  std::int64_t step() const { return files_.begin()->second.file.step; }

  /// Whether the file goes together with the others.
  /// \error kInvalidArgument naming both files: another step, or a box with other elements
  Status Check(const HandedFile& file) const;
  /// \param alive what the file's pieces point into \pre Check(file), and !Contains its key
  void Add(HandedFile file, std::shared_ptr<const void> alive);
  void Remove(const FileKey& key);
  std::vector<FileKey> Keys() const;

  /// Whether every cell is there.
  bool complete() const;
  /// For people, of one that is not complete: "3 of 4 files; 'w' [0:4] is not there".
  std::string Missing() const;
  /// \pre complete()
  HandedStatePtr State() const;

 private:
  struct Member {
    HandedFile file;
    std::shared_ptr<const void> alive;
  };
  struct Cell {
    int tensor = 0;
    ptc::Box box;
  };
  const Cell* FirstMissing() const;
  Status CheckReplicas(const HandedFile& file, const HandedFile& other) const;

  const JobInfo job_;
  std::map<FileKey, Member> files_;
  std::vector<Cell> cells_;  // of the layout
};

/// "ranks/3/model.safetensors.new".
std::string HandedPath(int rank, Part part);

}  // namespace tessera::engine::vfs
