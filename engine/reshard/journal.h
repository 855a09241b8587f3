// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What an unfinished reshard has on disk already, one JSON object a line (FORMAT.md). A line is
/// written after the bytes it speaks of are on the medium.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/open_files.h"
#include "ptc/base/result.h"

namespace tessera::reshard {

/// A file that was read from, as it was then.
struct SourceFile {
  std::string path;
  std::int64_t size = 0;
  std::int64_t mtime_ns = 0;
  friend bool operator==(const SourceFile&, const SourceFile&) = default;
};

/// What makes two runs the same: the first line of a journal.
struct Identity {
  std::string source;  // absolute path
  std::vector<SourceFile> files = {};
  std::uint64_t tables = 0;  // xxh3-64 of names, dtypes, shapes and places of the source's tensors
  std::map<std::string, std::string> options = {};  // as the user writes them
  std::uint64_t plan = 0;                           // xxh3-64 of what goes where
  friend bool operator==(const Identity&, const Identity&) = default;
};
/// Files and tables of a checkpoint, as they are now. \error kUnavailable naming a file
Result<Identity> IdentityOf(const checkpoint::Checkpoint& source);
/// Why `now` cannot go on with what `then` began: one line about the first difference.
std::string Difference(const Identity& then, const Identity& now);

/// A tile that is on the medium.
struct DoneTile {
  std::int64_t tile = 0;
  std::uint64_t source_digest = 0;          // of its elements as read
  std::vector<std::uint64_t> digests = {};  // as written, of its part in each piece, by box
};

/// An inode: which of two folders is which after an exchange.
struct NodeId {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  friend bool operator==(const NodeId&, const NodeId&) = default;
};

/// One writer at a time; a process that ends lets go of it.
class Journal {
 public:
  struct Content {
    std::optional<Identity> identity;  // nullopt: a new journal
    std::vector<DoneTile> tiles = {};
    std::optional<NodeId> placing = {};  // output that was about to take the destination's name
  };

  /// Opens or makes it and takes it for this process.
  /// \error kFailedPrecondition if another process has it, kDataLoss naming a line that is none;
  ///     a last line that is cut off is dropped
  static Result<Journal> Open(const std::string& path);
  Journal(Journal&& other) noexcept;
  Journal& operator=(Journal&&) = delete;
  ~Journal();

  const Content& content() const { return content_; }
  /// Forgets everything and begins anew.
  Status Begin(const Identity& identity);
  /// Adds lines and waits until they are on the medium. Calls do not overlap.
  Status Add(const std::vector<DoneTile>& tiles);
  Status AddPlacing(const NodeId& output);

 private:
  Journal(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  Status Append(const std::string& lines);
  std::string path_;
  int fd_;
  std::int64_t end_ = 0;  // bytes of whole lines
  Content content_;
};

}  // namespace tessera::reshard
