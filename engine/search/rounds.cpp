// SPDX-License-Identifier: Apache-2.0
#include "engine/search/rounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "engine/copy/checksum.h"
#include "engine/search/fit.h"
#include "engine/search/kind_pieces.h"
#include "engine/store/arena_format.h"
#include "ptc/base/at.h"

namespace tessera::engine {
namespace {

constexpr auto kPage = static_cast<std::int64_t>(kArenaDataOffset);

/// Rounds that move nothing to another layout and make room first, because earlier moves have left
/// the pieces scattered.
constexpr int kRoundsForRoom = 4;
constexpr std::int64_t kTightPercent = 90;  // of an arena

/// The pieces of one tensor on a device.
struct Share {
  std::int64_t old_state = 0, new_state = 0;  // new pieces that stay inside old ones included
  std::int64_t fresh = 0;                     // new pieces that do not, rounded up
  std::int64_t old_gradients = 0, new_gradients = 0;
  std::int64_t old_entries = 0, new_entries = 0, old_dims = 0, new_dims = 0;
};

/// A device between two rounds.
struct DeviceRun {
  ptc::DeviceId id;
  std::int64_t capacity = 0;
  std::vector<Share> shares;                         // by index of kinds.staged
  std::int64_t state = 0, table = 0, gradients = 0;  // as they are
  std::int64_t entries = 0, dims = 0;
  std::int64_t fresh = 0;  // of the round that is being filled
  std::int64_t extra = 0, peak = 0;

  std::int64_t NextTable() const { return PieceTable::BytesFor(entries, dims); }
  void Take(const Share& share, int sign) {
    fresh += sign * share.fresh;
    entries += sign * (share.new_entries - share.old_entries);
    dims += sign * (share.new_dims - share.old_dims);
  }
  /// What is beside the state in this round.
  std::int64_t Extra() const { return fresh + NextTable(); }
  std::int64_t Taken() const { return kPage + state + table + Extra(); }
  /// The first table is written while ranks compute gradients.
  std::int64_t Peak() const {
    return std::max(Taken(), kPage + state + table + gradients + NextTable());
  }
};

Share ShareOf(const ptc::Kinds& kinds, const ptc::KindOnStages& staged,
              std::optional<int> from_rank, std::optional<int> to_rank) {
  const auto [held, needed] = PiecesOn(kinds, staged, from_rank, to_rank);
  const std::int64_t element = ptc::SizeBytes(kinds.kinds[At(staged.kind)].from_dtype);
  Share out;
  for (const ptc::Box& box : held) {
    out.old_state += RoundUpToPiece(box.num_elements() * element);
    out.old_gradients += RoundUpToPiece(box.num_elements() * PieceEntry::kGradientElementBytes);
    ++out.old_entries;
    out.old_dims += box.rank();
  }
  for (const ptc::Box& box : needed) {
    const std::int64_t bytes = RoundUpToPiece(box.num_elements() * element);
    out.new_state += bytes;
    if (ptc::KeptIn(held, box) == nullptr) out.fresh += bytes;
    out.new_gradients += RoundUpToPiece(box.num_elements() * PieceEntry::kGradientElementBytes);
    ++out.new_entries;
    out.new_dims += box.rank();
  }
  return out;
}

/// Two sizes that differ, in a form in which they do.
std::pair<std::string, std::string> DistinctTexts(std::int64_t a, std::int64_t b) {
  const std::pair texts(BytesText(a), BytesText(b));
  if (texts.first != texts.second) return texts;
  return {fmt::format("{} bytes", a), fmt::format("{} bytes", b)};
}

class Rounds {
 public:
  Rounds(const RoundBasis& basis, std::int64_t limit)
      : basis_(basis), to_(*basis.to), limit_(limit) {
    std::vector<ptc::DeviceId> ids = to_.mesh().devices();
    staged_of_tensor_.resize(to_.collection().tensors().size());
    for (const RoundBasis::Part& part : basis.parts) {
      const std::vector<ptc::DeviceId>& devices = part.layout->mesh().devices();
      std::ranges::copy_if(devices, std::back_inserter(ids),
                           [&](ptc::DeviceId id) { return !IsLost(part, id); });
      const std::vector<int>& of_part = part.kinds->staged_of_tensor;
      for (std::size_t t = 0; t < of_part.size(); ++t) {
        if (of_part[t] == ptc::kNotHere) continue;
        staged_of_tensor_[t] = static_cast<int>(staged_.size()) + of_part[t];
      }
      for (const ptc::KindOnStages& staged : part.kinds->staged) staged_.push_back({&part, staged});
    }
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    for (const ptc::DeviceId id : ids) {
      const auto known = basis.capacities->find(id);
      devices_.push_back(MakeDevice(id, known == basis.capacities->end() ? 0 : known->second));
    }
  }

  Result<RoundPlan> Make() {
    for (int i = 0; i < kRoundsForRoom; ++i) {
      Close(false);
      plan_.rounds.back().packs = true;
    }
    for (const int tensor : Order()) {
      Take(tensor, 1);
      const DeviceRun* full = FindFull();
      if ((full || IsTight()) && !tensors_.empty()) {
        Take(tensor, -1);
        Close(false);
        if (IsTight()) Close(false);  // it only makes room
        Take(tensor, 1);
        full = FindFull();
      }
      if (full) return NoRoom(*full, tensor);
      tensors_.push_back(tensor);
    }
    if (!tensors_.empty()) Close(false);
    if (IsTight()) Close(false);
    return PlaceGradients();
  }

 private:
  bool IsLost(const RoundBasis::Part& part, ptc::DeviceId id) const {
    const bool is_of_part = part.lost != nullptr && std::ranges::binary_search(*part.lost, id);
    return is_of_part || std::ranges::find(basis_.lost, id) != basis_.lost.end();
  }

  DeviceRun MakeDevice(ptc::DeviceId id, std::int64_t capacity) const {
    DeviceRun device;
    device.id = id;
    device.capacity = capacity;
    const auto to_rank = to_.mesh().RankOf(id);
    std::int64_t entries = 0, dims = 0;  // with gradients
    for (const auto& [part, staged] : staged_) {
      const auto from_rank = IsLost(*part, id) ? std::nullopt : part->layout->mesh().RankOf(id);
      const Share& share =
          device.shares.emplace_back(ShareOf(*part->kinds, staged, from_rank, to_rank));
      const std::int64_t old_params = basis_.has_gradients ? staged.num_params : 0;
      device.state += share.old_state * staged.num_tensors;
      device.gradients += share.old_gradients * old_params;
      device.entries += share.old_entries * staged.num_tensors;
      device.dims += share.old_dims * staged.num_tensors;
      entries += share.old_entries * (staged.num_tensors + old_params);
      dims += share.old_dims * (staged.num_tensors + old_params);
    }
    device.table = PieceTable::BytesFor(entries, dims);
    return device;
  }

  std::vector<int> Order() const {
    std::vector<std::int64_t> largest(staged_.size());
    for (const DeviceRun& device : devices_) {
      for (std::size_t s = 0; s < largest.size(); ++s) {
        const Share& share = device.shares[s];
        largest[s] = std::max({largest[s], share.old_state, share.new_state});
      }
    }
    // Tensors of equal size take turns by their stages: else a device would get all that it needs
    // of one stage before it loses anything of another.
    std::vector<std::int64_t> seen(staged_.size());
    std::vector<double> turn;
    std::vector<int> order;
    for (const int staged : staged_of_tensor_) {
      const auto count = static_cast<double>(staged_[At(staged)].second.num_tensors);
      turn.push_back((static_cast<double>(seen[At(staged)]++) + 0.5) / count);
      order.push_back(static_cast<int>(order.size()));
    }
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      const auto key = [&](int tensor) {
        return std::pair(-largest[At(staged_of_tensor_[At(tensor)])], turn[At(tensor)]);
      };
      return key(a) < key(b);
    });
    return order;
  }

  const Share& ShareIn(const DeviceRun& device, int tensor) const {
    return device.shares[At(staged_of_tensor_[At(tensor)])];
  }
  void Take(int tensor, int sign) {
    for (DeviceRun& device : devices_) device.Take(ShareIn(device, tensor), sign);
  }
  const DeviceRun* FindFull() const {
    const auto found = std::find_if(devices_.begin(), devices_.end(), [&](const DeviceRun& device) {
      return device.Extra() > limit_ || device.Peak() > device.capacity;
    });
    return found == devices_.end() ? nullptr : &*found;
  }

  /// Whether gaps may be too small although their sum is not: then rounds that only make room stand
  /// between the others.
  bool IsTight() const {
    return std::any_of(devices_.begin(), devices_.end(), [](const DeviceRun& device) {
      return device.Taken() > device.capacity / 100 * kTightPercent;
    });
  }

  /// Ends the round: its new pieces are verified, and its old ones freed.
  void Close(bool is_last) {
    for (DeviceRun& device : devices_) {
      device.extra = std::max(device.extra, device.Extra());
      device.peak = std::max(device.peak, device.Peak());
      for (const int tensor : tensors_) {
        const Share& share = ShareIn(device, tensor);
        device.state += share.new_state - share.old_state;
      }
      device.table = device.NextTable();
      device.fresh = device.gradients = 0;  // ranks are paused: nobody needs the old gradients
    }
    const int number = static_cast<int>(plan_.rounds.size()) + 1;
    std::sort(tensors_.begin(), tensors_.end());
    plan_.rounds.push_back({std::exchange(tensors_, {}), is_last,
                            is_last ? to_.hash() : MixedHash(basis_.hash, to_.hash(), number)});
  }

  Result<RoundPlan> PlaceGradients() {
    for (DeviceRun& device : devices_) {
      std::int64_t gradients = 0;
      for (std::size_t s = 0; s < device.shares.size(); ++s) {
        const Share& share = device.shares[s];
        const std::int64_t params = staged_[s].second.num_params;
        gradients += share.new_gradients * params;
        device.entries += share.new_entries * params;
        device.dims += share.new_dims * params;
      }
      device.peak = std::max(device.peak, device.Taken() + gradients);
      if (device.Extra() > limit_) {
        const auto [needs, allows] = DistinctTexts(device.Extra(), limit_);
        return ResourceExhausted(
            fmt::format("the piece table of device {} needs {}, --move-memory allows {}",
                        ptc::ToString(device.id), needs, allows));
      }
      if (device.peak > device.capacity) {
        return ResourceExhausted(fmt::format(
            "device {} needs {} for the new layout and two piece tables, it has {}",
            ptc::ToString(device.id), BytesText(device.peak), BytesText(device.capacity)));
      }
    }
    Close(true);
    for (std::size_t r = 0; r + 1 < plan_.rounds.size(); ++r) {
      plan_.rounds[r].next_tensors = plan_.rounds[r + 1].tensors;
      plan_.rounds[r].next_is_last = plan_.rounds[r + 1].is_last;
    }
    for (const DeviceRun& device : devices_) {
      plan_.extra[device.id] = device.extra;
      plan_.peak[device.id] = device.peak;
    }
    return std::move(plan_);
  }

  Error NoRoom(const DeviceRun& device, int tensor) const {
    const std::string& name = to_.collection().tensors()[At(tensor)].name;
    const std::string id = ptc::ToString(device.id);
    if (device.Extra() > limit_) {
      const auto [needs, allows] = DistinctTexts(device.Extra(), limit_);
      return ResourceExhausted(
          fmt::format("tensor '{}' needs {} on device {} while it moves, --move-memory allows {}",
                      name, needs, id, allows));
    }
    return ResourceExhausted(fmt::format("device {} needs {} while tensor '{}' moves, it has {}",
                                         id, BytesText(device.Peak()), name,
                                         BytesText(device.capacity)));
  }

  const RoundBasis& basis_;
  const ptc::Layout& to_;
  const std::int64_t limit_;
  std::vector<std::pair<const RoundBasis::Part*, ptc::KindOnStages>> staged_;  // of all parts
  std::vector<int> staged_of_tensor_;                                          // index into staged_
  std::vector<DeviceRun> devices_;
  std::vector<int> tensors_;  // of the round that is being filled
  RoundPlan plan_;
};

}  // namespace

std::uint64_t MixedHash(std::uint64_t from_hash, std::uint64_t to_hash, int round) {
  const std::array<std::uint64_t, 3> words{from_hash, to_hash, static_cast<std::uint64_t>(round)};
  return Checksum(std::as_bytes(std::span(words)));
}

Result<RoundPlan> PlanRounds(const RoundBasis& basis, std::int64_t limit) {
  return Rounds(basis, limit).Make();
}

std::int64_t FindMoveMemory(const RoundBasis& basis) {
  constexpr std::int64_t kLeast = std::int64_t{64} << 10;
  std::int64_t most = kLeast;
  for (const auto& [device, capacity] : *basis.capacities) most = std::max(most, capacity);
  std::int64_t limit = kLeast;
  while (limit <= most / 2) limit *= 2;
  for (; limit >= kLeast; limit /= 2) {
    const auto plan = PlanRounds(basis, limit);
    if (!plan) continue;
    // The rounds of a larger limit may need less than it allows.
    std::int64_t extra = kLeast;
    for (const auto& [device, bytes] : plan->extra) extra = std::max(extra, bytes);
    while (limit / 2 >= extra) limit /= 2;
    // The more of the gaps a round fills, the likelier is a piece that no gap is large enough for.
    for (const std::int64_t less : {limit / 4, limit / 2}) {
      if (PlanRounds(basis, less)) return less;
    }
    return limit;
  }
  return 0;
}

}  // namespace tessera::engine
