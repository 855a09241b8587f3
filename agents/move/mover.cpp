// SPDX-License-Identifier: Apache-2.0
#include "agents/move/mover.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <tuple>

#include "agents/move/parallel.h"
#include "ptc/base/run_both.h"
#include "ptc/digest.h"

namespace tessera::agents {

Mover::Mover(std::shared_ptr<const MoveContext> context, Wire wire,
             std::function<void(MoveResult)> done, MoveMode mode,
             std::function<void(Moment)> moment)
    : context_(std::move(context)),
      mode_(mode),
      moment_(std::move(moment)),
      wire_(std::move(wire)) {
  for (const ptc::Move& move : context_->plan->moves) {
    const auto* copy = std::get_if<ptc::RemoteCopy>(&move);
    if (!copy || !context_->local.contains(copy->device)) continue;
    MoveFlow* flow = FlowOf(copy->source, copy->device);
    if (!flow) {
      flows_.push_back(std::make_unique<MoveFlow>());
      flow = flows_.back().get();
      flow->source = copy->source;
      flow->destination = copy->device;
    }
    flow->total += copy->cell.num_elements() * ptc::SizeBytes(context_->TypeOf(copy->tensor));
  }
  thread_ = std::jthread(
      [this, done = std::move(done)](const std::stop_token& stop) { done(Run(stop)); });
}

Mover::~Mover() { thread_.request_stop(); }

void Mover::Cancel() { thread_.request_stop(); }

MoveFlow* Mover::FlowOf(ptc::DeviceId source, ptc::DeviceId destination) {
  for (const auto& flow : flows_) {
    if (flow->source == source && flow->destination == destination) return flow.get();
  }
  return nullptr;
}

void Mover::Reach(Moment moment) const {
  if (moment_) moment_(moment);
}

MoveResult Mover::Run(const std::stop_token& stop) {
  MoveResult result;
  const MoveContext& c = *context_;
  const bool reads_all = mode_ != MoveMode::kVerifyMoved;
  // A state that is read from a snapshot or a checkpoint has no old side.
  const bool is_stored = c.snapshot || c.open_checkpoint;
  if (reads_all && !is_stored) {
    const ptc::DeviceCells cells(c.from, c.to, ptc::CellOwners::kHolders, c.lost);
    std::optional<ptc::DroppedGroups> dropped;
    if (mode_ == MoveMode::kReplicas) dropped = DroppedReplicasOf(c, cells);
    result.status =
        DigestAll(stop, Side::kOld, cells, result.before, dropped ? &*dropped : nullptr);
    if (!result.status || mode_ == MoveMode::kDigests) return result;
    result.digests.has_before = true;
    result.digests.before = dropped ? SummarizeDropped(cells, *dropped, result.before)
                                    : Summarize(cells, result.before);
    if (dropped) return result;
  }
  result.status = c.hand_in           ? Refill(stop, result)
                  : c.open_checkpoint ? ReadCheckpoint(stop)
                  : c.snapshot        ? ReadSnapshot(stop)
                                      : Transfer(stop, result);
  if (!result.status) return result;
  Reach(Moment::kTransferred);
  if (reads_all || c.hand_in || is_stored) result.status = DigestNew(stop, result);
  result.arrived = std::make_shared<const CellArrivals>(std::move(arrived_));
  return result;
}

Status Mover::CopyAndReceive(const std::stop_token& stop) {
  std::stop_source both;
  const std::stop_callback cancel(stop, [&both] { both.request_stop(); });
  Status copied, received;
  const auto run = [&both](Status& status, const auto& work) {
    status = work(both.get_token());
    if (!status) both.request_stop();
  };
  RunBoth([&] { run(received, [this](const auto& token) { return Receive(token); }); },
          [&] { run(copied, [this](const auto& token) { return Copy(token); }); });
  if (copied) return received;
  // One of them may only have been cancelled because of the other.
  return copied.error().code == ErrorCode::kCancelled && !received ? received : copied;
}

Status Mover::Transfer(const std::stop_token& stop, MoveResult& result) {
  const Status moved = CopyAndReceive(stop);
  result.notes = std::move(notes_);
  TESSERA_RETURN_IF_ERROR(moved);
  Reach(Moment::kReceived);
  TESSERA_RETURN_IF_ERROR(Forward(stop));
  // All of them have been compared, or this would not be reached.
  result.checksums_equal = std::ranges::count_if(context_->plan->moves, [&](const ptc::Move& move) {
    const auto* copy = std::get_if<ptc::RemoteCopy>(&move);
    return copy != nullptr && context_->local.contains(copy->device);
  });
  return OkStatus();
}

Status Mover::DigestAll(const std::stop_token& stop, Side side, const ptc::DeviceCells& cells,
                        std::vector<DeviceDigests>& out, const ptc::DroppedGroups* only) {
  const MoveContext& c = *context_;
  std::vector<std::vector<ptc::DeviceCells::Entry>> entries;
  struct Work {
    std::size_t device, cell;
    ptc::Box range;
  };
  std::vector<Work> work;
  for (const auto& [device, local] : c.local) {
    const bool is_lost = std::find(c.lost.begin(), c.lost.end(), device) != c.lost.end();
    const ptc::Layout& layout = side == Side::kOld ? c.from : c.to;
    if (!layout.mesh().RankOf(device) || (side == Side::kOld && is_lost)) continue;
    entries.push_back(cells.Of(device));
    out.push_back({device, std::vector<std::uint64_t>(entries.back().size())});
    for (std::size_t i = 0; i < entries.back().size(); ++i) {
      const ptc::DeviceCells::Entry& cell = entries.back()[i];
      if (only && !std::ranges::binary_search(only->at(device), cell.group)) continue;
      for (ptc::Box& range : WorkOf(c, cell.tensor, *cell.box)) {
        work.push_back({out.size() - 1, i, std::move(range)});
      }
    }
  }
  const bool trusts_arrivals = side == Side::kNew && mode_ == MoveMode::kVerifyMoved;
  TESSERA_RETURN_IF_ERROR(ForEachInParallel(work.size(), stop, [&](std::size_t at) -> Status {
    const auto& [d, i, range] = work[at];
    const ptc::DeviceId device = out[d].device;
    const ptc::DeviceCells::Entry& cell = entries[d][i];
    std::atomic_ref digest(out[d].digests[i]);
    if (trusts_arrivals) {
      const auto arrived = arrived_.find({device, cell.tensor, *cell.box});
      if (arrived != arrived_.end()) {
        digest = arrived->second;
        return OkStatus();
      }
    }
    TESSERA_TRY(const std::uint64_t part,
                DigestOfCell(c, side == Side::kOld ? OldPieces(c, device) : NextPieces(c, device),
                             cell.tensor, range));
    digest += part;
    return OkStatus();
  }));
  if (side == Side::kNew || mode_ != MoveMode::kVerifyFull) return OkStatus();
  for (std::size_t d = 0; d < out.size(); ++d) {
    for (std::size_t i = 0; i < entries[d].size(); ++i) {
      old_digests_.emplace(std::tuple(out[d].device, entries[d][i].tensor, *entries[d][i].box),
                           out[d].digests[i]);
    }
  }
  return OkStatus();
}

Status Mover::DigestNew(const std::stop_token& stop, MoveResult& result) {
  const MoveContext& c = *context_;
  const ptc::DeviceCells cells(c.from, c.to, ptc::CellOwners::kNeeders);
  TESSERA_RETURN_IF_ERROR(DigestAll(stop, Side::kNew, cells, result.after));
  if (mode_ == MoveMode::kVerifyFull) TESSERA_RETURN_IF_ERROR(CompareOwn(cells, result));
  result.digests.has_after = true;
  result.digests.after = Summarize(cells, result.after);
  return OkStatus();
}

Status Mover::CompareOwn(const ptc::DeviceCells& cells, const MoveResult& result) const {
  const MoveContext& c = *context_;
  for (const DeviceDigests& device : result.after) {
    const std::vector<ptc::DeviceCells::Entry> entries = cells.Of(device.device);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const auto& [tensor, box, group] = entries[i];
      // The old state is not that of a hand-in or of a checkpoint.
      std::optional<std::uint64_t> expected;
      if (!c.hand_in && !c.open_checkpoint) expected = OldDigest(device.device, tensor, *box);
      const auto arrived = arrived_.find({device.device, tensor, *box});
      if (arrived != arrived_.end()) expected = arrived->second;
      if (!expected || *expected == device.digests[i]) continue;
      return DataLoss(fmt::format("tensor '{}' {} on {}: digest {} became {}",
                                  c.SpecOf(tensor).name, ToString(*box), ToString(device.device),
                                  ptc::Hex16(*expected), ptc::Hex16(device.digests[i])));
    }
  }
  return OkStatus();
}

std::optional<std::uint64_t> Mover::OldDigest(ptc::DeviceId device, int tensor,
                                              const ptc::Box& cell) const {
  const auto found = old_digests_.find({device, tensor, cell});
  return found == old_digests_.end() ? std::nullopt : std::optional(found->second);
}

void Mover::NoteArrival(ptc::DeviceId device, int tensor, const ptc::Box& cell,
                        std::uint64_t digest) {
  const std::lock_guard lock(mutex_);
  arrived_[{device, tensor, cell}] += digest;
}

}  // namespace tessera::agents
