// SPDX-License-Identifier: Apache-2.0
#include "agents/move/mover.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <tuple>

#include "agents/move/parallel.h"
#include "ptc/digest.h"

namespace tessera::agents {

Mover::Mover(std::shared_ptr<const MoveContext> context, Wire wire,
             std::function<void(MoveResult)> done)
    : context_(std::move(context)), wire_(std::move(wire)) {
  for (const ptc::Move& move : context_->plan.moves) {
    const auto* copy = std::get_if<ptc::RemoteCopy>(&move);
    if (!copy || !context_->local.contains(copy->device)) continue;
    MoveFlow* flow = FlowOf(copy->source, copy->device);
    if (!flow) {
      flows_.push_back(std::make_unique<MoveFlow>());
      flow = flows_.back().get();
      flow->source = copy->source;
      flow->destination = copy->device;
    }
    flow->total += copy->cell.num_elements() * ptc::SizeBytes(context_->SpecOf(copy->tensor).dtype);
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

MoveResult Mover::Run(const std::stop_token& stop) {
  MoveResult result;
  cells_ = FindCells(context_->from, context_->to, context_->lost);
  // Before any copy, so that replicas and arrived cells can be compared with the sources.
  result.status = DigestAll(stop, Side::kOld, result.before);
  const ptc::Plan& plan = context_->plan;
  if (!result.status || (plan.moves.empty() && plan.reads.empty())) return result;
  result.status = context_->hand_in    ? Refill(stop, result)
                  : context_->snapshot ? ReadSnapshot(stop)
                                       : Transfer(stop, result);
  if (result.status) result.status = DigestAll(stop, Side::kNew, result.after);
  return result;
}

Status Mover::Transfer(const std::stop_token& stop, MoveResult& result) {
  TESSERA_RETURN_IF_ERROR(Copy(stop));
  const Status received = Receive(stop);
  result.notes = std::move(notes_);
  TESSERA_RETURN_IF_ERROR(received);
  TESSERA_RETURN_IF_ERROR(Forward(stop));
  result.checksums_equal = num_accepted_;
  return OkStatus();
}

Status Mover::DigestAll(const std::stop_token& stop, Side side, std::vector<DeviceDigests>& out) {
  const MoveContext& c = *context_;
  const ptc::Layout& layout = side == Side::kOld ? c.from : c.to;
  for (const auto& [id, device] : c.local) {
    const bool lost = std::find(c.lost.begin(), c.lost.end(), id) != c.lost.end();
    if (layout.mesh().RankOf(id) && !(side == Side::kOld && lost)) out.push_back({id, {}});
  }
  return ForEachInParallel(out.size(), stop, [&](std::size_t i) -> Status {
    DeviceDigests& digests = out[i];
    for (const JobCell& cell : cells_) {
      const auto& holders = side == Side::kOld ? cell.holders : cell.needers;
      if (!std::binary_search(holders.begin(), holders.end(), digests.device)) continue;
      if (stop.stop_requested()) return Cancelled("the transfer was cancelled");
      TESSERA_TRY(const std::uint64_t digest,
                  side == Side::kOld
                      ? DigestOfCell(c, OldPieces(c, digests.device), cell.tensor, cell.box)
                      : NextDigest(digests.device, cell));
      digests.digests.push_back(digest);
      if (side == Side::kNew) continue;
      const std::lock_guard lock(mutex_);
      old_digests_.emplace(std::tuple(digests.device, cell.tensor, cell.box), digest);
    }
    return OkStatus();
  });
}

Result<std::uint64_t> Mover::NextDigest(ptc::DeviceId device, const JobCell& cell) const {
  const MoveContext& c = *context_;
  const auto arrived = arrived_.find({device, cell.tensor, cell.box});
  if (arrived != arrived_.end()) return arrived->second;
  const DevicePieces next = NextPieces(c, device);
  if (const auto digest = OldDigest(device, cell.tensor, cell.box)) {
    const auto* before = OldPieces(c, device).table->FindContaining(cell.tensor, cell.box);
    const auto* after = next.table->FindContaining(cell.tensor, cell.box);
    const bool stays =
        before && after && before->box == after->box && before->offset_bytes == after->offset_bytes;
    if (stays) return *digest;
  }
  return DigestOfCell(c, next, cell.tensor, cell.box);
}

std::optional<std::uint64_t> Mover::OldDigest(ptc::DeviceId device, int tensor,
                                              const ptc::Box& cell) const {
  const auto found = old_digests_.find({device, tensor, cell});
  return found == old_digests_.end() ? std::nullopt : std::optional(found->second);
}

Status Mover::Accept(const ptc::RemoteCopy& move, std::uint64_t digest, std::uint64_t expected) {
  if (digest != expected) {
    return DataLoss(fmt::format("tensor '{}' {}: digest on {} is {}, on its source {} {}",
                                context_->SpecOf(move.tensor).name, ToString(move.cell),
                                ToString(move.device), ptc::Hex16(digest), ToString(move.source),
                                ptc::Hex16(expected)));
  }
  const std::lock_guard lock(mutex_);
  arrived_.emplace(std::tuple(move.device, move.tensor, move.cell), expected);
  ++num_accepted_;
  return OkStatus();
}

}  // namespace tessera::agents
