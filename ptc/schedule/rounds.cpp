// SPDX-License-Identifier: Apache-2.0
#include "ptc/schedule/rounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <variant>

#include "ptc/base/check.h"

namespace tessera::ptc {
namespace {

/// A piece in a device's memory.
using PieceKey = std::tuple<std::size_t, int, Box>;  // device, tensor, piece

/// A new piece with everything that is written into it.
struct Task {
  std::size_t device = 0;
  int tensor = 0;
  std::int64_t bytes = 0;
  std::int64_t network_bytes = 0;
  std::vector<std::size_t> hops;
  std::vector<std::size_t> copies;
  std::size_t round = 0;
};
/// An old piece of which nothing is kept in place.
struct OldPiece {
  std::size_t drop = 0;  // move
  std::size_t device = 0;
  int tensor = 0;
  std::int64_t bytes = 0;
  std::size_t readers = 0;
};

class RoundMaker {
 public:
  RoundMaker(const Plan& plan, const std::vector<Hop>& hops, const Collection& from,
             const Collection& to, const Sites& sites, const RoundsOptions& options)
      : plan_(plan),
        hops_(hops),
        from_(from),
        to_(to),
        sites_(sites),
        options_(options),
        used_(sites.num_devices()) {}

  Result<Rounds> Run() && {
    ReadMoves();
    ReadHops();
    std::vector<std::int64_t> without_freeing = used_;
    for (const Task& task : tasks_) without_freeing[task.device] += task.bytes;
    limit_ = options_.memory_budget > 0 ? options_.memory_budget
                                        : std::numeric_limits<std::int64_t>::max();
    frees_ = *std::max_element(without_freeing.begin(), without_freeing.end()) > limit_;
    rounds_.peak_memory = used_;
    if (frees_) {
      for (const auto& [key, old] : old_) {
        if (old.readers == 0) Free(old, rounds_.first_frees);
      }
      OrderTensors();
    }
    std::vector<std::size_t> waiting;
    for (std::size_t t = 0; t < tasks_.size(); ++t) waiting.push_back(t);
    std::stable_sort(waiting.begin(), waiting.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(PositionOf(tasks_[a].tensor), tasks_[a].device) <
             std::pair(PositionOf(tasks_[b].tensor), tasks_[b].device);
    });
    while (!waiting.empty()) TESSERA_RETURN_IF_ERROR(NextRound(waiting));
    PlaceHops();
    return std::move(rounds_);
  }

 private:
  static std::int64_t BytesOf(const Collection& collection, int tensor, const Box& box) {
    return box.num_elements() *
           SizeBytes(collection.tensors()[static_cast<std::size_t>(tensor)].dtype);
  }
  std::size_t PositionOf(int tensor) const {
    return positions_.empty() ? static_cast<std::size_t>(tensor)
                              : positions_[static_cast<std::size_t>(tensor)];
  }

  Task& TaskOf(std::size_t device, int tensor, const Box& piece) {
    const auto [it, is_new] = task_of_.try_emplace({device, tensor, piece}, tasks_.size());
    if (is_new) tasks_.push_back({device, tensor, BytesOf(to_, tensor, piece), 0, {}, {}, 0});
    return tasks_[it->second];
  }

  void ReadMoves() {
    std::set<PieceKey> kept;
    for (std::size_t m = 0; m < plan_.moves.size(); ++m) {
      const Move& move = plan_.moves[m];
      if (const auto* drop = std::get_if<Drop>(&move)) {
        const std::size_t device = sites_.Position(drop->device);
        const std::int64_t bytes = BytesOf(from_, drop->tensor, drop->piece);
        old_[{device, drop->tensor, drop->piece}] = {m, device, drop->tensor, bytes, 0};
        used_[device] += bytes;
      } else if (const auto* keep = std::get_if<Keep>(&move)) {
        const std::size_t device = sites_.Position(keep->device);
        if (kept.insert({device, keep->tensor, keep->from}).second) {
          used_[device] += BytesOf(from_, keep->tensor, keep->from);
        }
      }
    }
    for (std::size_t m = 0; m < plan_.moves.size(); ++m) {
      const auto* copy = std::get_if<LocalCopy>(&plan_.moves[m]);
      if (copy == nullptr) continue;
      const std::size_t device = sites_.Position(copy->device);
      TaskOf(device, copy->tensor, copy->piece).copies.push_back(m);
      Reads(device, copy->tensor, copy->from, 1);
    }
  }

  void ReadHops() {
    for (std::size_t h = 0; h < hops_.size(); ++h) {
      const Hop& hop = hops_[h];
      Task& task = TaskOf(hop.device, hop.tensor, hop.piece);
      task.hops.push_back(h);
      if (hop.after) continue;
      if (sites_.HostOf(hop.source) != sites_.HostOf(hop.device)) {
        task.network_bytes += hop.bytes();
      }
      Reads(hop.source, hop.tensor, hop.from, 1);
    }
  }

  /// Adds `readers`, which may be negative, to the readers of an old piece. Pieces that are kept
  /// are never freed.
  OldPiece* Reads(std::size_t device, int tensor, const Box& from, int readers) {
    const auto it = old_.find({device, tensor, from});
    if (it == old_.end()) return nullptr;
    it->second.readers += static_cast<std::size_t>(readers);
    return &it->second;
  }

  void Free(const OldPiece& old, std::vector<std::size_t>& frees) {
    used_[old.device] -= old.bytes;
    frees.push_back(old.drop);
  }

  /// The effect of a tensor on the memory of its devices: new pieces are added, then old ones
  /// removed.
  struct Footprint {
    std::size_t device = 0;
    std::int64_t adds = 0;
    std::int64_t frees = 0;
    friend auto operator<=>(const Footprint&, const Footprint&) = default;
  };

  /// Chooses the order of tensors. Tensors of equal footprints are one choice.
  void OrderTensors() {
    std::map<int, std::map<std::size_t, Footprint>> by_tensor;
    const auto at = [&](int tensor, std::size_t device) -> Footprint& {
      Footprint& footprint = by_tensor[tensor][device];
      footprint.device = device;
      return footprint;
    };
    for (const Task& task : tasks_) at(task.tensor, task.device).adds += task.bytes;
    for (const auto& [key, old] : old_) {
      if (old.readers > 0) at(old.tensor, old.device).frees += old.bytes;
    }
    std::map<std::vector<Footprint>, std::vector<int>> choices;  // tensors, ascending
    for (const auto& [tensor, footprints] : by_tensor) {
      std::vector<Footprint> key;
      for (const auto& [device, footprint] : footprints) key.push_back(footprint);
      choices[key].push_back(tensor);
    }
    std::vector<std::int64_t> used = used_;
    positions_.assign(from_.tensors().size(), 0);
    std::vector<std::size_t> taken(choices.size());
    for (std::size_t place = 1; place <= by_tensor.size(); ++place) {
      auto best = choices.end();
      std::pair<std::int64_t, int> best_cost;
      std::size_t best_index = 0;
      std::size_t index = 0;
      for (auto it = choices.begin(); it != choices.end(); ++it, ++index) {
        if (taken[index] == it->second.size()) continue;
        std::int64_t fullest = 0;
        for (const Footprint& f : it->first) {
          if (f.adds > 0) fullest = std::max(fullest, used[f.device] + f.adds);
        }
        const std::pair cost(fullest, it->second[taken[index]]);
        if (best != choices.end() && best_cost <= cost) continue;
        best = it;
        best_cost = cost;
        best_index = index;
      }
      for (const Footprint& f : best->first) used[f.device] += f.adds - f.frees;
      positions_[static_cast<std::size_t>(best->second[taken[best_index]++])] = place;
    }
  }

  /// Admits all pieces for which there is memory, up to the share of a round in the bytes that
  /// enter each host.
  Status NextRound(std::vector<std::size_t>& waiting) {
    const std::vector<std::int64_t>& share = Shares();
    std::vector<std::int64_t> entered(sites_.num_hosts());
    std::vector<std::int64_t> reserved(sites_.num_devices());  // for earlier pieces
    std::vector<std::size_t> still;
    std::vector<OldPiece*> read;
    const std::size_t round = rounds_.frees.size();
    for (std::size_t t : waiting) {
      Task& task = tasks_[t];
      std::int64_t& host = entered[sites_.HostOf(task.device)];
      const bool has_share =
          host == 0 || host + task.network_bytes <= share[sites_.HostOf(task.device)];
      const std::int64_t left = limit_ - used_[task.device] - reserved[task.device];
      if (!has_share || task.bytes > left) {
        if (frees_) reserved[task.device] += task.bytes;
        still.push_back(t);
        continue;
      }
      task.round = round;
      host += task.network_bytes;
      used_[task.device] += task.bytes;
      for (std::size_t h : task.hops) {
        if (!hops_[h].after) read.push_back(ReadNow(hops_[h]));
      }
      for (std::size_t m : task.copies) {
        const auto& copy = std::get<LocalCopy>(plan_.moves[m]);
        read.push_back(Reads(task.device, copy.tensor, copy.from, 0));
      }
    }
    if (still.size() == waiting.size()) return Exhausted(tasks_[waiting.front()]);
    for (std::size_t d = 0; d < used_.size(); ++d) {
      rounds_.peak_memory[d] = std::max(rounds_.peak_memory[d], used_[d]);
    }
    std::vector<std::size_t>& frees = rounds_.frees.emplace_back();
    for (OldPiece* old : read) {
      if (old != nullptr && --old->readers == 0 && frees_) Free(*old, frees);
    }
    std::sort(frees.begin(), frees.end());
    waiting = std::move(still);
    return OkStatus();
  }
  OldPiece* ReadNow(const Hop& hop) { return Reads(hop.source, hop.tensor, hop.from, 0); }

  const std::vector<std::int64_t>& Shares() {
    if (!shares_.empty()) return shares_;
    shares_.resize(sites_.num_hosts());
    for (const Task& task : tasks_) shares_[sites_.HostOf(task.device)] += task.network_bytes;
    for (std::int64_t& share : shares_) {
      share = (share + options_.min_rounds - 1) / options_.min_rounds;
    }
    return shares_;
  }

  Error Exhausted(const Task& task) const {
    return {
        ErrorCode::kResourceExhausted,
        fmt::format("device {} needs {} bytes to continue with tensor '{}', the memory budget is "
                    "{}",
                    ToString(sites_.Device(task.device)), used_[task.device] + task.bytes,
                    from_.tensors()[static_cast<std::size_t>(task.tensor)].name,
                    options_.memory_budget),
        {}};
  }

  /// A hop is placed after its piece is allocated; a relaying hop also after its cell has arrived.
  void PlaceHops() {
    std::vector<std::size_t> round_of(hops_.size());
    for (const Task& task : tasks_) {
      for (std::size_t h : task.hops) round_of[h] = task.round;
    }
    std::size_t num_rounds = rounds_.frees.size();
    for (std::size_t h = 0; h < hops_.size(); ++h) {  // a relaying hop follows its arrival
      if (const auto& after = hops_[h].after) {
        round_of[h] = std::max(round_of[h], round_of[*after] + 1);
        num_rounds = std::max(num_rounds, round_of[h] + 1);
      }
    }
    rounds_.frees.resize(num_rounds);
    rounds_.hops.resize(num_rounds);
    rounds_.copies.resize(num_rounds);
    for (std::size_t h = 0; h < hops_.size(); ++h) rounds_.hops[round_of[h]].push_back(h);
    for (const Task& task : tasks_) {
      std::vector<std::size_t>& copies = rounds_.copies[task.round];
      copies.insert(copies.end(), task.copies.begin(), task.copies.end());
    }
    for (auto& copies : rounds_.copies) std::sort(copies.begin(), copies.end());
  }

  const Plan& plan_;
  const std::vector<Hop>& hops_;
  const Collection& from_;
  const Collection& to_;
  const Sites& sites_;
  const RoundsOptions& options_;
  std::int64_t limit_ = 0;
  bool frees_ = false;              // whether the budget is too small without freeing
  std::vector<std::int64_t> used_;  // by device
  std::vector<Task> tasks_;
  std::map<PieceKey, std::size_t> task_of_;
  std::map<PieceKey, OldPiece> old_;
  std::vector<std::size_t> positions_;  // by tensor; empty: the order of indices
  std::vector<std::int64_t> shares_;
  Rounds rounds_;
};

}  // namespace

Result<Rounds> MakeRounds(const Plan& plan, const std::vector<Hop>& hops, const Collection& from,
                          const Collection& to, const Sites& sites, const RoundsOptions& options) {
  return RoundMaker(plan, hops, from, to, sites, options).Run();
}

}  // namespace tessera::ptc
