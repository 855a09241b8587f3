// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The index of a data set: the location of each record. It is built once by reading the files, and
/// then kept in a file that is mapped (FORMAT.md).

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/data/byte_source.h"
#include "engine/data/dataset.h"

namespace tessera::engine {

/// How indexes are made and kept.
struct IndexOptions {
  /// The folder of index files, created if missing; empty: indexes are only in memory.
  std::string folder = {};
  /// Reports the bytes done and the bytes of all files; `total` grows while files are still being
  /// found. Called on the caller's thread, repeatedly while there is progress, also with equal
  /// numbers.
  std::function<void(std::int64_t done, std::int64_t total)> progress = {};
  /// A request to stop ends the work with kCancelled.
  std::stop_token cancel = {};
  /// Reports in one line that an index could not be kept. The data set is still opened.
  std::function<void(const std::string& line)> warn = {};
};

/// Entries of a fixed number of words each, in the order of the files.
/// \threadsafety Immutable.
class RecordIndex {
 public:
  virtual ~RecordIndex() = default;
  std::int64_t num_entries() const {
    return static_cast<std::int64_t>(words_.size() / entry_words_);
  }
  /// \pre 0 <= i < num_entries()
  std::span<const std::uint64_t> entry(std::int64_t i) const {
    return words_.subspan(static_cast<std::size_t>(i) * entry_words_, entry_words_);
  }
  /// The file of an entry, and the first entry of a file.
  std::size_t file_of(std::int64_t entry) const;
  std::int64_t first_of(std::size_t file) const {
    return static_cast<std::int64_t>(first_entries_[file]);
  }
  /// Equal for equal entries in equal files, wherever the files are.
  std::uint64_t checksum() const { return checksum_; }

 protected:
  RecordIndex() = default;
  std::span<const std::uint64_t> words_;          // entries
  std::span<const std::uint64_t> first_entries_;  // of each file; one more than there are files
  std::size_t entry_words_ = 1;
  std::uint64_t checksum_ = 0;
};
using RecordIndexPtr = std::shared_ptr<const RecordIndex>;

/// Collects the entries while the files are scanned.
/// \threadsafety One thread.
class IndexBuilder {
 public:
  IndexBuilder(std::size_t entry_words, std::int64_t total_bytes, const IndexOptions& options)
      : entry_words_(entry_words), total_bytes_(total_bytes), options_(options) {}
  void BeginFile() { first_entries_.push_back(words_.size() / entry_words_); }
  /// \pre entry.size() == entry_words
  void Add(std::initializer_list<std::uint64_t> entry) { words_.insert(words_.end(), entry); }
  /// Reports progress. Call it often.
  /// \error kCancelled
  Status Passed(std::int64_t bytes);

  std::vector<std::uint64_t> TakeWords();  // as the body of the file: first entries, then entries

 private:
  const std::size_t entry_words_;
  const std::int64_t total_bytes_;
  const IndexOptions& options_;
  std::int64_t done_bytes_ = 0;
  std::int64_t told_bytes_ = 0;
  std::vector<std::uint64_t> first_entries_, words_;
};

/// Returns the key of the content of the sources: a hash of names, sizes, versions, and the first
/// and last 4 KiB of at most 16 of them. The sampled content distinguishes files that replaced
/// others with equal times. More samples would cost a request each for remote files.
/// \error as ByteSource::ReadAt; kCancelled
Result<std::uint64_t> ContentKey(std::span<const ByteSourcePtr> sources,
                                 const IndexOptions& options = {});

/// Returns the index kept under the key of the sources. If there is none, or it is damaged or of
/// another version, `scan` builds one, which is then kept. Any number of processes may do so at
/// once.
/// \param scan calls BeginFile once for each of `num_files` files, in order
/// \error as `scan`; kCancelled
Result<RecordIndexPtr> OpenIndex(DataFormat format, std::size_t entry_words, std::size_t num_files,
                                 std::span<const ByteSourcePtr> sources,
                                 const IndexOptions& options,
                                 const std::function<Status(IndexBuilder&)>& scan);

}  // namespace tessera::engine
