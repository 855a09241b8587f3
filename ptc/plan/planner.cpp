// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>

#include "ptc/cells.h"
#include "ptc/plan/plan.h"
#include "ptc/plan/sources.h"
#include "ptc/plan/tensor_class.h"

namespace tessera::ptc {
namespace {

/// The moves of one tensor, for all tensors of its class; the sources of remote copies are open.
struct ClassMoves {
  /// A remote copy whose source is to be chosen.
  struct Open {
    std::size_t move;    // position in `moves`
    std::size_t cell;    // position in `cells`
    std::size_t device;  // position in the device table
    std::int64_t size_bytes;
  };
  TensorPieces pieces;
  std::vector<Cell> cells;
  std::vector<Move> moves;  // ordered by (box, device), tensor 0
  std::vector<Open> open;
  // Sums over one tensor, by device.
  std::vector<std::int64_t> old_bytes, new_bytes, kept_bytes;
  std::int64_t local_bytes = 0;
  std::int64_t single_source_cells = 0;
};

/// The piece that contains `cell`, or null. \pre pieces are unions of cells
const Box* PieceWith(const std::vector<Box>& pieces, const Box& cell) {
  for (const Box& piece : pieces) {
    if (Contains(piece, cell)) return &piece;
  }
  return nullptr;
}

std::int64_t SumBytes(const std::vector<Box>& boxes, std::int64_t element_bytes) {
  std::int64_t bytes = 0;
  for (const Box& box : boxes) bytes += box.num_elements() * element_bytes;
  return bytes;
}

class ClassPlanner {
 public:
  ClassPlanner(const Layout& from, const Layout& to, const std::vector<DeviceId>& devices,
               int tensor)
      : devices_(devices),
        element_bytes_(
            SizeBytes(from.collection().tensors()[static_cast<std::size_t>(tensor)].dtype)) {
    result_.pieces = PiecesOf(from, to, devices, tensor);
    result_.cells = MakeCells(result_.pieces);
    result_.kept_bytes.resize(devices.size());
  }

  ClassMoves Run() && {
    for (std::size_t device = 0; device < devices_.size(); ++device) KeepAndDrop(device);
    for (std::size_t cell = 0; cell < result_.cells.size(); ++cell) Copy(cell);
    Sort();
    return std::move(result_);
  }

 private:
  /// A move with what it is ordered by. Kind comes last: a drop after the copies out of it.
  struct Entry {
    Box box;
    std::size_t device;
    Move move;
    std::optional<std::size_t> cell;  // of an open remote copy
  };

  bool IsKept(std::size_t device, const Box& piece) const {
    const auto& kept = kept_[device];
    return std::find(kept.begin(), kept.end(), piece) != kept.end();
  }

  void KeepAndDrop(std::size_t device) {
    const std::vector<Box>& held = result_.pieces.held[device];
    const std::vector<Box>& needed = result_.pieces.needed[device];
    kept_.emplace_back();
    std::vector<bool> used(held.size(), false);
    for (const Box& piece : needed) {
      for (std::size_t h = 0; h < held.size(); ++h) {
        if (!Contains(held[h], piece) || !ContiguousOffset(held[h], piece)) continue;
        used[h] = true;
        kept_.back().push_back(piece);
        entries_.push_back({piece, device, Keep{devices_[device], 0, piece, held[h]}, {}});
        break;
      }
    }
    for (std::size_t h = 0; h < held.size(); ++h) {
      if (used[h]) continue;
      entries_.push_back({held[h], device, Drop{devices_[device], 0, held[h]}, {}});
    }
    result_.old_bytes.push_back(SumBytes(held, element_bytes_));
    result_.new_bytes.push_back(SumBytes(needed, element_bytes_));
    result_.kept_bytes[device] = SumBytes(kept_.back(), element_bytes_);
  }

  void Copy(std::size_t index) {
    const Cell& cell = result_.cells[index];
    const std::int64_t bytes = cell.box.num_elements() * element_bytes_;
    bool is_moved = false;
    for (std::size_t device : cell.needers.ToVector()) {
      const Box& piece = *PieceWith(result_.pieces.needed[device], cell.box);
      if (cell.holders.Contains(device)) {
        if (IsKept(device, piece)) continue;
        const Box& old = *PieceWith(result_.pieces.held[device], cell.box);
        entries_.push_back(
            {cell.box, device, LocalCopy{devices_[device], 0, cell.box, piece, old}, {}});
        result_.local_bytes += bytes;
      } else {
        // The source and its piece are set once one is chosen.
        entries_.push_back(
            {cell.box, device,
             RemoteCopy{devices_[device], devices_[device], 0, cell.box, piece, piece}, index});
        is_moved = true;
      }
    }
    // Layouts tile every tensor, so what is needed is held somewhere.
    TESSERA_CHECK(cell.needers.empty() || !cell.holders.empty());
    if (is_moved && cell.holders.size() == 1) ++result_.single_source_cells;
  }

  void Sort() {
    std::vector<const Entry*> order;
    for (const Entry& entry : entries_) order.push_back(&entry);
    std::sort(order.begin(), order.end(), [](const Entry* a, const Entry* b) {
      if (a->box != b->box) return a->box < b->box;
      if (a->device != b->device) return a->device < b->device;
      return a->move.index() < b->move.index();
    });
    for (const Entry* entry : order) {
      if (entry->cell) {
        result_.open.push_back({result_.moves.size(), *entry->cell, entry->device,
                                entry->box.num_elements() * element_bytes_});
      }
      result_.moves.push_back(entry->move);
    }
  }

  const std::vector<DeviceId>& devices_;
  std::int64_t element_bytes_;
  ClassMoves result_;
  std::vector<Entry> entries_;
  std::vector<std::vector<Box>> kept_;  // by device
};

static_assert(std::endian::native == std::endian::little, "hashed words are little-endian");

/// Words in a fixed order, so that every machine hashes the same.
class Encoder {
 public:
  void U64(std::uint64_t value) { words_.push_back(value); }
  void I64(std::int64_t value) { U64(static_cast<std::uint64_t>(value)); }
  void Device(DeviceId device) {
    I64(device.node);
    I64(device.index);
  }
  void BoxOf(const Box& box) {
    I64(box.rank());
    for (int d = 0; d < box.rank(); ++d) {
      I64(box[d].begin);
      I64(box[d].end);
    }
  }
  std::uint64_t Hash() const {
    return XXH3_64bits(words_.data(), words_.size() * sizeof(words_[0]));
  }
  void Reserve(std::size_t words) { words_.reserve(words); }

 private:
  std::vector<std::uint64_t> words_;
};

struct EncodeMove {
  Encoder& out;
  void operator()(const Keep& move) const {
    Head(0, move.tensor, move.device);
    out.BoxOf(move.piece);
    out.BoxOf(move.from);
  }
  void operator()(const LocalCopy& move) const {
    Head(1, move.tensor, move.device);
    out.BoxOf(move.cell);
    out.BoxOf(move.piece);
    out.BoxOf(move.from);
  }
  void operator()(const RemoteCopy& move) const {
    Head(2, move.tensor, move.device);
    out.Device(move.source);
    out.BoxOf(move.cell);
    out.BoxOf(move.piece);
    out.BoxOf(move.from);
  }
  void operator()(const Drop& move) const {
    Head(3, move.tensor, move.device);
    out.BoxOf(move.piece);
  }
  void Head(std::uint64_t kind, int tensor, DeviceId device) const {
    out.U64(kind);
    out.I64(tensor);
    out.Device(device);
  }
};

std::uint64_t HashOf(const Plan& plan) {
  Encoder encoder;
  encoder.Reserve(2 + plan.moves.size() * 22);  // three boxes of two dims each
  encoder.U64(plan.from_hash);
  encoder.U64(plan.to_hash);
  for (const Move& move : plan.moves) std::visit(EncodeMove{encoder}, move);
  return encoder.Hash();
}

/// Fills in the sources of all open remote copies, and what depends on them.
void AssignSources(const std::vector<ClassMoves>& classes, const TensorClasses& grouping,
                   const std::vector<std::size_t>& first_move, const std::vector<DeviceId>& devices,
                   const Topology& topology, Plan& plan) {
  std::vector<Demand> demands;
  for (std::size_t t = 0; t < grouping.class_of.size(); ++t) {
    const ClassMoves& moves = classes[grouping.class_of[t]];
    for (const ClassMoves::Open& open : moves.open) {
      demands.push_back({&moves.cells[open.cell].holders, open.device, open.size_bytes});
    }
  }
  PortLoads loads(devices, topology);
  const std::vector<std::size_t> sources = ChooseSources(demands, loads);
  std::size_t next = 0;
  for (std::size_t t = 0; t < grouping.class_of.size(); ++t) {
    const ClassMoves& moves = classes[grouping.class_of[t]];
    for (const ClassMoves::Open& open : moves.open) {
      const std::size_t source = sources[next++];
      auto& copy = std::get<RemoteCopy>(plan.moves[first_move[t] + open.move]);
      copy.source = devices[source];
      copy.from = *PieceWith(moves.pieces.held[source], copy.cell);
      (loads.SameHost(source, open.device) ? plan.bytes.host : plan.bytes.network) +=
          open.size_bytes;
    }
  }
  plan.busiest_port_bytes = loads.Busiest();
  plan.transfer_seconds = loads.Seconds(topology);
}

}  // namespace

std::int32_t Topology::HostOf(DeviceId device) const {
  const auto it = host_of_node.find(device.node);
  return it == host_of_node.end() ? device.node : it->second;
}

Result<Plan> MakePlan(const Layout& from, const Layout& to, const Topology& topology) {
  TESSERA_RETURN_IF_ERROR(CheckSameTensors(from.collection(), to.collection()));
  const std::vector<DeviceId> devices = DevicesOf(from, to);
  const TensorClasses grouping = ClassifyTensors(from, to);
  std::vector<ClassMoves> classes;
  for (int tensor : grouping.first) {
    classes.push_back(ClassPlanner(from, to, devices, tensor).Run());
  }

  Plan plan;
  plan.from_hash = from.hash();
  plan.to_hash = to.hash();
  std::size_t total = 0;
  for (std::size_t k = 0; k < classes.size(); ++k) {
    const ClassMoves& moves = classes[k];
    const std::int64_t count = grouping.count[k];
    total += moves.moves.size() * static_cast<std::size_t>(count);
    plan.bytes.device += moves.local_bytes * count;
    plan.single_source_pieces += moves.single_source_cells * count;
    for (std::size_t d = 0; d < devices.size(); ++d) {
      plan.bytes.kept += moves.kept_bytes[d] * count;
      plan.peak_memory[devices[d]] +=
          (moves.old_bytes[d] + moves.new_bytes[d] - moves.kept_bytes[d]) * count;
    }
  }
  plan.moves.reserve(total);
  std::vector<std::size_t> first_move;
  for (std::size_t t = 0; t < grouping.class_of.size(); ++t) {
    first_move.push_back(plan.moves.size());
    for (const Move& move : classes[grouping.class_of[t]].moves) {
      plan.moves.push_back(move);
      std::visit([&](auto& m) { m.tensor = static_cast<int>(t); }, plan.moves.back());
    }
  }
  AssignSources(classes, grouping, first_move, devices, topology, plan);
  plan.volume_bound = VolumeBound(from, to);
  plan.hash = HashOf(plan);
  return plan;
}

}  // namespace tessera::ptc
