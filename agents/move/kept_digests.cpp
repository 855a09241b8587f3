// SPDX-License-Identifier: Apache-2.0
#include "agents/move/kept_digests.h"

#include <fmt/format.h>

#include <atomic>
#include <map>
#include <tuple>
#include <utility>

#include "agents/move/parallel.h"
#include "agents/views/background.h"

namespace tessera::agents {
namespace {

/// The hold of no update after `step`.
std::uint64_t HoldAfter(std::int64_t step) { return static_cast<std::uint64_t>(step) + 1; }

template <typename Visit>
void ForEachNewDevice(const MoveContext& change, const Visit& visit) {
  for (const auto& [device, local] : change.local) {
    if (change.to.mesh().RankOf(device)) visit(device, local);
  }
}

// A view may have set a hold of its own meanwhile, which is left.
void ReleaseDevice(const engine::Arena& arena, const KeptState& state) {
  if (state.is_ahead) return;  // nothing is held
  std::uint64_t held = HoldAfter(state.step);
  arena.header().hold.compare_exchange_strong(held, 0);
}

/// A device whose cells are being read.
struct DeviceRead {
  ptc::DeviceId device;
  const MoveContext::Local* local = nullptr;
  std::atomic<std::size_t> left = 0;  // ranges
};

// What was read is the state after the step only if nobody has cleared the hold meanwhile, as the
// start of a rank does, and the device did not change.
Status EndRead(const DeviceRead& read, const KeptState& state) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const std::int64_t step = state.step;
  const engine::ArenaHeader& header = read.local->arena->header();
  const auto version = static_cast<std::uint64_t>(step);
  // A device that joins has no state of its own yet: all of it has arrived.
  const bool joins = read.local->old_table.entries().empty();
  const bool is_unchanged =
      state.is_ahead
          ? joins || (header.begin.load() == version && header.end.load() == version)
          : header.hold.load() == HoldAfter(step) && header.end.load() == version &&
                header.epoch.load() == static_cast<std::uint64_t>(read.local->next_table.epoch());
  ReleaseDevice(*read.local->arena, state);
  if (is_unchanged) return OkStatus();
  return DataLoss(fmt::format("{} continued from step {} while its digests were taken",
                              ToString(read.device), step));
}

/// Reads cells of this node's devices into numbered slots.
class CellReads {
 public:
  explicit CellReads(const KeptState& state) : state_(state), change_(*state.change) {}

  /// Cells of the new layout. Those that have arrived have the digest of their arrival.
  std::vector<std::size_t> AddNew(ptc::DeviceId device, const MoveContext::Local& local,
                                  const ptc::DeviceCells& cells) {
    DeviceRead& read = ReadOf(device, local);
    std::vector<std::size_t> slots;
    for (const auto& [tensor, box, group] : cells.Of(device)) {
      const auto arrived = state_.arrived->find({device, tensor, *box});
      if (arrived != state_.arrived->end()) {
        slots.push_back(Slot(arrived->second));
        continue;
      }
      slots.push_back(Read(read, NextPieces(change_, device), tensor, *box));
      if (state_.is_ahead) stayed_.emplace(std::tuple(device, tensor, *box), slots.back());
    }
    if (read.left == 0) ReleaseDevice(*local.arena, state_);
    return slots;
  }

  /// Cells of the old layout that other devices hold too. Those that stay are read once.
  std::vector<std::size_t> AddReplicas(ptc::DeviceId device, const MoveContext::Local& local,
                                       const ptc::DeviceCells& cells) {
    DeviceRead& read = ReadOf(device, local);
    const std::size_t unread = Slot(0);
    std::vector<std::size_t> slots;
    for (const auto& [tensor, box, group] : cells.Of(device)) {
      if (cells.NumOwners(group) < 2) {
        slots.push_back(unread);
        continue;
      }
      const auto stayed = stayed_.find({device, tensor, *box});
      slots.push_back(stayed != stayed_.end()
                          ? stayed->second
                          : Read(read, OldPieces(change_, device), tensor, *box));
    }
    return slots;
  }

  // Device after device, so that the first ranks continue early.
  Status Run(const std::stop_token& stop) {
    return ForEachInParallel(work_.size(), stop, [this](std::size_t at) -> Status {
      const Work& work = work_[at];
      TESSERA_TRY(const std::uint64_t digest,
                  DigestOfCell(change_, work.pieces, work.tensor, work.range));
      std::atomic_ref(slots_[work.slot]) += digest;
      return --work.read->left == 0 ? EndRead(*work.read, state_) : OkStatus();
    });
  }

  /// \pre Run has succeeded
  std::vector<std::uint64_t> DigestsOf(const std::vector<std::size_t>& slots) const {
    std::vector<std::uint64_t> out;
    for (const std::size_t slot : slots) out.push_back(slots_[slot]);
    return out;
  }

 private:
  struct Work {
    DeviceRead* read;
    DevicePieces pieces;
    int tensor;
    ptc::Box range;
    std::size_t slot;
  };
  DeviceRead& ReadOf(ptc::DeviceId device, const MoveContext::Local& local) {
    DeviceRead& read = reads_[device];
    read.device = device;
    read.local = &local;
    return read;
  }
  std::size_t Slot(std::uint64_t digest) {
    slots_.push_back(digest);
    return slots_.size() - 1;
  }
  std::size_t Read(DeviceRead& read, const DevicePieces& pieces, int tensor, const ptc::Box& box) {
    const std::size_t slot = Slot(0);
    for (ptc::Box& range : WorkOf(change_, tensor, box)) {
      work_.push_back({&read, pieces, tensor, std::move(range), slot});
      ++read.left;
    }
    return slot;
  }

  const KeptState& state_;
  const MoveContext& change_;
  std::map<ptc::DeviceId, DeviceRead> reads_;
  std::vector<Work> work_;
  std::vector<std::uint64_t> slots_;
  std::map<std::tuple<ptc::DeviceId, int, ptc::Box>, std::size_t> stayed_;  // if is_ahead
};

/// The slots of the cells of a device.
struct DeviceSlots {
  ptc::DeviceId device;
  std::vector<std::size_t> slots;
};

std::vector<DeviceDigests> DigestsOf(const CellReads& reads,
                                     const std::vector<DeviceSlots>& devices) {
  std::vector<DeviceDigests> out;
  for (const auto& [device, slots] : devices) out.push_back({device, reads.DigestsOf(slots)});
  return out;
}

}  // namespace

void HoldUpdates(const KeptState& state) {
  ForEachNewDevice(*state.change, [&](ptc::DeviceId, const MoveContext::Local& local) {
    local.arena->header().hold.store(HoldAfter(state.step));
  });
}

void ReleaseUpdates(const KeptState& state) {
  ForEachNewDevice(*state.change, [&](ptc::DeviceId, const MoveContext::Local& local) {
    ReleaseDevice(*local.arena, state);
  });
}

KeptResult DescribeKept(const ptc::DeviceCells& cells, std::vector<DeviceDigests> devices) {
  KeptResult out;
  out.digests.has_before = out.digests.has_after = true;
  out.digests.after = Summarize(cells, devices);
  // A kept cell is its own source, and each arrival was compared with its source.
  out.digests.before.sums = out.digests.after.sums;
  out.devices = std::move(devices);
  return out;
}

KeptDigests::KeptDigests(KeptState state, std::function<void(KeptResult)> done)
    : state_(std::move(state)) {
  thread_ = std::jthread([this, done = std::move(done)](const std::stop_token& stop) {
    Result<KeptResult> result = Run(stop);
    ReleaseUpdates(state_);
    if (result) return done(std::move(*result));
    KeptResult failed;
    failed.status = result.error();
    done(std::move(failed));
  });
}

KeptDigests::~KeptDigests() { thread_.request_stop(); }

Result<KeptResult> KeptDigests::Run(const std::stop_token& stop) const {
  // The threads that this one starts inherit it. Ahead of the commit there is one step to do it in.
  if (!state_.is_ahead) RunInBackground();
  const MoveContext& change = *state_.change;
  const ptc::DeviceCells cells(change.from, change.to, ptc::CellOwners::kNeeders);
  CellReads reads(state_);
  std::vector<DeviceSlots> after, before;
  ForEachNewDevice(change, [&](ptc::DeviceId device, const MoveContext::Local& local) {
    after.push_back({device, reads.AddNew(device, local, cells)});
  });
  if (!state_.is_ahead) {
    TESSERA_RETURN_IF_ERROR(reads.Run(stop));
    return DescribeKept(cells, DigestsOf(reads, after));
  }
  const ptc::DeviceCells held(change.from, change.to, ptc::CellOwners::kHolders, change.lost);
  for (const auto& [device, local] : change.local) {
    if (!change.from.mesh().RankOf(device)) continue;
    before.push_back({device, reads.AddReplicas(device, local, held)});
  }
  TESSERA_RETURN_IF_ERROR(reads.Run(stop));
  KeptResult out = DescribeKept(cells, DigestsOf(reads, after));
  out.before = DigestsOf(reads, before);
  out.digests.before.groups = Summarize(held, out.before).groups;
  return out;
}

}  // namespace tessera::agents
