// SPDX-License-Identifier: Apache-2.0
#include "engine/store/view_plan.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "engine/copy/checksum.h"
#include "engine/store/arena_format.h"
#include "engine/store/view_memory.h"
#include "ptc/base/check.h"
#include "ptc/plan/placed_cells.h"

namespace tessera::engine {
namespace {

struct HeldCell {
  ViewCell cell;
  std::vector<ptc::DeviceId> holders;  // ascending
};

/// In ascending order of (tensor, box).
std::vector<HeldCell> FindHeldCells(const ptc::Layout& layout) {
  const ptc::PlacedCells placed(layout, layout);
  std::vector<HeldCell> out;
  const auto& tensors = layout.collection().tensors();
  for (int t = 0; t < static_cast<int>(tensors.size()); ++t) {
    const std::int64_t element = ptc::SizeBytes(tensors[static_cast<std::size_t>(t)].dtype);
    placed.ForEach(t, [&](const ptc::Box& box, const auto& holders, const auto& /*needers*/) {
      HeldCell& held = out.emplace_back();
      held.cell.tensor = t;
      held.cell.box = box;
      held.cell.size_bytes = box.num_elements() * element;
      held.holders = holders;
    });
  }
  return out;
}

/// Chooses the holder that copies each cell. `load`: the bytes that each device copies.
/// \return by cell; nullopt: it has no holders
std::vector<std::optional<ptc::DeviceId>> ChooseHolders(
    const std::vector<HeldCell>& cells, std::map<ptc::DeviceId, std::int64_t>& load) {
  std::vector<std::size_t> order(cells.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // Cells with one holder first, then the largest: the small ones even out the load.
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const bool free_a = cells[a].holders.size() > 1;
    const bool free_b = cells[b].holders.size() > 1;
    return free_a != free_b ? !free_a : cells[a].cell.size_bytes > cells[b].cell.size_bytes;
  });
  std::vector<std::optional<ptc::DeviceId>> chosen(cells.size());
  for (const std::size_t i : order) {
    const auto& holders = cells[i].holders;
    if (holders.empty()) continue;
    chosen[i] =
        *std::min_element(holders.begin(), holders.end(),
                          [&](ptc::DeviceId a, ptc::DeviceId b) { return load[a] < load[b]; });
    load[*chosen[i]] += cells[i].cell.size_bytes;
  }
  return chosen;
}

std::vector<std::int32_t> RingOf(const ptc::DeviceMesh& mesh, std::optional<std::int32_t> guest) {
  std::set<std::int32_t> nodes;
  for (const ptc::DeviceId device : mesh.devices()) nodes.insert(device.node);
  if (guest) nodes.insert(*guest);
  return {nodes.begin(), nodes.end()};
}

std::int32_t NextIn(const std::vector<std::int32_t>& ring, std::int32_t node) {
  const auto next = std::upper_bound(ring.begin(), ring.end(), node);
  return next == ring.end() ? ring.front() : *next;
}

std::int64_t RoundUpTo(std::size_t unit, std::int64_t bytes) {
  const auto u = static_cast<std::int64_t>(unit);
  return (bytes + u - 1) / u * u;
}

std::uint64_t HashOf(const std::vector<ViewCell>& cells) {
  std::vector<std::int64_t> words;
  for (const ViewCell& cell : cells) {
    words.insert(words.end(), {cell.tensor, cell.device.node, cell.device.index, cell.size_bytes,
                               cell.offset_bytes, cell.box.rank()});
    for (int d = 0; d < cell.box.rank(); ++d) {
      words.insert(words.end(), {cell.box[d].begin, cell.box[d].end});
    }
  }
  return Checksum(std::as_bytes(std::span(words)));
}

}  // namespace

ViewPlan::ViewPlan(const ptc::Layout& layout, int copies, std::optional<std::int32_t> guest) {
  std::vector<HeldCell> held = FindHeldCells(layout);
  std::map<ptc::DeviceId, std::int64_t> load;
  const auto first = ChooseHolders(held, load);
  const std::vector<std::int32_t> ring = RingOf(layout.mesh(), guest);
  const bool has_seconds = copies > 1 && ring.size() > 1;
  std::vector<std::optional<ptc::DeviceId>> second(held.size());
  if (has_seconds) {
    for (std::size_t i = 0; i < held.size(); ++i) {
      std::erase_if(held[i].holders,
                    [&](ptc::DeviceId holder) { return holder.node == first[i]->node; });
    }
    second = ChooseHolders(held, load);
  }
  const auto add = [&](ViewCell cell, ptc::DeviceId device, bool is_second) {
    cell.device = device;
    cell.is_second = is_second;
    const auto [bytes, fresh] =
        bytes_of_node_.try_emplace(cell.device.node, static_cast<std::int64_t>(kViewHeaderBytes));
    cell.offset_bytes = bytes->second;
    bytes->second = RoundUpTo(kPieceAlignment, cell.offset_bytes + cell.size_bytes);
    cells_.push_back(cell);
  };
  cells_.reserve(held.size() * (has_seconds ? 2 : 1));
  for (std::size_t i = 0; i < held.size(); ++i) {
    TESSERA_CHECK(first[i].has_value());
    add(held[i].cell, *first[i], false);
    if (!has_seconds) continue;
    const ptc::DeviceId fetched{NextIn(ring, first[i]->node), ViewCell::kFetched};
    add(held[i].cell, second[i].value_or(fetched), true);
  }
  for (auto& [node, bytes] : bytes_of_node_) bytes = RoundUpTo(kViewHeaderBytes, bytes);
  std::size_t at = 0;
  for (std::size_t t = 0; t < layout.collection().tensors().size(); ++t) {
    first_of_tensor_.push_back(at);
    while (at < cells_.size() && cells_[at].tensor == static_cast<int>(t)) ++at;
  }
  first_of_tensor_.push_back(at);
  hash_ = HashOf(cells_);
}

std::span<const ViewCell> ViewPlan::CellsOf(int tensor) const {
  const auto t = static_cast<std::size_t>(tensor);
  return std::span(cells_).subspan(first_of_tensor_[t],
                                   first_of_tensor_[t + 1] - first_of_tensor_[t]);
}

const ViewCell* ViewPlan::FindContaining(int tensor, const ptc::Box& box, std::int32_t node) const {
  const std::span<const ViewCell> cells = CellsOf(tensor);
  auto at = std::lower_bound(cells.begin(), cells.end(), box,
                             [](const ViewCell& cell, const ptc::Box& b) { return cell.box < b; });
  for (; at != cells.end() && at->box == box; ++at) {
    if (at->device.node == node) return &*at;
  }
  for (const ViewCell& cell : cells) {
    if (cell.device.node == node && Contains(cell.box, box)) return &cell;
  }
  return nullptr;
}

std::int64_t ViewPlan::total_bytes() const {
  std::int64_t bytes = 0;
  for (const auto& [node, own] : bytes_of_node_) bytes += own;
  return bytes;
}

std::set<std::int32_t> ViewPlan::nodes() const {
  std::set<std::int32_t> nodes;
  for (const auto& [node, bytes] : bytes_of_node_) nodes.insert(node);
  return nodes;
}

bool ViewPlan::IsCoveredBy(const std::set<std::int32_t>& nodes) const {
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    if (cells_[i].is_second) continue;
    const bool has_second = i + 1 < cells_.size() && cells_[i + 1].is_second;
    if (nodes.contains(cells_[i].device.node)) continue;
    if (!has_second || !nodes.contains(cells_[i + 1].device.node)) return false;
  }
  return true;
}

}  // namespace tessera::engine
