// SPDX-License-Identifier: Apache-2.0
#include "ptc/cells.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace tessera::ptc {
namespace {

/// A piece with all devices that hold or need just this one.
struct SharedPiece {
  Box box;
  DeviceSet holders;
  DeviceSet needers;
};

std::vector<SharedPiece> JoinEqual(const TensorPieces& pieces) {
  struct Owned {
    Box box;
    std::size_t device;
    bool is_held;
  };
  std::vector<Owned> all;
  for (const bool is_held : {true, false}) {
    const auto& side = is_held ? pieces.held : pieces.needed;
    for (std::size_t device = 0; device < side.size(); ++device) {
      for (const Box& box : side[device]) all.push_back({box, device, is_held});
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Owned& a, const Owned& b) { return a.box < b.box; });
  const DeviceSet nobody(pieces.held.size());
  std::vector<SharedPiece> shared;
  for (const Owned& owned : all) {
    if (shared.empty() || shared.back().box != owned.box) {
      shared.push_back({owned.box, nobody, nobody});
    }
    (owned.is_held ? shared.back().holders : shared.back().needers).Insert(owned.device);
  }
  return shared;
}

/// Cuts slab by slab, dim by dim.
class Slicer {
 public:
  Slicer(const std::vector<SharedPiece>& pieces, std::size_t num_devices)
      : pieces_(pieces), nobody_(num_devices) {}

  std::vector<Cell> Run() && {
    if (pieces_.empty()) return {};
    std::vector<std::size_t> all(pieces_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    Slice(0, all);
    return std::move(cells_);
  }

 private:
  /// Cells of the slab that `slab_` describes in the dims before `dim`; `crossing` are the pieces
  /// that span it there.
  void Slice(std::size_t dim, const std::vector<std::size_t>& crossing) {
    const auto rank = static_cast<std::size_t>(pieces_.front().box.rank());
    if (dim == rank) return Emit(rank, crossing);
    const int d = static_cast<int>(dim);
    std::vector<std::int64_t> cuts;
    for (std::size_t p : crossing) {
      cuts.push_back(pieces_[p].box[d].begin);
      cuts.push_back(pieces_[p].box[d].end);
    }
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    std::vector<std::vector<std::size_t>> slabs(cuts.size() - 1);
    for (std::size_t p : crossing) {
      const auto first = std::lower_bound(cuts.begin(), cuts.end(), pieces_[p].box[d].begin);
      for (auto at = first; *at < pieces_[p].box[d].end; ++at) {
        slabs[static_cast<std::size_t>(at - cuts.begin())].push_back(p);
      }
    }
    for (std::size_t i = 0; i < slabs.size(); ++i) {
      if (slabs[i].empty()) continue;
      slab_[dim] = {cuts[i], cuts[i + 1]};
      Slice(dim + 1, slabs[i]);
    }
  }

  void Emit(std::size_t rank, const std::vector<std::size_t>& owners) {
    Cell& cell = cells_.emplace_back(Cell{*Box::Make({slab_.data(), rank}), nobody_, nobody_});
    for (std::size_t p : owners) {
      cell.holders.InsertAll(pieces_[p].holders);
      cell.needers.InsertAll(pieces_[p].needers);
    }
  }

  const std::vector<SharedPiece>& pieces_;
  const DeviceSet nobody_;
  std::array<Interval, kMaxRank> slab_{};
  std::vector<Cell> cells_;
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
  const std::vector<SharedPiece> shared = JoinEqual(pieces);
  return Slicer(shared, pieces.held.size()).Run();
}

}  // namespace tessera::ptc
