// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "ptc/base/at.h"
#include "ptc/base/check.h"
#include "ptc/flat_range.h"
#include "ptc/plan/kinds.h"
#include "ptc/plan/needs.h"
#include "ptc/plan/plan.h"

namespace tessera::ptc {
namespace {

/// A move with its sort key. The kind is the last entry, so that a drop follows the copies from it.
struct Entry {
  Box box;
  DeviceId device;
  Move move;
  friend bool operator<(const Entry& a, const Entry& b) {
    if (a.box != b.box) return a.box < b.box;
    if (a.device != b.device) return a.device < b.device;
    return a.move.index() < b.move.index();
  }
};

/// Expands the moves of one device, tensor after tensor. Also those that forward what the device
/// has received to other devices of its node.
class Expander {
 public:
  Expander(const Outline& outline, const Classes& classes, const Layout& to,
           const std::vector<std::optional<int>>& from_ranks, std::size_t position)
      : outline_(outline),
        kinds_(*outline.kinds),
        classes_(classes),
        from_ranks_(from_ranks),
        position_(position),
        device_(outline.devices[position]),
        old_rank_(from_ranks[position]),
        to_(to),
        new_rank_(to.mesh().RankOf(device_)),
        rest_(outline.first_flow[position + 1] - outline.first_flow[position]) {
    for (std::size_t f = 0; f < rest_.size(); ++f) rest_[f] = FlowAt(f).bytes;
    for (const Relay& relay : RelaysOfNode(outline, device_.node)) {
      const auto me =
          std::find(relay.devices.begin(), relay.devices.end(), static_cast<int>(position));
      if (me == relay.devices.end()) continue;
      const auto i = static_cast<std::size_t>(me - relay.devices.begin());
      relays_[{relay.held_class, relay.element_bytes}].push_back({&relay, i, 0});
    }
  }

  /// The relays of a node, a range of Outline::relays.
  static std::span<const Relay> RelaysOfNode(const Outline& outline, std::int32_t node) {
    const auto node_of = [&](const Relay& relay) {
      return outline.devices[At(relay.devices.front())].node;
    };
    const auto begin = std::partition_point(outline.relays.begin(), outline.relays.end(),
                                            [&](const Relay& r) { return node_of(r) < node; });
    const auto end = std::partition_point(begin, outline.relays.end(),
                                          [&](const Relay& r) { return node_of(r) == node; });
    return {begin, end};
  }

  /// Appends the moves of the next tensor, and its reads from storage.
  /// \pre called for all tensors in ascending order
  void Append(int tensor, std::vector<Entry>& out, std::vector<StorageRead>& reads) {
    staged_ = At(kinds_.staged_of_tensor[At(tensor)]);
    const KindOnStages& staged = kinds_.staged[staged_];
    kind_ = &kinds_.kinds[At(staged.kind)];
    tensor_ = tensor;
    out_ = &out;
    reads_ = &reads;
    from_part_.reset();
    held_ = needed_ = &none_;
    if (old_rank_ && kinds_.from.IsOn(staged.from_stages, kinds_.from.StageOf(*old_rank_))) {
      from_part_ = At(kinds_.from.PartOf(kind_->from_axes, *old_rank_));
      held_ = &kind_->pieces.held[*from_part_];
    }
    const bool needs = new_rank_ && kinds_.to.IsOn(staged.to_stages, kinds_.to.StageOf(*new_rank_));
    const std::size_t to_part =
        needs ? At(kinds_.to.PartOf(kind_->to_axes, *new_rank_)) : std::size_t{0};
    if (needs) needed_ = &kind_->pieces.needed[to_part];
    KeepAndDrop();
    if (!needs) return;
    for (int c : kind_->needed_cells[to_part]) Copy(At(c));
  }

 private:
  const ClassFlow& FlowAt(std::size_t f) const {
    return outline_.flows[outline_.first_flow[position_] + f];
  }
  void Emit(const Box& box, Move move) { out_->push_back({box, device_, std::move(move)}); }

  /// A relay that this device takes part in.
  struct OwnRelay {
    const Relay* relay = nullptr;
    std::size_t member = 0;  // this device's index in it
    std::int64_t seen = 0;   // bytes of the cells so far
  };

  /// The new piece of another device that contains a cell of the current tensor, or nullptr if the
  /// device does not need the cell.
  const Box* PieceOf(int position, const Cell& cell) const {
    const std::optional<int> rank = to_.mesh().RankOf(outline_.devices[At(position)]);
    if (!rank) return nullptr;
    const KindOnStages& staged = kinds_.staged[staged_];
    if (!kinds_.to.IsOn(staged.to_stages, kinds_.to.StageOf(*rank))) return nullptr;
    const std::size_t part = At(kinds_.to.PartOf(kind_->to_axes, *rank));
    if (!cell.needers.Contains(part)) return nullptr;
    return PieceWith(kind_->pieces.needed[part], cell.box);
  }

  /// The relay that the cell belongs to: that of exactly the devices of the node that need it. Two
  /// relays of a class have different devices, so it is the one with the most devices that all need
  /// the cell.
  OwnRelay* RelayOf(int held_class, int element_bytes, const Cell& cell) {
    const auto found = relays_.find({held_class, element_bytes});
    if (found == relays_.end()) return nullptr;
    OwnRelay* best = nullptr;
    for (OwnRelay& own : found->second) {
      if (best != nullptr && own.relay->devices.size() <= best->relay->devices.size()) continue;
      const bool all_need = std::all_of(own.relay->devices.begin(), own.relay->devices.end(),
                                        [&](int p) { return PieceOf(p, cell) != nullptr; });
      if (all_need) best = &own;
    }
    return best;
  }

  void KeepAndDrop() {
    kept_.clear();
    used_.clear();
    if (!kind_->converts()) {
      for (const Box& piece : *needed_) {
        const Box* old = KeptIn(*held_, piece);
        if (old == nullptr) continue;
        kept_.push_back(&piece);
        used_.push_back(old);
        Emit(piece, Keep{device_, tensor_, piece, *old});
      }
    }
    for (const Box& old : *held_) {
      if (std::find(used_.begin(), used_.end(), &old) != used_.end()) continue;
      Emit(old, Drop{device_, tensor_, old});
    }
  }

  void Copy(std::size_t c) {
    const Cell& cell = kind_->cells[c];
    const Box* piece = PieceWith(*needed_, cell.box);
    if (from_part_ && cell.holders.Contains(*from_part_)) {
      if (std::find(kept_.begin(), kept_.end(), piece) != kept_.end()) return;
      const Box& old = *PieceWith(*held_, cell.box);
      Emit(cell.box, LocalCopy{device_, tensor_, cell.box, *piece, old});
      return;
    }
    const int held_class = classes_.Of(staged_, c);
    if (outline_.classes[At(held_class)].is_lost) {
      reads_->push_back({device_, tensor_, cell.box, *piece});
      return;
    }
    const auto element_bytes = static_cast<int>(SizeBytes(kind_->from_dtype));
    OwnRelay* own = RelayOf(held_class, element_bytes, cell);
    if (own == nullptr) {
      Fetch(c, held_class, {0, kind_->elements[c]}, *piece, nullptr);
      return;
    }
    // The elements of the cell in this device's range.
    const std::int64_t first = own->seen / element_bytes;
    own->seen += kind_->elements[c] * element_bytes;
    const std::int64_t begin = own->relay->RangeBegin(own->member) / element_bytes - first;
    const std::int64_t end = own->relay->RangeBegin(own->member + 1) / element_bytes - first;
    const Interval range{std::max<std::int64_t>(begin, 0), std::min(end, kind_->elements[c])};
    if (range.begin < range.end) Fetch(c, held_class, range, *piece, own->relay);
  }

  /// Emits the copies of a range of elements of a cell, which the next bytes of the class's flows
  /// bring, and those that forward them to the other devices of `relay`.
  void Fetch(std::size_t c, int held_class, Interval range, const Box& piece, const Relay* relay) {
    const Cell& cell = kind_->cells[c];
    const auto element_bytes = static_cast<int>(SizeBytes(kind_->from_dtype));
    std::size_t f = FirstFlow(held_class, element_bytes);
    for (std::int64_t begin = range.begin; begin < range.end; ++f) {
      TESSERA_CHECK(f < rest_.size() && FlowAt(f).held_class == held_class);
      const std::int64_t elements = std::min(range.end - begin, rest_[f] / element_bytes);
      rest_[f] -= elements * element_bytes;
      const int source = FlowAt(f).source;
      const auto& pieces =
          kind_->pieces.held[At(kinds_.from.PartOf(kind_->from_axes, *from_ranks_[At(source)]))];
      const Box& old = *PieceWith(pieces, cell.box);
      const bool is_whole = elements == kind_->elements[c];
      const std::vector<Box> boxes =
          is_whole ? std::vector{cell.box} : FlatRange({cell.box}, {begin, begin + elements});
      for (const Box& box : boxes) {
        Emit(box, RemoteCopy{outline_.devices[At(source)], device_, tensor_, box, piece, old});
        if (relay != nullptr) Forward(cell, box, piece, *relay);
      }
      begin += elements;
    }
  }

  void Forward(const Cell& cell, const Box& box, const Box& piece, const Relay& relay) {
    for (const int position : relay.devices) {
      const DeviceId device = outline_.devices[At(position)];
      if (device == device_) continue;
      out_->push_back(
          {box, device,
           RemoteCopy{device_, device, tensor_, box, *PieceOf(position, cell), piece, true}});
    }
  }

  /// The first flow of a class that is not used up.
  std::size_t FirstFlow(int held_class, int element_bytes) const {
    const auto key = std::tuple(held_class, element_bytes);
    std::size_t f = 0;
    std::size_t count = rest_.size();
    while (count > 0) {
      const std::size_t half = count / 2;
      const ClassFlow& flow = FlowAt(f + half);
      const auto other = std::tuple(flow.held_class, flow.element_bytes);
      if (other < key || (other == key && rest_[f + half] == 0)) {
        f += half + 1;
        count -= half + 1;
      } else {
        count = half;
      }
    }
    return f;
  }

  const Outline& outline_;
  const Kinds& kinds_;
  const Classes& classes_;
  const std::vector<std::optional<int>>& from_ranks_;
  const std::size_t position_;
  const DeviceId device_;
  const std::optional<int> old_rank_;
  const Layout& to_;
  const std::optional<int> new_rank_;
  std::vector<std::int64_t> rest_;                               // of each flow to the device
  std::map<std::pair<int, int>, std::vector<OwnRelay>> relays_;  // by class and element size

  // State of the current tensor.
  std::size_t staged_ = 0;
  const Kind* kind_ = nullptr;
  int tensor_ = 0;
  std::vector<Entry>* out_ = nullptr;
  std::vector<StorageRead>* reads_ = nullptr;
  std::optional<std::size_t> from_part_;
  const std::vector<Box> none_;
  const std::vector<Box>* held_ = &none_;
  const std::vector<Box>* needed_ = &none_;
  std::vector<const Box*> kept_, used_;
};

/// Sorts the entries of one tensor and appends them to `moves`.
void Flush(std::vector<Entry>& entries, std::vector<Move>& moves) {
  std::vector<Entry*> order;
  order.reserve(entries.size());
  for (Entry& entry : entries) order.push_back(&entry);
  std::sort(order.begin(), order.end(), [](const Entry* a, const Entry* b) { return *a < *b; });
  for (Entry* entry : order) moves.push_back(std::move(entry->move));
  entries.clear();
}

std::vector<std::optional<int>> RanksOf(const DeviceMesh& mesh,
                                        const std::vector<DeviceId>& devices) {
  std::vector<std::optional<int>> ranks(devices.size());
  for (int rank = 0; rank < mesh.num_ranks(); ++rank) {
    const auto at = std::lower_bound(devices.begin(), devices.end(), mesh.devices()[At(rank)]);
    ranks[static_cast<std::size_t>(at - devices.begin())] = rank;
  }
  return ranks;
}

/// The device that a move writes to, or whose piece it drops.
DeviceId DeviceOf(const Move& move) {
  return std::visit([](const auto& m) { return m.device; }, move);
}

/// \pre `positions` are ascending, and contain all devices of a relay or none
DeviceMoves Expand(const Outline& outline, const Layout& from, const Layout& to,
                   const std::vector<std::size_t>& positions) {
  const Classes classes(*outline.kinds);
  std::vector<std::optional<int>> from_ranks = RanksOf(from.mesh(), outline.devices);
  for (DeviceId device : outline.lost) {
    const auto& devices = outline.devices;
    const auto at = std::lower_bound(devices.begin(), devices.end(), device);
    from_ranks[static_cast<std::size_t>(at - devices.begin())].reset();
  }
  std::vector<Expander> expanders;
  expanders.reserve(positions.size());
  for (std::size_t position : positions) {
    expanders.emplace_back(outline, classes, to, from_ranks, position);
  }
  DeviceMoves expanded;
  std::vector<Entry> entries;
  for (std::size_t t = 0; t < from.collection().tensors().size(); ++t) {
    if (outline.kinds->staged_of_tensor[t] == kNotHere) continue;
    const auto first_read = std::ssize(expanded.reads);
    for (Expander& expander : expanders) {
      expander.Append(static_cast<int>(t), entries, expanded.reads);
    }
    Flush(entries, expanded.moves);
    std::sort(expanded.reads.begin() + first_read, expanded.reads.end(),
              [](const StorageRead& a, const StorageRead& b) {
                return std::tie(a.cell, a.device) < std::tie(b.cell, b.device);
              });
  }
  return expanded;
}

}  // namespace

DeviceMoves MovesOf(const Outline& outline, const Layout& from, const Layout& to,
                    std::span<const DeviceId> devices) {
  const auto position_of = [&](DeviceId device) -> std::optional<std::size_t> {
    const auto at = std::lower_bound(outline.devices.begin(), outline.devices.end(), device);
    if (at == outline.devices.end() || *at != device) return std::nullopt;
    return static_cast<std::size_t>(at - outline.devices.begin());
  };
  // What a device receives by relays follows from the moves of the devices that forward it.
  std::set<std::size_t> positions;
  for (const DeviceId device : devices) {
    const auto own = position_of(device);
    if (!own) continue;
    positions.insert(*own);
    for (const Relay& relay : Expander::RelaysOfNode(outline, device.node)) {
      const auto& members = relay.devices;
      if (!std::binary_search(members.begin(), members.end(), static_cast<int>(*own))) continue;
      for (const int member : members) positions.insert(At(member));
    }
  }
  DeviceMoves moves = Expand(outline, from, to, {positions.begin(), positions.end()});
  const auto is_other = [&](DeviceId device) {
    return !std::binary_search(devices.begin(), devices.end(), device);
  };
  if (positions.size() > devices.size()) {
    std::erase_if(moves.moves, [&](const Move& move) { return is_other(DeviceOf(move)); });
    std::erase_if(moves.reads, [&](const StorageRead& read) { return is_other(read.device); });
  }
  return moves;
}

Result<Plan> MakePlan(const Layout& from, const Layout& to, const Topology& topology,
                      const PlanOptions& options) {
  TESSERA_TRY(const Outline outline, MakeOutline(from, to, topology, options));
  std::vector<std::size_t> all(outline.devices.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  Plan plan;
  plan.from_hash = outline.from_hash;
  plan.to_hash = outline.to_hash;
  DeviceMoves expanded = Expand(outline, from, to, all);
  plan.moves = std::move(expanded.moves);
  plan.reads = std::move(expanded.reads);
  plan.bytes = outline.bytes;
  plan.busiest_port_bytes = outline.busiest_port.bytes;
  plan.busiest_port = outline.busiest_port.name;
  plan.port_prices = outline.port_prices;
  for (std::size_t d = 0; d < outline.peak_memory.size(); ++d) {
    plan.peak_memory[outline.devices[d]] = outline.peak_memory[d];
  }
  plan.single_source_pieces = outline.single_source_pieces;
  plan.transfer_seconds = outline.transfer_seconds;
  plan.hash = outline.hash;
  return plan;
}

}  // namespace tessera::ptc
