// SPDX-License-Identifier: Apache-2.0
#include "ptc/cells.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace tessera::ptc {
namespace {

/// A piece with all owners that hold or need exactly this box.
struct SharedPiece {
  Box box;
  DeviceSet holders;
  DeviceSet needers;
};

std::vector<SharedPiece> JoinEqual(const TensorPieces& pieces) {
  struct Owned {
    const Box* box;
    std::size_t owner;
    bool is_held;
  };
  std::vector<Owned> all;
  for (const bool is_held : {true, false}) {
    const auto& side = is_held ? pieces.held : pieces.needed;
    for (std::size_t owner = 0; owner < side.size(); ++owner) {
      for (const Box& box : side[owner]) all.push_back({&box, owner, is_held});
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Owned& a, const Owned& b) { return *a.box < *b.box; });
  std::vector<SharedPiece> shared;
  for (const Owned& owned : all) {
    if (shared.empty() || shared.back().box != *owned.box) shared.push_back({*owned.box, {}, {}});
    (owned.is_held ? shared.back().holders : shared.back().needers).Insert(owned.owner);
  }
  return shared;
}

/// Cuts slab by slab, dim by dim.
class Slicer {
 public:
  explicit Slicer(const std::vector<SharedPiece>& pieces) : pieces_(pieces) {}

  std::vector<Cell> Run() && {
    if (pieces_.empty()) return {};
    std::vector<std::size_t> all(pieces_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    Slice(0, all);
    return std::move(cells_);
  }

 private:
  /// Appends the cells of the slab that `slab_` describes in the dims before `dim`. `crossing` are
  /// the pieces that span the slab in these dims.
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
    Cell& cell = cells_.emplace_back(Cell{*Box::Make({slab_.data(), rank}), {}, {}});
    for (std::size_t p : owners) {
      cell.holders.InsertAll(pieces_[p].holders);
      cell.needers.InsertAll(pieces_[p].needers);
    }
  }

  const std::vector<SharedPiece>& pieces_;
  std::array<Interval, kMaxRank> slab_{};
  std::vector<Cell> cells_;
};

}  // namespace

void DeviceSet::Insert(std::size_t owner) {
  const auto at = std::lower_bound(members_.begin(), members_.end(), owner);
  if (at == members_.end() || *at != owner) members_.insert(at, owner);
}

void DeviceSet::InsertAll(const DeviceSet& other) {
  if (members_.empty()) {
    members_ = other.members_;
    return;
  }
  const auto middle = members_.insert(members_.end(), other.members_.begin(), other.members_.end());
  std::inplace_merge(members_.begin(), middle, members_.end());
  members_.erase(std::unique(members_.begin(), members_.end()), members_.end());
}

bool DeviceSet::Contains(std::size_t owner) const {
  return std::binary_search(members_.begin(), members_.end(), owner);
}

std::vector<DeviceId> DevicesOf(const Layout& from, const Layout& to) {
  std::vector<DeviceId> devices = from.mesh().devices();
  devices.insert(devices.end(), to.mesh().devices().begin(), to.mesh().devices().end());
  std::sort(devices.begin(), devices.end());
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  return devices;
}

std::vector<Cell> MakeCells(const TensorPieces& pieces) {
  const std::vector<SharedPiece> shared = JoinEqual(pieces);
  return Slicer(shared).Run();
}

}  // namespace tessera::ptc
