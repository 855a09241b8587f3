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

}  // namespace

// Copies cells that stay on their device or come from memory of this host.
Status Mover::Copy(const std::stop_token& stop) {
  const MoveContext& c = *context_;
  HostPeers peers;
  std::vector<std::int64_t> copies;
  for (std::int64_t i = 0; i < std::ssize(c.plan.moves); ++i) {
    const ptc::Move& move = c.plan.moves[static_cast<std::size_t>(i)];
    if (const auto* local = std::get_if<ptc::LocalCopy>(&move)) {
      if (c.local.contains(local->device)) copies.push_back(i);
    } else if (const auto* m = std::get_if<ptc::RemoteCopy>(&move)) {
      if (!c.local.contains(m->device) || m->forwarded ||
          c.topology.HostOf(m->source) != c.topology.HostOf(m->device)) {
        continue;
      }
      TESSERA_RETURN_IF_ERROR(peers.Add(c, m->source));
      copies.push_back(i);
    }
  }
  return ForEachInParallel(copies.size(), stop, [&](std::size_t at) -> Status {
    const std::int64_t index = copies[at];
    const ptc::Move& move = c.plan.moves[static_cast<std::size_t>(index)];
    if (const auto* local = std::get_if<ptc::LocalCopy>(&move)) return Repack(*local);
    const auto& m = std::get<ptc::RemoteCopy>(move);
    const DevicePieces origin = peers.Find(c, m.source);
    std::optional<std::uint64_t> expected = OldDigest(m.source, m.tensor, m.cell);
    if (!expected) {
      TESSERA_TRY(expected, DigestOfCell(c, origin, m.tensor, m.cell));
    }
    return CopyChecked(m, origin, *expected);
  });
}

Status Mover::Repack(const ptc::LocalCopy& move) {
  const MoveContext& c = *context_;
  TESSERA_TRY(const CellView read,
              ViewOfCell(c, OldPieces(c, move.device), move.tensor, move.from, move.cell));
  TESSERA_TRY(const CellView write,
              ViewOfCell(c, NextPieces(c, move.device), move.tensor, move.piece, move.cell));
  const ptc::TensorSpec& spec = c.SpecOf(move.tensor);
  const std::uint64_t digest =
      engine::CopyCellAndDigest(write, read, spec.dtype, spec.shape, move.cell);
  const std::lock_guard lock(mutex_);
  arrived_.emplace(std::tuple(move.device, move.tensor, move.cell), digest);
  return OkStatus();
}

// Copies relayed cells from new piece to new piece, between devices of this node.
Status Mover::Forward(const std::stop_token& stop) {
  const MoveContext& c = *context_;
  // The expected digest is that of the first source, not of the forwarding device.
  std::vector<std::pair<const ptc::RemoteCopy*, std::uint64_t>> copies;
  for (std::size_t i = 0; i < c.plan.moves.size(); ++i) {
    const auto* m = std::get_if<ptc::RemoteCopy>(&c.plan.moves[i]);
    if (!m || !m->forwarded || !c.local.contains(m->device)) continue;
    const auto arrived = arrived_.find({m->source, m->tensor, m->cell});
    if (arrived == arrived_.end()) {
      return Internal(
          fmt::format("move {} forwards a cell that {} has not received", i, ToString(m->source)));
    }
    copies.emplace_back(m, arrived->second);
  }
  return ForEachInParallel(copies.size(), stop, [&](std::size_t at) {
    const auto& [move, expected] = copies[at];
    return CopyChecked(*move, NextPieces(c, move->source), expected);
  });
}

Status Mover::CopyChecked(const ptc::RemoteCopy& move, const DevicePieces& origin,
                          std::uint64_t expected) {
  const MoveContext& c = *context_;
  TESSERA_TRY(const CellView read, ViewOfCell(c, origin, move.tensor, move.from, move.cell));
  TESSERA_TRY(const CellView write,
              ViewOfCell(c, NextPieces(c, move.device), move.tensor, move.piece, move.cell));
  const ptc::TensorSpec& spec = c.SpecOf(move.tensor);
  const std::uint64_t digest =
      engine::CopyCellAndDigest(write, read, spec.dtype, spec.shape, move.cell);
  TESSERA_RETURN_IF_ERROR(Accept(move, digest, expected));
  FlowOf(move.source, move.device)->done += read.size_bytes();
  return OkStatus();
}

}  // namespace tessera::agents
