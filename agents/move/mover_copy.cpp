// SPDX-License-Identifier: Apache-2.0
/// \file
/// Copies within the host, and from device to device of this node what is relayed.

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "agents/move/mover.h"
#include "agents/move/parallel.h"
#include "engine/copy/fused.h"
#include "ptc/base/overloaded.h"

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

}  // namespace

/// The old pieces of devices of other nodes of this host.
class HostPeers {
 public:
  Status Add(const MoveContext& c, ptc::DeviceId id) {
    if (c.local.contains(id) || peers_.contains(id)) return OkStatus();
    const auto& paths = c.nodes.at(id.node).arena_paths;
    if (id.index >= std::ssize(paths)) {
      return NotFound(fmt::format("no arena path is known for {}", ToString(id)));
    }
    TESSERA_TRY(engine::Arena arena,
                MapPeer(paths[static_cast<std::size_t>(id.index)]).Context(ToString(id)));
    TESSERA_TRY(PieceTable table, PieceTable::ReadCurrent(arena).Context(ToString(id)));
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
  TESSERA_TRY(const std::vector<HostCopies> all, FindHostCopies(peers));
  return ForEachInParallel(all.size(), stop, [&](std::size_t at) { return CopyFrom(all[at]); });
}

Result<std::vector<Mover::HostCopies>> Mover::FindHostCopies(HostPeers& peers) const {
  const MoveContext& c = *context_;
  std::map<std::tuple<ptc::DeviceId, int, ptc::Box>, std::vector<const ptc::Move*>> by_source;
  for (const ptc::Move& move : c.plan.moves) {
    if (const auto* local = std::get_if<ptc::LocalCopy>(&move)) {
      if (c.local.contains(local->device)) {
        by_source[{local->device, local->tensor, local->cell}].push_back(&move);
      }
    } else if (const auto* m = std::get_if<ptc::RemoteCopy>(&move)) {
      if (!c.local.contains(m->device) || m->forwarded ||
          c.topology.HostOf(m->source) != c.topology.HostOf(m->device)) {
        continue;
      }
      TESSERA_RETURN_IF_ERROR(peers.Add(c, m->source));
      by_source[{m->source, m->tensor, m->cell}].push_back(&move);
    }
  }
  std::vector<HostCopies> out;
  for (auto& [source, moves] : by_source) {
    const auto& [device, tensor, cell] = source;
    for (ptc::Box& range : WorkOf(c, tensor, cell)) {
      out.push_back({peers.Find(c, device), moves, std::move(range)});
    }
  }
  return out;
}

Status Mover::CopyFrom(const HostCopies& copies) {
  const MoveContext& c = *context_;
  const auto& [tensor, cell] =
      std::visit(Overloaded{
                     [](const ptc::LocalCopy& m) { return std::pair(m.tensor, &m.cell); },
                     [](const ptc::RemoteCopy& m) { return std::pair(m.tensor, &m.cell); },
                     [](const auto&) -> std::pair<int, const ptc::Box*> { return {}; },
                 },
                 *copies.moves.front());
  std::optional<std::uint64_t> expected;
  if (copies.range == *cell) expected = OldDigest(copies.origin.device, tensor, *cell);
  if (!expected) {
    TESSERA_TRY(expected, DigestOfCell(c, copies.origin, tensor, copies.range));
  }
  Reach(Moment::kSourceDigested);
  for (const ptc::Move* move : copies.moves) {
    if (const auto* local = std::get_if<ptc::LocalCopy>(move)) {
      TESSERA_RETURN_IF_ERROR(Repack(*local, copies.range, *expected));
    } else {
      TESSERA_RETURN_IF_ERROR(
          CopyChecked(std::get<ptc::RemoteCopy>(*move), copies.range, copies.origin, *expected));
    }
  }
  return OkStatus();
}

Status Mover::Repack(const ptc::LocalCopy& move, const ptc::Box& range, std::uint64_t expected) {
  const MoveContext& c = *context_;
  TESSERA_TRY(const CellView read,
              ViewOfCell(c, OldPieces(c, move.device), move.tensor, move.from, range));
  TESSERA_TRY(const CellView write,
              ViewOfCell(c, NextPieces(c, move.device), move.tensor, move.piece, range));
  const ptc::TensorSpec& spec = c.SpecOf(move.tensor);
  const std::uint64_t digest =
      engine::CopyCellAndDigest(write, read, spec.dtype, spec.shape, range);
  if (digest != expected) {
    return DataLoss(fmt::format("tensor '{}' {}: digest of the copy on {} is {}, of its source {}",
                                spec.name, ToString(range), ToString(move.device),
                                ptc::Hex16(digest), ptc::Hex16(expected)));
  }
  NoteArrival(move.device, move.tensor, move.cell, digest);
  return OkStatus();
}

// Copies relayed cells from new piece to new piece, between devices of this node.
Status Mover::Forward(const std::stop_token& stop) {
  const MoveContext& c = *context_;
  struct Work {
    const ptc::RemoteCopy* move;
    ptc::Box range;
    std::uint64_t arrived;  // the digest of the whole cell at its first source
  };
  std::vector<Work> work;
  for (std::size_t i = 0; i < c.plan.moves.size(); ++i) {
    const auto* m = std::get_if<ptc::RemoteCopy>(&c.plan.moves[i]);
    if (!m || !m->forwarded || !c.local.contains(m->device)) continue;
    const auto arrived = arrived_.find({m->source, m->tensor, m->cell});
    if (arrived == arrived_.end()) {
      return Internal(
          fmt::format("move {} forwards a cell that {} has not received", i, ToString(m->source)));
    }
    for (ptc::Box& range : WorkOf(c, m->tensor, m->cell)) {
      work.push_back({m, std::move(range), arrived->second});
    }
  }
  TESSERA_RETURN_IF_ERROR(ForEachInParallel(work.size(), stop, [&](std::size_t at) -> Status {
    const auto& [move, range, arrived] = work[at];
    const DevicePieces origin = NextPieces(c, move->source);
    std::uint64_t expected = arrived;
    if (range != move->cell) {
      TESSERA_TRY(expected, DigestOfCell(c, origin, move->tensor, range));
    }
    return CopyChecked(*move, range, origin, expected);
  }));
  // The ranges of a cell together have the digest of its first source, not only that of the
  // forwarding device.
  for (const ptc::Move& move : c.plan.moves) {
    const auto* m = std::get_if<ptc::RemoteCopy>(&move);
    if (!m || !m->forwarded || !c.local.contains(m->device)) continue;
    const std::uint64_t digest = arrived_.at({m->device, m->tensor, m->cell});
    const std::uint64_t first = arrived_.at({m->source, m->tensor, m->cell});
    if (digest != first) return Differs(*m, m->cell, digest, first);
  }
  return OkStatus();
}

Error Mover::Differs(const ptc::RemoteCopy& move, const ptc::Box& range, std::uint64_t digest,
                     std::uint64_t expected) const {
  return DataLoss(fmt::format("tensor '{}' {}: digest on {} is {}, on its source {} {}",
                              context_->SpecOf(move.tensor).name, ToString(range),
                              ToString(move.device), ptc::Hex16(digest), ToString(move.source),
                              ptc::Hex16(expected)));
}

Status Mover::CopyChecked(const ptc::RemoteCopy& move, const ptc::Box& range,
                          const DevicePieces& origin, std::uint64_t expected) {
  const MoveContext& c = *context_;
  TESSERA_TRY(const CellView read, ViewOfCell(c, origin, move.tensor, move.from, range));
  TESSERA_TRY(const CellView write,
              ViewOfCell(c, NextPieces(c, move.device), move.tensor, move.piece, range));
  const ptc::TensorSpec& spec = c.SpecOf(move.tensor);
  const std::uint64_t digest =
      engine::CopyCellAndDigest(write, read, spec.dtype, spec.shape, range);
  if (digest != expected) return Differs(move, range, digest, expected);
  NoteArrival(move.device, move.tensor, move.cell, digest);
  FlowOf(move.source, move.device)->done += read.size_bytes();
  return OkStatus();
}

}  // namespace tessera::agents
