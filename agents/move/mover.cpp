// SPDX-License-Identifier: Apache-2.0
#include "agents/move/mover.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <tuple>

#include "ptc/base/overloaded.h"
#include "ptc/digest.h"

namespace tessera::agents {
namespace {

using engine::CellView;
using engine::PieceTable;

// Maps an arena of another node of this host through the descriptor of its agent.
Result<engine::Arena> MapPeer(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Unavailable(fmt::format("cannot open '{}': {}", path, std::strerror(errno)));
  Result<engine::Arena> arena = engine::Arena::Map(fd, false);
  close(fd);
  return arena;
}

Error Stopped() { return Cancelled("the transfer was cancelled"); }

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
    has_forwards_ = has_forwards_ || copy->forwarded;
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
  TESSERA_RETURN_IF_ERROR(Verify(stop, result));
  TESSERA_RETURN_IF_ERROR(Forward(stop));
  return Verify(stop, result);
}

Status Mover::DigestAll(const std::stop_token& stop, Side side,
                        std::vector<DeviceDigests>& out) const {
  const MoveContext& c = *context_;
  const std::vector<JobCell> cells = FindCells(c.from, c.to, c.lost);
  for (const auto& [id, device] : c.local) {
    const ptc::Layout& layout = side == Side::kOld ? c.from : c.to;
    if (!layout.mesh().RankOf(id)) continue;
    if (side == Side::kOld && std::find(c.lost.begin(), c.lost.end(), id) != c.lost.end()) continue;
    const DevicePieces pieces = side == Side::kOld ? OldPieces(c, id) : NextPieces(c, id);
    DeviceDigests digests{id, {}};
    for (const JobCell& cell : cells) {
      const auto& holders = side == Side::kOld ? cell.holders : cell.needers;
      if (!std::binary_search(holders.begin(), holders.end(), id)) continue;
      if (stop.stop_requested()) return Stopped();
      TESSERA_TRY(const std::uint64_t digest, DigestOfCell(c, pieces, cell.tensor, cell.box));
      digests.digests.push_back(digest);
    }
    out.push_back(std::move(digests));
  }
  return OkStatus();
}

// Reads each arrived cell back and compares it with its source.
Status Mover::Verify(const std::stop_token& stop, MoveResult& result) {
  const MoveContext& c = *context_;
  for (const auto& [index, expected] : source_digests_) {
    if (stop.stop_requested()) return Stopped();
    const auto& move = std::get<ptc::RemoteCopy>(c.plan.moves[static_cast<std::size_t>(index)]);
    const auto digest = DigestOfCell(c, NextPieces(c, move.device), move.tensor, move.cell);
    if (!digest || *digest != expected) {
      return DataLoss(fmt::format("tensor '{}' {}: digest on {} is {}, on its source {} {}",
                                  c.SpecOf(move.tensor).name, ToString(move.cell),
                                  ToString(move.device), digest ? ptc::Hex16(*digest) : "unknown",
                                  ToString(move.source), ptc::Hex16(expected)));
    }
    if (has_forwards_) arrived_.emplace(std::tuple(move.device, move.tensor, move.cell), expected);
    ++result.checksums_equal;
  }
  source_digests_.clear();
  return OkStatus();
}

// Copies cells that stay on their device or come from memory of this host.
Status Mover::Copy(const std::stop_token& stop) {
  const MoveContext& c = *context_;
  std::map<ptc::DeviceId, std::pair<engine::Arena, PieceTable>>
      peers;  // devices of other nodes of this host
  const auto source_of = [&](ptc::DeviceId id) -> Result<DevicePieces> {
    if (c.local.contains(id)) return OldPieces(c, id);
    auto peer = peers.find(id);
    if (peer == peers.end()) {
      const auto& paths = c.nodes.at(id.node).arena_paths;
      if (id.index >= std::ssize(paths)) {
        return NotFound(fmt::format("no arena path is known for {}", ToString(id)));
      }
      TESSERA_TRY(engine::Arena arena,
                  MapPeer(paths[static_cast<std::size_t>(id.index)]).Context(ToString(id)));
      TESSERA_TRY(PieceTable table, PieceTable::ReadCurrent(arena).Context(ToString(id)));
      peer = peers.emplace(id, std::pair{std::move(arena), std::move(table)}).first;
    }
    return DevicePieces{id, &peer->second.first, &peer->second.second};
  };
  const auto copy = [&](std::int64_t index, ptc::DeviceId source, ptc::DeviceId device, int tensor,
                        const ptc::Box& from, const ptc::Box& piece,
                        const ptc::Box& cell) -> Status {
    if (stop.stop_requested()) return Stopped();
    TESSERA_TRY(const DevicePieces origin, source_of(source));
    TESSERA_TRY(const CellView read, ViewOfCell(c, origin, tensor, from, cell));
    TESSERA_TRY(const CellView write, ViewOfCell(c, NextPieces(c, device), tensor, piece, cell));
    engine::CopyCell(write, read);
    if (source == device) return OkStatus();
    TESSERA_TRY(source_digests_[index], DigestOfCell(c, origin, tensor, cell));
    FlowOf(source, device)->done += read.size_bytes();
    return OkStatus();
  };
  for (std::int64_t i = 0; i < std::ssize(c.plan.moves); ++i) {
    TESSERA_RETURN_IF_ERROR(
        std::visit(Overloaded{
                       [&](const ptc::LocalCopy& m) {
                         if (!c.local.contains(m.device)) return OkStatus();
                         return copy(i, m.device, m.device, m.tensor, m.from, m.piece, m.cell);
                       },
                       [&](const ptc::RemoteCopy& m) {
                         if (!c.local.contains(m.device) || m.forwarded ||
                             c.topology.HostOf(m.source) != c.topology.HostOf(m.device)) {
                           return OkStatus();
                         }
                         return copy(i, m.source, m.device, m.tensor, m.from, m.piece, m.cell);
                       },
                       [](const ptc::Keep&) { return OkStatus(); },
                       [](const ptc::Drop&) { return OkStatus(); },
                   },
                   c.plan.moves[static_cast<std::size_t>(i)]));
  }
  return OkStatus();
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
    batch.cells.push_back(Fetch{i, write, {}});
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

// Copies relayed cells from new piece to new piece, between devices of this node.
Status Mover::Forward(const std::stop_token& stop) {
  const MoveContext& c = *context_;
  for (std::int64_t i = 0; i < std::ssize(c.plan.moves); ++i) {
    const auto* m = std::get_if<ptc::RemoteCopy>(&c.plan.moves[static_cast<std::size_t>(i)]);
    if (!m || !m->forwarded || !c.local.contains(m->device)) continue;
    if (stop.stop_requested()) return Stopped();
    // The expected digest is that of the first source, not of the forwarding device.
    const auto arrived = arrived_.find({m->source, m->tensor, m->cell});
    if (arrived == arrived_.end()) {
      return Internal(
          fmt::format("move {} forwards a cell that {} has not received", i, ToString(m->source)));
    }
    const DevicePieces origin = NextPieces(c, m->source);
    TESSERA_TRY(const CellView read, ViewOfCell(c, origin, m->tensor, m->from, m->cell));
    TESSERA_TRY(const CellView write,
                ViewOfCell(c, NextPieces(c, m->device), m->tensor, m->piece, m->cell));
    engine::CopyCell(write, read);
    source_digests_[i] = arrived->second;
    FlowOf(m->source, m->device)->done += read.size_bytes();
  }
  return OkStatus();
}

}  // namespace tessera::agents
