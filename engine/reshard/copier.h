// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Copies tiles from a checkpoint into the files of a plan and records in the journal which tiles
/// are on disk.

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
#include "engine/reshard/reshard_journal.h"
#include "engine/reshard/reshard_plan.h"
#include "engine/reshard/work.h"
#include "ptc/base/result.h"

namespace tessera::reshard {

/// Sums of digests. They add up over tiles in any order.
struct DigestSums {
  std::vector<std::uint64_t> of_source;  // of each tensor, as read
  std::vector<std::uint64_t> of_pieces;  // of each piece, as written
};

class Copier {
 public:
  /// All arguments must outlive the copier.
  /// \param paths of the plan's files
  Copier(const checkpoint::Checkpoint& source, const ReshardPlan& plan,
         std::vector<std::string> paths, const Options& options, ReshardJournal& journal);

  /// Creates the files with their final sizes. Their headers are zeros until Finish.
  Status MakeFiles();
  /// Takes over the tiles that an earlier run finished.
  /// \error kDataLoss for a tile that the plan does not have, or that is listed twice
  Status Resume(const std::vector<DoneTile>& done);
  /// Copies all tiles that are not done. When it returns, also with an error, every finished tile
  /// is in the journal.
  /// \error as RunPieces, Checkpoint::Read and File::WriteAt
  Status Run();
  /// Writes the headers and syncs every file.
  /// \pre all tiles are done
  Status Finish();

  const DigestSums& digests() const { return sums_; }
  std::int64_t bytes_resumed() const { return bytes_resumed_; }
  std::int64_t bytes_read() const { return meter_.bytes_done - bytes_resumed_; }
  std::int64_t bytes_written() const { return bytes_written_; }
  /// Bytes of the source whose tiles are in the journal.
  std::int64_t bytes_kept() const { return bytes_kept_; }

 private:
  struct Buffers {
    std::vector<std::byte> read, converted, gather;
  };
  /// The intersection of a tile and a piece.
  struct TilePiece {
    int piece = 0;
    ptc::Box box;  // in units
  };

  std::vector<TilePiece> PiecesOf(const TileSequence::Tile& tile) const;
  std::int64_t SourceBytes(const TileSequence::Tile& tile) const;
  Status CopyTile(Buffers& buffers, std::int64_t number);
  Status WriteTilePiece(Buffers& buffers, const TileSequence::Tile& tile, const TilePiece& part,
                        std::span<std::byte> bytes);
  /// Notes a tile whose bytes are written, and commits once enough of them are pending.
  Status AddDone(DoneTile done, std::int64_t bytes, const std::vector<TilePiece>& parts);
  /// Syncs the files of the pending tiles, then writes these into the journal.
  Status Commit();
  void AddDigests(const DoneTile& done, int tensor, const std::vector<TilePiece>& parts);

  const checkpoint::Checkpoint& source_;
  const ReshardPlan& plan_;
  const Options& options_;
  ReshardJournal& journal_;
  const std::vector<std::string> paths_;
  const checkpoint::OpenFiles files_;
  /// For each tensor and piece: the largest end along dim 0, in units, of this piece and all before
  /// it.
  std::vector<std::vector<std::int64_t>> reach_;
  std::vector<bool> done_;  // by tile: finished by an earlier run
  Meter meter_;
  std::int64_t bytes_resumed_ = 0;

  std::mutex mutex_;  // guards sums_, pending_, touched_, pending_bytes_
  DigestSums sums_;
  std::vector<DoneTile> pending_;
  std::set<int> touched_;  // files of the pending tiles
  std::int64_t pending_bytes_ = 0;
  std::atomic<std::int64_t> bytes_written_{0};
  std::atomic<std::int64_t> bytes_kept_{0};
  std::mutex commit_mutex_;  // serializes commits; taken before mutex_
};

}  // namespace tessera::reshard
