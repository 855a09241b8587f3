// SPDX-License-Identifier: Apache-2.0
#include "ptc/cells.h"

#include <algorithm>
#include <array>
#include <bit>

namespace tessera::ptc {
namespace {

/// The cuts of all dims and the row-major grid of boxes between them.
class Grid {
 public:
  explicit Grid(const TensorPieces& pieces) {
    for (const auto* side : {&pieces.held, &pieces.needed}) {
      for (const std::vector<Box>& boxes : *side) {
        for (const Box& box : boxes) Cut(box);
      }
    }
    for (int d = rank_ - 1; d >= 0; --d) {
      std::vector<std::int64_t>& cuts = cuts_[Index(d)];
      std::sort(cuts.begin(), cuts.end());
      cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
      strides_[Index(d)] = size_;
      size_ *= cuts.size() - 1;
    }
  }

  std::size_t size() const { return size_; }

  Box BoxAt(std::size_t cell) const {
    std::array<Interval, kMaxRank> dims{};
    for (int d = 0; d < rank_; ++d) {
      const std::size_t at = cell / strides_[Index(d)];
      cell %= strides_[Index(d)];
      dims[Index(d)] = {cuts_[Index(d)][at], cuts_[Index(d)][at + 1]};
    }
    return *Box::Make({dims.data(), Index(rank_)});
  }

  template <typename Visit>
  void ForEachCellOf(const Box& box, Visit&& visit) const {
    Descend(box, 0, 0, visit);
  }

 private:
  static std::size_t Index(int dim) { return static_cast<std::size_t>(dim); }

  void Cut(const Box& box) {
    rank_ = box.rank();
    for (int d = 0; d < rank_; ++d) {
      cuts_[Index(d)].push_back(box[d].begin);
      cuts_[Index(d)].push_back(box[d].end);
    }
  }

  std::size_t CutAt(int dim, std::int64_t position) const {
    const std::vector<std::int64_t>& cuts = cuts_[Index(dim)];
    return static_cast<std::size_t>(std::lower_bound(cuts.begin(), cuts.end(), position) -
                                    cuts.begin());
  }

  template <typename Visit>
  void Descend(const Box& box, int dim, std::size_t base, Visit&& visit) const {
    if (dim == rank_) return visit(base);
    const std::size_t end = CutAt(dim, box[dim].end);
    for (std::size_t at = CutAt(dim, box[dim].begin); at < end; ++at) {
      Descend(box, dim + 1, base + at * strides_[Index(dim)], visit);
    }
  }

  int rank_ = 0;
  std::array<std::vector<std::int64_t>, kMaxRank> cuts_;
  std::array<std::size_t, kMaxRank> strides_{};
  std::size_t size_ = 1;
};

}  // namespace

bool DeviceSet::empty() const {
  return std::all_of(words_.begin(), words_.end(), [](std::uint64_t word) { return word == 0; });
}

std::size_t DeviceSet::size() const {
  std::size_t count = 0;
  for (std::uint64_t word : words_) count += static_cast<std::size_t>(std::popcount(word));
  return count;
}

std::vector<std::size_t> DeviceSet::ToVector() const {
  std::vector<std::size_t> devices;
  for (std::size_t w = 0; w < words_.size(); ++w) {
    for (std::uint64_t word = words_[w]; word != 0; word &= word - 1) {
      devices.push_back(w * 64 + static_cast<std::size_t>(std::countr_zero(word)));
    }
  }
  return devices;
}

std::vector<DeviceId> DevicesOf(const Layout& from, const Layout& to) {
  std::vector<DeviceId> devices = from.mesh().devices();
  devices.insert(devices.end(), to.mesh().devices().begin(), to.mesh().devices().end());
  std::sort(devices.begin(), devices.end());
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  return devices;
}

TensorPieces PiecesOf(const Layout& from, const Layout& to, const std::vector<DeviceId>& devices,
                      int tensor) {
  TensorPieces pieces;
  for (DeviceId device : devices) {
    const auto old_rank = from.mesh().RankOf(device);
    const auto new_rank = to.mesh().RankOf(device);
    pieces.held.push_back(old_rank ? from.Boxes(*old_rank, tensor) : std::vector<Box>{});
    pieces.needed.push_back(new_rank ? to.Boxes(*new_rank, tensor) : std::vector<Box>{});
  }
  return pieces;
}

std::vector<Cell> MakeCells(const TensorPieces& pieces) {
  const auto is_empty = [](const std::vector<Box>& boxes) { return boxes.empty(); };
  if (std::all_of(pieces.held.begin(), pieces.held.end(), is_empty) &&
      std::all_of(pieces.needed.begin(), pieces.needed.end(), is_empty)) {
    return {};
  }
  const Grid grid(pieces);
  const std::size_t num_devices = pieces.held.size();
  std::vector<DeviceSet> holders(grid.size(), DeviceSet(num_devices));
  std::vector<DeviceSet> needers(grid.size(), DeviceSet(num_devices));
  for (std::size_t device = 0; device < num_devices; ++device) {
    for (const Box& box : pieces.held[device]) {
      grid.ForEachCellOf(box, [&](std::size_t cell) { holders[cell].Insert(device); });
    }
    for (const Box& box : pieces.needed[device]) {
      grid.ForEachCellOf(box, [&](std::size_t cell) { needers[cell].Insert(device); });
    }
  }
  std::vector<Cell> cells;
  for (std::size_t cell = 0; cell < grid.size(); ++cell) {
    if (holders[cell].empty() && needers[cell].empty()) continue;
    cells.push_back({grid.BoxAt(cell), std::move(holders[cell]), std::move(needers[cell])});
  }
  return cells;
}

}  // namespace tessera::ptc
