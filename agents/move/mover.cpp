// SPDX-License-Identifier: Apache-2.0
#include "agents/move/mover.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <tuple>

#include "agents/move/parallel.h"
#include "ptc/digest.h"

namespace tessera::agents {
namespace {

using engine::CellView;

}  // namespace

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
  TESSERA_RETURN_IF_ERROR(Receive(stop));
  // Only cells that equal their source are forwarded.
  TESSERA_RETURN_IF_ERROR(Verify(stop));
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

// Reads each received cell back and compares it with its source.
Status Mover::Verify(const std::stop_token& stop) {
  const MoveContext& c = *context_;
  const std::vector<std::pair<std::int64_t, std::uint64_t>> cells(source_digests_.begin(),
                                                                  source_digests_.end());
  source_digests_.clear();
  return ForEachInParallel(cells.size(), stop, [&](std::size_t i) -> Status {
    const auto& [index, expected] = cells[i];
    const auto& move = std::get<ptc::RemoteCopy>(c.plan.moves[static_cast<std::size_t>(index)]);
    TESSERA_TRY(const std::uint64_t digest,
                DigestOfCell(c, NextPieces(c, move.device), move.tensor, move.cell));
    return Accept(move, digest, expected);
  });
}

Status Mover::Receive(const std::stop_token& stop) {
  const MoveContext& c = *context_;
  std::map<std::int32_t, FetchBatch> batches;  // by source node
  for (std::int64_t i = 0; i < std::ssize(c.plan.moves); ++i) {
    const auto* m = std::get_if<ptc::RemoteCopy>(&c.plan.moves[static_cast<std::size_t>(i)]);
    if (!m || !c.local.contains(m->device) ||
        c.topology.HostOf(m->source) == c.topology.HostOf(m->device)) {
      continue;
    }
    TESSERA_TRY(const CellView write,
                ViewOfCell(c, NextPieces(c, m->device), m->tensor, m->piece, m->cell));
    FetchBatch& batch = batches[m->source.node];
    batch.endpoints = c.nodes.at(m->source.node).lanes;
    batch.server_key = c.nodes.at(m->source.node).public_key;
    batch.cells.push_back(Fetch{i, {m->source.index, m->tensor, m->cell}, write, {}});
  }
  if (batches.empty()) return OkStatus();

  std::vector<FetchBatch> list;
  for (auto& [node, batch] : batches) list.push_back(std::move(batch));
  return FetchCells(stop, c.key, std::move(list), [&](std::int64_t move, std::int64_t bytes) {
    const auto& m = std::get<ptc::RemoteCopy>(c.plan.moves[static_cast<std::size_t>(move)]);
    FlowOf(m.source, m.device)->done += bytes;
  });
}

Status Mover::FetchCells(const std::stop_token& stop, const LaneKey& key,
                         std::vector<FetchBatch> batches, Progress progress) {
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Status> ended;
  LaneClientOptions options;
  options.keys = wire_.keys;
  options.ingress = wire_.ingress;
  LaneClient client(*wire_.net, std::move(options));
  FetchCallbacks callbacks;
  callbacks.progress = [&](std::size_t, std::int64_t move, std::int64_t bytes) {
    progress(move, bytes);
  };
  callbacks.cell_done = [&](std::int64_t move, std::uint64_t digest) {
    const std::lock_guard lock(mutex);
    source_digests_[move] = digest;
  };
  callbacks.done = [&](Status status) {
    const std::lock_guard lock(mutex);
    ended = std::move(status);
    changed.notify_all();
  };
  TESSERA_RETURN_IF_ERROR(client.Start(key, std::move(batches), std::move(callbacks)));
  const std::stop_callback cancel(stop, [&client] { client.Cancel(); });
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return ended.has_value(); });
  return *ended;
}

}  // namespace tessera::agents
