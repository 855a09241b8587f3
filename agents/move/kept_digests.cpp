// SPDX-License-Identifier: Apache-2.0
#include "agents/move/kept_digests.h"

#include <fmt/format.h>

#include <atomic>
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

/// The cells of a device that are being read.
struct DeviceRead {
  ptc::DeviceId device;
  const MoveContext::Local* local = nullptr;
  std::vector<ptc::DeviceCells::Entry> cells;
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
  std::vector<DeviceDigests> devices;
  std::vector<std::unique_ptr<DeviceRead>> reads;
  ForEachNewDevice(change, [&](ptc::DeviceId device, const MoveContext::Local& local) {
    auto read = std::make_unique<DeviceRead>();
    read->device = device;
    read->local = &local;
    read->cells = cells.Of(device);
    devices.push_back({device, std::vector<std::uint64_t>(read->cells.size())});
    reads.push_back(std::move(read));
  });
  // Device after device, so that the first ranks continue early.
  struct Work {
    std::size_t device, cell;
    ptc::Box range;
  };
  std::vector<Work> work;  // of the cells that stayed
  for (std::size_t d = 0; d < reads.size(); ++d) {
    DeviceRead& read = *reads[d];
    for (std::size_t i = 0; i < read.cells.size(); ++i) {
      const auto& [tensor, box, group] = read.cells[i];
      const auto arrived = state_.arrived->find({read.device, tensor, *box});
      if (arrived != state_.arrived->end()) {
        devices[d].digests[i] = arrived->second;
      } else {
        for (ptc::Box& range : WorkOf(change, tensor, *box)) {
          work.push_back({d, i, std::move(range)});
          ++read.left;
        }
      }
    }
    if (read.left == 0) ReleaseDevice(*read.local->arena, state_);
  }
  TESSERA_RETURN_IF_ERROR(ForEachInParallel(work.size(), stop, [&](std::size_t at) -> Status {
    const auto& [d, i, range] = work[at];
    DeviceRead& read = *reads[d];
    TESSERA_TRY(const std::uint64_t digest,
                DigestOfCell(change, NextPieces(change, read.device), read.cells[i].tensor, range));
    std::atomic_ref(devices[d].digests[i]) += digest;
    return --read.left == 0 ? EndRead(read, state_) : OkStatus();
  }));
  return DescribeKept(cells, std::move(devices));
}

}  // namespace tessera::agents
