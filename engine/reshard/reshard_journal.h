// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Records which tiles of an unfinished reshard are on disk, one JSON object per line (FORMAT.md).
/// A line is written after the bytes that it describes are synced.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/checkpoint/checkpoint.h"
#include "engine/files/descriptor.h"
#include "ptc/base/result.h"

namespace tessera::reshard {

/// A file of the source, as it was when the run began.
struct SourceFile {
  std::string path;
  std::int64_t size = 0;
  std::int64_t mtime_ns = 0;
  friend bool operator==(const SourceFile&, const SourceFile&) = default;
};

/// The first line of a journal. A run may resume another one if their identities are equal.
struct Identity {
  std::string source;  // absolute path
  std::vector<SourceFile> files = {};
  /// xxh3-64 of the names, dtypes, shapes and locations of the source's tensors.
  std::uint64_t tables = 0;
  std::map<std::string, std::string> options = {};  // as the user writes them
  std::uint64_t plan = 0;                           // ReshardPlan::hash
  friend bool operator==(const Identity&, const Identity&) = default;
};
/// Returns the identity of a source as it is now, without options and plan.
/// \error kUnavailable naming a file
Result<Identity> IdentityOf(const checkpoint::Checkpoint& source);
/// Describes in one line the first difference between an unfinished run and a new one.
std::string Difference(const Identity& then, const Identity& now);

/// A tile that is on disk.
struct DoneTile {
  std::int64_t tile = 0;
  std::uint64_t source_digest = 0;          // of its elements as read
  std::vector<std::uint64_t> digests = {};  // as written: of its part of each piece, by box
};

/// An inode. After two folders were exchanged, it identifies which is which.
struct NodeId {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  friend bool operator==(const NodeId&, const NodeId&) = default;
};

/// The journal file, locked for one process. The lock is released when that process ends.
class ReshardJournal {
 public:
  struct Content {
    std::optional<Identity> identity;  // nullopt: a new journal
    std::vector<DoneTile> tiles = {};
    /// The output that was about to be renamed to the destination.
    std::optional<NodeId> renaming = {};
  };

  /// Opens or creates the file, locks it and reads it. A last line without its line feed is
  /// removed.
  /// \error kFailedPrecondition if another process has the lock; kDataLoss naming a damaged line;
  ///     kResourceExhausted and kUnavailable from the file system
  static Result<ReshardJournal> Open(const std::string& path);
  /// What the file held when it was opened, or nothing after Begin.
  const Content& content() const { return content_; }
  /// Empties the file and writes the identity.
  Status Begin(const Identity& identity);
  /// Appends lines and syncs them.
  /// \pre no other call is in progress
  Status Add(const std::vector<DoneTile>& tiles);
  Status AddRenaming(const NodeId& output);

 private:
  ReshardJournal(std::string path, engine::Descriptor descriptor)
      : path_(std::move(path)), descriptor_(std::move(descriptor)) {}
  Status Append(const std::string& lines);
  std::string path_;
  engine::Descriptor descriptor_;
  std::int64_t end_ = 0;  // bytes of whole lines
  Content content_;
};

}  // namespace tessera::reshard
