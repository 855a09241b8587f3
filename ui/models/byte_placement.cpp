// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/byte_placement.h"

#include <algorithm>
#include <map>

#include "ptc/base/check.h"

namespace tessera::ui {
namespace {

/// The elements of an entry that each part of the tensor holds, in the coordinates of Memory(0).
ptc::TensorPieces piecesIn(const ptc::Parts& parts, const engine::vfs::LocalTensor& entry) {
  ptc::TensorPieces pieces;
  pieces.held.resize(parts.boxes.size());
  for (std::size_t i = 0; i < entry.boxes().size(); ++i) {
    for (std::size_t p = 0; p < parts.boxes.size(); ++p) {
      for (const ptc::Box& held : parts.boxes[p]) {
        if (const auto inside = Intersect(held, entry.boxes()[i])) {
          pieces.held[p].push_back(entry.ToMemory(i, *inside));
        }
      }
    }
  }
  return pieces;
}

/// The ranks that hold each part, ascending.
std::vector<std::vector<int>> ranksByPart(const ptc::Layout& layout, const ptc::Parts& parts) {
  std::vector<std::vector<int>> ranks(parts.boxes.size());
  for (int rank = 0; rank < layout.mesh().num_ranks(); ++rank) {
    if (std::ranges::binary_search(parts.stages, layout.mesh().Coordinate(rank, ptc::Axis::kPp))) {
      ranks[layout.PartIndex(rank, parts)].push_back(rank);
    }
  }
  return ranks;
}

}  // namespace

BytePlacement BytePlacement::of(const ptc::Layout& layout, const engine::vfs::FilePlan::Entry& entry) {
  BytePlacement out;
  if (entry.held.boxes().empty()) return out;
  const ptc::Parts parts = layout.PartsOf(entry.tensor);
  const std::vector<ptc::Cell> cells = MakeCells(piecesIn(parts, entry.held));
  const std::vector<std::vector<int>> by_part = ranksByPart(layout, parts);
  std::map<std::vector<int>, std::size_t> known;
  std::vector<std::size_t> group_of;
  for (const ptc::Cell& cell : cells) {
    std::vector<int> ranks;
    for (const std::size_t part : cell.holders.ToVector()) {
      ranks.insert(ranks.end(), by_part[part].begin(), by_part[part].end());
    }
    std::ranges::sort(ranks);
    const auto [at, fresh] = known.emplace(std::move(ranks), out.m_groups.size());
    if (fresh) out.m_groups.push_back(at->first);
    group_of.push_back(at->second);
  }
  out.m_nodes.emplace_back();
  const std::size_t root = out.build(cells, group_of, entry.held.Memory(0), 0, entry.element_bytes);
  out.m_nodes.front() = std::move(out.m_nodes[root]);
  return out;
}

// Cells are in slabs: cells of one interval of a dimension follow each other, and each slab cuts the
// next dimension by itself. Every index of the slab repeats the node of the next dimension.
std::size_t BytePlacement::build(std::span<const ptc::Cell> cells,
                                 std::span<const std::size_t> group_of, const ptc::Box& box,
                                 int dim, std::int64_t element_bytes) {
  Node node;
  const auto add = [&node](Piece piece) {
    if (!node.pieces.empty() && piece.leaf && node.pieces.back().leaf &&
        node.pieces.back().index == piece.index) {
      node.pieces.back().unit += piece.unit;
    } else {
      node.pieces.push_back(piece);
    }
    node.size += piece.unit * piece.count;
  };
  if (dim == box.rank()) {
    TESSERA_DCHECK(cells.size() == 1);
    add({0, element_bytes, 1, true, group_of.front()});
  }
  for (std::size_t from = 0; dim < box.rank() && from < cells.size();) {
    const ptc::Interval slab = cells[from].box[dim];
    std::size_t to = from;
    while (to < cells.size() && cells[to].box[dim] == slab) ++to;
    const std::size_t inner = build(cells.subspan(from, to - from),
                                    group_of.subspan(from, to - from), box, dim + 1, element_bytes);
    add(pieceOf(inner, node.size, slab.size()));
    from = to;
  }
  finish(node);
  m_nodes.push_back(std::move(node));
  return m_nodes.size() - 1;
}

/// `count` repetitions of a node. If the node is one run, they are one leaf.
BytePlacement::Piece BytePlacement::pieceOf(std::size_t node, std::int64_t begin,
                                            std::int64_t count) {
  const Node& inner = m_nodes[node];
  if (inner.runs > 1) return {begin, inner.size, count, false, node};
  const Piece leaf{begin, inner.size * count, 1, true, inner.first};
  m_nodes.pop_back();  // the last one made
  return leaf;
}

void BytePlacement::finish(Node& node) const {
  std::map<std::size_t, std::int64_t> bytes;
  for (std::size_t i = 0; i < node.pieces.size(); ++i) {
    const Piece& piece = node.pieces[i];
    const Node* inner = piece.leaf ? nullptr : &m_nodes[piece.index];
    const std::size_t first = inner != nullptr ? inner->first : piece.index;
    if (i == 0) node.first = first;
    const bool joins = i > 0 && node.last == first;
    node.last = inner != nullptr ? inner->last : piece.index;
    node.runs += (inner != nullptr ? inner->runs * piece.count : 1) - (joins ? 1 : 0);
    if (inner == nullptr) {
      bytes[piece.index] += piece.unit;
      continue;
    }
    if (inner->first == inner->last) node.runs -= piece.count - 1;
    for (const auto& [group, own] : inner->shares) bytes[group] += own * piece.count;
  }
  node.shares.assign(bytes.begin(), bytes.end());
}

BytePlacement::Run BytePlacement::leafAt(std::int64_t byte) const {
  std::int64_t base = 0;
  const Node* node = &m_nodes.front();
  for (;;) {
    const auto after = std::ranges::upper_bound(node->pieces, byte - base, {}, &Piece::begin);
    const Piece& piece = *(after - 1);
    base += piece.begin;
    if (piece.leaf) return {base, base + piece.unit, piece.index};
    base += (byte - base) / piece.unit * piece.unit;
    node = &m_nodes[piece.index];
  }
}

BytePlacement::Run BytePlacement::runAt(std::int64_t byte) const {
  TESSERA_DCHECK(0 <= byte && byte < size());
  Run run = leafAt(byte);
  while (run.begin > 0) {
    const Run before = leafAt(run.begin - 1);
    if (before.group != run.group) break;
    run.begin = before.begin;
  }
  while (run.end < size()) {
    const Run next = leafAt(run.end);
    if (next.group != run.group) break;
    run.end = next.end;
  }
  return run;
}

std::vector<BytePlacement::Run> BytePlacement::runs(std::size_t most) const {
  std::vector<Run> runs;
  for (std::int64_t at = 0; at < size() && runs.size() < most; at = runs.back().end) {
    runs.push_back(runAt(at));
  }
  return runs;
}

void BytePlacement::addShares(const Node& node, std::int64_t begin, std::int64_t end,
                              std::vector<std::int64_t>& bytes) const {
  if (begin == 0 && end == node.size) {
    for (const auto& [group, own] : node.shares) bytes[group] += own;
    return;
  }
  auto piece = std::ranges::upper_bound(node.pieces, begin, {}, &Piece::begin) - 1;
  for (; piece != node.pieces.end() && piece->begin < end; ++piece) {
    const std::int64_t from = std::max(begin, piece->begin) - piece->begin;
    const std::int64_t to = std::min(end, piece->end()) - piece->begin;
    if (piece->leaf) {
      bytes[piece->index] += to - from;
      continue;
    }
    const Node& inner = m_nodes[piece->index];
    const std::int64_t first = from / piece->unit, last = to / piece->unit;
    const std::int64_t head = from % piece->unit, tail = to % piece->unit;
    if (first == last) {
      addShares(inner, head, tail, bytes);
      continue;
    }
    addShares(inner, head, inner.size, bytes);
    for (const auto& [group, own] : inner.shares) bytes[group] += own * (last - first - 1);
    if (tail > 0) addShares(inner, 0, tail, bytes);
  }
}

std::vector<BytePlacement::Share> BytePlacement::shares(std::int64_t begin,
                                                        std::int64_t end) const {
  TESSERA_DCHECK(0 <= begin && begin <= end && end <= size());
  if (begin == end) return {};
  std::vector<std::int64_t> bytes(m_groups.size());
  addShares(m_nodes.front(), begin, end, bytes);
  std::vector<Share> shares;
  for (std::size_t group = 0; group < bytes.size(); ++group) {
    if (bytes[group] > 0) shares.emplace_back(group, bytes[group]);
  }
  return shares;
}

}  // namespace tessera::ui
