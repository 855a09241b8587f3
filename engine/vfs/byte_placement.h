// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Which ranks hold which bytes of an entry of a file. A layout holds boxes, a file is row-major: a
/// cut of an inner dim comes again in every row. So the bytes are kept as they repeat, not as runs:
/// a tensor of a million rows that tp cuts along its columns has millions of runs and two pieces.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/vfs/file_plan.h"
#include "ptc/cells.h"
#include "ptc/layout.h"

namespace tessera::engine::vfs {

/// Of one entry. Offsets are bytes of the entry: 0 is its first. Immutable.
class BytePlacement {
 public:
  /// Bytes [begin, end) that the same ranks hold; `group` is a position in groups().
  struct Run {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::size_t group = 0;
    friend bool operator==(const Run&, const Run&) = default;
  };
  /// Bytes of a group.
  using Share = std::pair<std::size_t, std::int64_t>;

  /// \pre `entry` is of a plan of this layout
  static BytePlacement Of(const ptc::Layout& layout, const FilePlan::Entry& entry);

  std::int64_t size() const { return nodes_.empty() ? 0 : nodes_.front().size; }
  /// The different sets of ranks that hold something, in the order of their first bytes; ranks
  /// ascending, at least one.
  const std::vector<std::vector<int>>& groups() const { return groups_; }
  /// Of longest runs: neighbours differ in their group.
  std::int64_t num_runs() const { return nodes_.empty() ? 0 : nodes_.front().runs; }
  /// The run that `byte` lies in. \pre 0 <= byte < size()
  Run RunAt(std::int64_t byte) const;
  /// The first runs, at most `most`.
  std::vector<Run> Runs(std::size_t most) const;
  /// What each group has of [begin, end), by group, without those that have nothing.
  /// \pre 0 <= begin <= end <= size()
  std::vector<Share> Shares(std::int64_t begin, std::int64_t end) const;

 private:
  /// A part of a node: a run of one group, or a node that comes `count` times in a row.
  struct Piece {
    std::int64_t begin = 0;  // in the node
    std::int64_t unit = 0;   // bytes of one time
    std::int64_t count = 1;
    bool leaf = true;
    std::size_t index = 0;  // of a group, or of a node
    std::int64_t end() const { return begin + unit * count; }
  };
  struct Node {
    std::vector<Piece> pieces = {};  // without gaps; neighbouring leaves differ
    std::int64_t size = 0;
    std::int64_t runs = 0;
    std::size_t first = 0, last = 0;  // groups of its first and last byte
    std::vector<Share> shares = {};   // of all of it
  };

  BytePlacement() = default;
  std::size_t Build(std::span<const ptc::Cell> cells, std::span<const std::size_t> group_of,
                    const ptc::Box& box, int dim, std::int64_t element_bytes);
  Piece PieceOf(std::size_t node, std::int64_t begin, std::int64_t count);
  void Finish(Node& node) const;
  /// The leaf that `byte` lies in, as a run.
  Run LeafAt(std::int64_t byte) const;
  void AddShares(const Node& node, std::int64_t begin, std::int64_t end,
                 std::vector<std::int64_t>& bytes) const;

  std::vector<std::vector<int>> groups_;
  std::vector<Node> nodes_;  // the first is all of it; empty where the entry is
};

}  // namespace tessera::engine::vfs
