// SPDX-License-Identifier: Apache-2.0
#include "agents/node/mover.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <set>

#include "engine/copy/cell_view.h"
#include "ptc/base/overloaded.h"
#include "ptc/digest.h"

namespace tessera::agents {
namespace {

using engine::CellView;
using engine::PieceEntry;
using engine::PieceTable;

const ptc::TensorSpec& SpecOf(const MoveContext& c, int tensor) {
  return c.from.collection().tensors()[static_cast<std::size_t>(tensor)];
}

Error MissingPiece(const MoveContext& c, ptc::DeviceId device, int tensor, const ptc::Box& box) {
  return Internal(fmt::format("{} has no piece of tensor '{}' with {}", ToString(device),
                              SpecOf(c, tensor).name, ToString(box)));
}

// Another node's arena on this host, through its agent's descriptor.
Result<engine::Arena> MapPeer(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Unavailable(fmt::format("cannot open '{}': {}", path, std::strerror(errno)));
  Result<engine::Arena> arena = engine::Arena::Map(fd, false);
  close(fd);
  return arena;
}

Result<CellView> ViewOfCell(const MoveContext& c, ptc::DeviceId device, const engine::Arena& arena,
                            const PieceTable& table, int tensor, const ptc::Box& piece,
                            const ptc::Box& cell) {
  const PieceEntry* entry = table.Find(PieceEntry::kState, tensor, piece);
  if (!entry) return MissingPiece(c, device, tensor, piece);
  return CellView(entry->box, cell, ptc::SizeBytes(SpecOf(c, tensor).dtype),
                  arena.data(entry->offset_bytes));
}

Result<std::uint64_t> DigestOfCell(const MoveContext& c, ptc::DeviceId device,
                                   const engine::Arena& arena, const PieceTable& table, int tensor,
                                   const ptc::Box& cell) {
  const PieceEntry* entry = table.FindContaining(tensor, cell);
  if (!entry) return MissingPiece(c, device, tensor, cell);
  const ptc::TensorSpec& spec = SpecOf(c, tensor);
  return ptc::DigestBox(spec.dtype, spec.shape, entry->box, arena.data(entry->offset_bytes), cell);
}

}  // namespace

Result<SourceCell> ResolveSource(const std::shared_ptr<const MoveContext>& context,
                                 std::int64_t move) {
  const auto& moves = context->plan.moves;
  if (move < 0 || move >= std::ssize(moves)) {
    return NotFound(fmt::format("move {} of a plan of {} moves", move, moves.size()));
  }
  const auto* copy = std::get_if<ptc::RemoteCopy>(&moves[static_cast<std::size_t>(move)]);
  const auto local = copy ? context->local.find(copy->source) : context->local.end();
  if (local == context->local.end()) {
    return NotFound(fmt::format("move {} does not start on n{}", move, context->node));
  }
  const MoveContext::Local& device = local->second;
  TESSERA_TRY(const CellView view,
              ViewOfCell(*context, copy->source, *device.arena, device.old_table, copy->tensor,
                         copy->from, copy->cell));
  SourceCell cell{view, {}, {}};
  cell.digest = [context, copy, &device] {
    const auto digest = DigestOfCell(*context, copy->source, *device.arena, device.old_table,
                                     copy->tensor, copy->cell);
    return digest ? *digest : 0;
  };
  cell.keep_alive = std::const_pointer_cast<MoveContext>(context);
  return cell;
}

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
    flow->total +=
        copy->cell.num_elements() * ptc::SizeBytes(SpecOf(*context_, copy->tensor).dtype);
  }
  thread_ = std::jthread(
      [this, done = std::move(done)](const std::stop_token& stop) { done(Run(stop)); });
}

Mover::~Mover() { Cancel(); }

void Mover::Cancel() { thread_.request_stop(); }

MoveFlow* Mover::FlowOf(ptc::DeviceId source, ptc::DeviceId destination) {
  for (const auto& flow : flows_) {
    if (flow->source == source && flow->destination == destination) return flow.get();
  }
  return nullptr;
}

MoveResult Mover::Run(const std::stop_token& stop) {
  MoveResult result;
  const MoveContext& c = *context_;
  const std::vector<JobCell> cells = FindCells(c.from, c.to);

  // What is held before anything moves: replicas are compared with it, and so is what arrives.
  const auto digest_all = [&](bool before) -> Status {
    for (const auto& [id, device] : c.local) {
      const ptc::Layout& layout = before ? c.from : c.to;
      if (!layout.mesh().RankOf(id)) continue;
      DeviceDigests out{id, {}};
      for (const JobCell& cell : cells) {
        const auto& holders = before ? cell.holders : cell.needers;
        if (!std::binary_search(holders.begin(), holders.end(), id)) continue;
        if (stop.stop_requested()) return Cancelled("the transfer was cancelled");
        TESSERA_TRY(
            const std::uint64_t digest,
            DigestOfCell(c, id, *device.arena, before ? device.old_table : device.next_table,
                         cell.tensor, cell.box));
        out.digests.push_back(digest);
      }
      (before ? result.before : result.after).push_back(std::move(out));
    }
    return OkStatus();
  };

  result.status = digest_all(true);
  if (c.plan.moves.empty()) return result;
  if (result.status) result.status = Copy(stop);
  if (result.status) result.status = Receive(stop);
  if (result.status) result.status = digest_all(false);
  if (!result.status) return result;

  // Each moved cell is read back from where it arrived and compared with its source.
  for (const auto& [index, expected] : source_digests_) {
    const auto& move = std::get<ptc::RemoteCopy>(c.plan.moves[static_cast<std::size_t>(index)]);
    const MoveContext::Local& device = c.local.at(move.device);
    const auto digest =
        DigestOfCell(c, move.device, *device.arena, device.next_table, move.tensor, move.cell);
    if (!digest || *digest != expected) {
      result.status = DataLoss(fmt::format(
          "tensor '{}' {}: digest on {} is {}, on its source {} {}", SpecOf(c, move.tensor).name,
          ToString(move.cell), ToString(move.device), digest ? ptc::Hex16(*digest) : "unknown",
          ToString(move.source), ptc::Hex16(expected)));
      return result;
    }
    ++result.checksums_equal;
  }
  return result;
}

// What stays on its device or comes from memory that this host maps.
Status Mover::Copy(const std::stop_token& stop) {
  const MoveContext& c = *context_;
  std::map<ptc::DeviceId, std::pair<engine::Arena, PieceTable>> peers;  // of other nodes, same host
  const auto source_of =
      [&](ptc::DeviceId id) -> Result<std::pair<const engine::Arena*, const PieceTable*>> {
    if (const auto local = c.local.find(id); local != c.local.end()) {
      return std::pair{local->second.arena, &local->second.old_table};
    }
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
    return std::pair<const engine::Arena*, const PieceTable*>{&peer->second.first,
                                                              &peer->second.second};
  };
  const auto copy = [&](std::int64_t index, ptc::DeviceId source, ptc::DeviceId device, int tensor,
                        const ptc::Box& from, const ptc::Box& piece,
                        const ptc::Box& cell) -> Status {
    if (stop.stop_requested()) return Cancelled("the transfer was cancelled");
    const MoveContext::Local& to = c.local.at(device);
    TESSERA_TRY(const auto origin, source_of(source));
    TESSERA_TRY(const CellView read,
                ViewOfCell(c, source, *origin.first, *origin.second, tensor, from, cell));
    TESSERA_TRY(const CellView write,
                ViewOfCell(c, device, *to.arena, to.next_table, tensor, piece, cell));
    engine::CopyCell(write, read);
    if (source == device) return OkStatus();
    TESSERA_TRY(const std::uint64_t digest,
                DigestOfCell(c, source, *origin.first, *origin.second, tensor, cell));
    source_digests_[index] = digest;
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
                         if (!c.local.contains(m.device) ||
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
    const MoveContext::Local& to = c.local.at(m->device);
    TESSERA_TRY(const CellView write,
                ViewOfCell(c, m->device, *to.arena, to.next_table, m->tensor, m->piece, m->cell));
    FetchBatch& batch = batches[m->source.node];
    batch.endpoints = c.nodes.at(m->source.node).lanes;
    batch.server_key = c.nodes.at(m->source.node).public_key;
    batch.cells.push_back(Fetch{i, write, {}});
  }
  if (batches.empty()) return OkStatus();

  std::vector<FetchBatch> list;
  for (auto& [node, batch] : batches) list.push_back(std::move(batch));
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Status> ended;
  const auto flow_of_move = [&](std::int64_t move) {
    const auto& m = std::get<ptc::RemoteCopy>(c.plan.moves[static_cast<std::size_t>(move)]);
    return FlowOf(m.source, m.device);
  };
  LaneClientOptions options;
  options.keys = wire_.keys;
  options.ingress = wire_.ingress;
  LaneClient client(*wire_.net, std::move(options));
  FetchCallbacks callbacks;
  callbacks.progress = [&](std::size_t, std::int64_t move, std::int64_t bytes) {
    flow_of_move(move)->done += bytes;
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
  TESSERA_RETURN_IF_ERROR(client.Start(c.key, std::move(list), std::move(callbacks)));
  const std::stop_callback cancel(stop, [&client] { client.Cancel(); });
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return ended.has_value(); });
  return *ended;
}

}  // namespace tessera::agents
