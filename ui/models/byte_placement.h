// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The ranks that hold the bytes of an entry of a state file. A layout has boxes, and a file is
/// row-major, so a cut of an inner dimension repeats in every row. Therefore this stores the
/// repetition and not the runs: a tensor of a million rows that tp cuts along its columns has millions
/// of runs and two pieces.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/vfs/file_plan.h"
#include "ptc/cells.h"
#include "ptc/layout.h"

namespace tessera::ui {

/// The placement of one entry. Offsets count from the first byte of the entry. Immutable.
class BytePlacement {
 public:
  /// Bytes [begin, end) that the same ranks hold; `group` is a position in groups().
  struct Run {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::size_t group = 0;
    friend bool operator==(const Run&, const Run&) = default;
  };
  /// A group and its bytes.
  using Share = std::pair<std::size_t, std::int64_t>;

  /// \pre `entry` belongs to a plan of this layout
  static BytePlacement of(const ptc::Layout& layout, const engine::vfs::FilePlan::Entry& entry);

  std::int64_t size() const { return m_nodes.empty() ? 0 : m_nodes.front().size; }
  /// The distinct sets of ranks that hold bytes, in the order of their first bytes. Ranks ascend; no
  /// set is empty.
  const std::vector<std::vector<int>>& groups() const { return m_groups; }
  /// The number of longest runs: neighbours have different groups.
  std::int64_t numRuns() const { return m_nodes.empty() ? 0 : m_nodes.front().runs; }
  /// The longest run that contains `byte`.
  /// \pre 0 <= byte < size()
  Run runAt(std::int64_t byte) const;
  /// The first runs, at most `most`.
  std::vector<Run> runs(std::size_t most) const;
  /// The bytes of each group in [begin, end), by group, without groups that have none.
  /// \pre 0 <= begin <= end <= size()
  std::vector<Share> shares(std::int64_t begin, std::int64_t end) const;

 private:
  /// A piece of a node: a run of one group, or a node that repeats `count` times.
  struct Piece {
    std::int64_t begin = 0;  // in the node
    std::int64_t unit = 0;   // bytes of one repetition
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
  std::size_t build(std::span<const ptc::Cell> cells, std::span<const std::size_t> group_of,
                    const ptc::Box& box, int dim, std::int64_t element_bytes);
  Piece pieceOf(std::size_t node, std::int64_t begin, std::int64_t count);
  void finish(Node& node) const;
  /// The leaf that contains `byte`, as a run.
  Run leafAt(std::int64_t byte) const;
  void addShares(const Node& node, std::int64_t begin, std::int64_t end,
                 std::vector<std::int64_t>& bytes) const;

  std::vector<std::vector<int>> m_groups;
  std::vector<Node> m_nodes;  // the first is the whole entry; none if the entry is empty
};

}  // namespace tessera::ui
