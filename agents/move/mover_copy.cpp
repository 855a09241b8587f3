// SPDX-License-Identifier: Apache-2.0
/// \file
/// Copies within the host, and from device to device of this node what is relayed.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "agents/move/mover.h"
#include "agents/move/parallel.h"
#include "engine/copy/fused.h"
#include "engine/store/allocate.h"
#include "engine/store/sealed_memory.h"

namespace tessera::agents {
namespace {

using engine::DeviceCell;
using engine::PieceTable;

// Maps an arena of another node of this host through the descriptor of its agent. The token shows
// that it is the arena which that node means: host and path alone are what a peer claims, and would
// fit an arena of another cluster of this machine.
Result<engine::Arena> MapPeer(const std::string& path, std::uint64_t token) {
  TESSERA_TRY(const int fd, engine::OpenSealedMemory(path));
  Result<engine::Arena> arena = engine::Arena::Map(fd, false);
  close(fd);
  if (!arena) return arena;
  if (token == 0 || arena->header().token.load() != token) {
    return PermissionDenied(fmt::format("'{}' is not the arena that its node names", path));
  }
  return arena;
}

/// Collects copies by the cell that they read, in the order of device, tensor and box.
template <typename CellCopies>
class CopiesBySource {
 public:
  template <typename Move>
  void Add(ptc::DeviceId source, ptc::DeviceId device, const Move& move) {
    const std::tuple key(source, move.tensor, move.cell);
    CellCopies copies{{source}, move.tensor, move.cell, move.from, {}};
    by_source_.try_emplace(key, std::move(copies)).first->second.to.push_back({device, move.piece});
  }
  std::vector<CellCopies> Take() {
    std::vector<CellCopies> out;
    for (auto& [key, copies] : by_source_) out.push_back(std::move(copies));
    return out;
  }

 private:
  std::map<std::tuple<ptc::DeviceId, int, ptc::Box>, CellCopies> by_source_;
};

}  // namespace

/// The old pieces of devices of other nodes of this host.
class HostPeers {
 public:
  Status Add(const MoveContext& c, ptc::DeviceId id) {
    if (c.local.contains(id) || peers_.contains(id)) return OkStatus();
    TESSERA_TRY(const MoveContext::Remote* const node, FindNode(c, id.node));
    const auto index = static_cast<std::size_t>(id.index);
    if (index >= std::min(node->arena_paths.size(), node->arena_tokens.size())) {
      return NotFound(fmt::format("no arena path is known for {}", ToString(id)));
    }
    TESSERA_TRY(engine::Arena arena,
                MapPeer(node->arena_paths[index], node->arena_tokens[index]).Context(ToString(id)));
    if (!arena.has_memory()) {
      return FailedPrecondition(fmt::format(
          "{}: nodes with GPUs share no memory, so each needs a `host` of its own", ToString(id)));
    }
    TESSERA_TRY(PieceTable table, PieceTable::ReadCurrent(arena).Context(ToString(id)));
    if (c.is_saved) {
      const int slot = PieceTable::SlotOf(table.epoch() + 1);
      TESSERA_TRY(const PieceTable next, PieceTable::Read(arena, slot).Context(ToString(id)));
      TESSERA_TRY(table, engine::AllocateSaved(table, next, c.follows, id, arena.capacity()));
    }
    peers_.emplace(id, std::pair{std::move(arena), std::move(table)});
    return OkStatus();
  }
  DevicePieces Find(const MoveContext& c, ptc::DeviceId id) const {
    if (c.local.contains(id)) return OldPieces(c, id);
    const auto& [arena, table] = peers_.at(id);
    return {id, &arena, &table};
  }

 private:
  std::map<ptc::DeviceId, std::pair<engine::Arena, PieceTable>> peers_;
};

// Copies cells that stay on their device or come from memory of this host.
Status Mover::Copy(const std::stop_token& stop) {
  HostPeers peers;
  TESSERA_TRY(const std::vector<CellCopies> all, FindHostCopies(peers));
  return CopyCells(stop, all);
}

Result<std::vector<Mover::CellCopies>> Mover::FindHostCopies(HostPeers& peers) const {
  const MoveContext& c = *context_;
  CopiesBySource<CellCopies> found;
  for (const ptc::Move& move : c.plan->moves) {
    if (const auto* local = std::get_if<ptc::LocalCopy>(&move)) {
      if (c.local.contains(local->device)) found.Add(local->device, local->device, *local);
    } else if (const auto* m = std::get_if<ptc::RemoteCopy>(&move)) {
      if (!c.local.contains(m->device) || m->forwarded || ptc::CrossesHosts(*m, c.topology)) {
        continue;
      }
      TESSERA_RETURN_IF_ERROR(peers.Add(c, m->source));
      found.Add(m->source, m->device, *m);
    }
  }
  std::vector<CellCopies> out = found.Take();
  for (CellCopies& copies : out) {
    copies.origin = peers.Find(c, copies.origin.device);
    copies.digest = OldDigest(copies.origin.device, copies.tensor, copies.cell);
  }
  return out;
}

// Copies relayed cells from new piece to new piece, between devices of this node.
Status Mover::Forward(const std::stop_token& stop) {
  const MoveContext& c = *context_;
  CopiesBySource<CellCopies> found;
  for (std::size_t i = 0; i < c.plan->moves.size(); ++i) {
    const auto* m = std::get_if<ptc::RemoteCopy>(&c.plan->moves[i]);
    if (!m || !m->forwarded || !c.local.contains(m->device)) continue;
    if (!arrived_.contains({m->source, m->tensor, m->cell})) {
      return Internal(
          fmt::format("move {} forwards a cell that {} has not received", i, ToString(m->source)));
    }
    found.Add(m->source, m->device, *m);
  }
  std::vector<CellCopies> all = found.Take();
  for (CellCopies& copies : all) {
    copies.origin = NextPieces(c, copies.origin.device);
    copies.digest = arrived_.at({copies.origin.device, copies.tensor, copies.cell});
  }
  return CopyCells(stop, all);
}

Status Mover::CopyCells(const std::stop_token& stop, const std::vector<CellCopies>& all) {
  struct Work {
    const CellCopies* copies;
    ptc::Box range;
  };
  std::vector<Work> work;
  for (const CellCopies& copies : all) {
    for (ptc::Box& range : WorkOf(*context_, copies.tensor, copies.cell)) {
      work.push_back({&copies, std::move(range)});
    }
  }
  TESSERA_RETURN_IF_ERROR(ForEachInParallel(work.size(), stop, [&](std::size_t at) {
    return CopyRange(*work[at].copies, work[at].range);
  }));
  // The ranges of a cell together have the digest that the cell had before.
  const std::lock_guard lock(mutex_);  // lanes may note other arrivals
  for (const CellCopies& copies : all) {
    if (!copies.digest) continue;
    for (const auto& [device, piece] : copies.to) {
      const std::uint64_t digest = arrived_.at({device, copies.tensor, copies.cell});
      if (digest == *copies.digest) continue;
      return Differs(copies, copies.cell, device, digest, *copies.digest);
    }
  }
  return OkStatus();
}

Status Mover::CopyRange(const CellCopies& copies, const ptc::Box& range) {
  const MoveContext& c = *context_;
  TESSERA_TRY(const DeviceCell read, FindCell(c, copies.origin, copies.tensor, copies.from, range));
  std::vector<DeviceCell> write;
  for (const auto& [device, piece] : copies.to) {
    TESSERA_TRY(const DeviceCell cell,
                FindCell(c, NextPieces(c, device), copies.tensor, piece, range));
    write.push_back(cell);
  }
  const ptc::TensorSpec& spec = c.SpecOf(copies.tensor);
  TESSERA_TRY(const engine::CopyDigests digests,
              engine::CopyCellAndDigest(
                  write, read, engine::IndicesOf(c.TypeOf(copies.tensor), spec.shape, range),
                  [this] { Reach(Moment::kSourceDigested); }));
  for (std::size_t i = 0; i < copies.to.size(); ++i) {
    const ptc::DeviceId device = copies.to[i].device;
    if (digests.copies[i] != digests.source) {
      return Differs(copies, range, device, digests.copies[i], digests.source);
    }
    NoteArrival(device, copies.tensor, copies.cell, digests.copies[i]);
    if (MoveFlow* flow = FlowOf(copies.origin.device, device)) flow->done += read.size_bytes();
  }
  return OkStatus();
}

Error Mover::Differs(const CellCopies& copies, const ptc::Box& range, ptc::DeviceId device,
                     std::uint64_t digest, std::uint64_t expected) const {
  return DataLoss(fmt::format("tensor '{}' {}: digest on {} is {}, on its source {} {}",
                              context_->SpecOf(copies.tensor).name, ToString(range),
                              ToString(device), ptc::Hex16(digest), ToString(copies.origin.device),
                              ptc::Hex16(expected)));
}

}  // namespace tessera::agents
