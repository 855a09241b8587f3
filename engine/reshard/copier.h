// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Copies tiles from a checkpoint into the files of a plan and says which are on the medium.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/open_files.h"
#include "engine/reshard/journal.h"
#include "engine/reshard/plan.h"
#include "engine/reshard/work.h"
#include "ptc/base/result.h"

namespace tessera::reshard {

/// Sums of digests: they add up over tiles in any order.
struct DigestSums {
  std::vector<std::uint64_t> of_source;  // a tensor, as read
  std::vector<std::uint64_t> of_pieces;  // a piece, as written
};

class Copier {
 public:
  /// All arguments outlive it. \param paths of the plan's files
  Copier(const checkpoint::Checkpoint& source, const Plan& plan, std::vector<std::string> paths,
         const Options& options, Journal& journal);

  /// Makes the files with their sizes; their headers stay zeros.
  Status MakeFiles();
  /// Takes over what a run before has finished. \error kDataLoss for a tile that is none
  Status Resume(const std::vector<DoneTile>& done);
  /// Copies all tiles that are not done. What is done when it ends is in the journal, also after
  /// an error. \error as RunPieces, Checkpoint::Read and File::WriteAt
  Status Run();
  /// Writes the headers and brings every file to the medium. \pre all tiles are done
  Status Finish();

  const DigestSums& digests() const { return sums_; }
  std::int64_t bytes_resumed() const { return bytes_resumed_; }
  std::int64_t bytes_read() const { return meter_.bytes_done - bytes_resumed_; }
  std::int64_t bytes_written() const { return bytes_written_; }
  /// Bytes of the source that the journal has.
  std::int64_t bytes_kept() const { return bytes_kept_; }

 private:
  struct Buffers {
    std::vector<std::byte> read, converted, gather;
  };
  struct Part {  // of a tile, in one piece
    int piece = 0;
    ptc::Box cell;  // in units
  };

  std::vector<Part> PartsOf(const TileSequence::Tile& tile) const;
  std::int64_t SourceBytes(const TileSequence::Tile& tile) const;
  Status CopyTile(Buffers& buffers, std::int64_t number);
  Status WritePart(Buffers& buffers, const TileSequence::Tile& tile, const Part& part,
                   std::span<std::byte> bytes);
  Status Committed(DoneTile done, std::int64_t bytes, const std::vector<Part>& parts);
  Status Commit();
  void Add(const DoneTile& done, int tensor, const std::vector<Part>& parts);

  const checkpoint::Checkpoint& source_;
  const Plan& plan_;
  const Options& options_;
  Journal& journal_;
  const std::vector<std::string> paths_;
  const checkpoint::OpenFiles files_;
  /// A tensor, a piece: the largest end along dim 0, in units, of it and of all before it.
  std::vector<std::vector<std::int64_t>> reach_;
  std::vector<bool> done_;  // by tile, of runs before
  Meter meter_;
  std::int64_t bytes_resumed_ = 0;

  std::mutex mutex_;  // guards all below
  DigestSums sums_;
  std::vector<DoneTile> pending_;
  std::set<int> touched_;  // files of the pending tiles
  std::int64_t pending_bytes_ = 0;
  std::atomic<std::int64_t> bytes_written_{0};
  std::atomic<std::int64_t> bytes_kept_{0};
  std::mutex commit_mutex_;  // one commit at a time; taken before mutex_
};

}  // namespace tessera::reshard
