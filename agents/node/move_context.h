// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What one node needs to know of a transfer: the plan, its own devices with their old and next
/// pieces, and where the other nodes' lanes and arenas are; and the cells of those pieces.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agents/net/lanes.h"
#include "engine/copy/cell_view.h"
#include "engine/store/arena.h"
#include "engine/store/piece_table.h"
#include "ptc/plan/plan.h"

namespace tessera::agents {

/// Everything that a transfer reads; immutable and shared with the lanes that serve it.
struct MoveContext {
  LaneKey key;
  ptc::Layout from;
  ptc::Layout to;
  ptc::Plan plan;  // without moves: digests only
  ptc::Topology topology;
  std::int32_t node = 0;
  struct Local {
    const engine::Arena* arena = nullptr;
    engine::PieceTable old_table;
    engine::PieceTable next_table;
  };
  std::map<ptc::DeviceId, Local> local;
  struct Remote {
    std::vector<std::string> lanes;
    std::string public_key;                // of its lanes
    std::vector<std::string> arena_paths;  // by device index
  };
  std::map<std::int32_t, Remote> nodes;
  /// Who has the state that is handed in: the plan's reads are moves on its lanes.
  struct HandIn {
    std::int64_t number = 0;
    std::vector<std::string> lanes;
    std::string public_key;
  };
  std::optional<HandIn> hand_in = {};

  const ptc::TensorSpec& SpecOf(int tensor) const {
    return from.collection().tensors()[static_cast<std::size_t>(tensor)];
  }
};

/// The pieces of a device, old or next ones, in its memory.
struct DevicePieces {
  ptc::DeviceId device;
  const engine::Arena* arena = nullptr;
  const engine::PieceTable* table = nullptr;
};
DevicePieces OldPieces(const MoveContext& context, ptc::DeviceId device);
DevicePieces NextPieces(const MoveContext& context, ptc::DeviceId device);

/// The memory of `cell` in the piece with exactly the box `piece`.
/// \error kInternal naming device, tensor and box where the device has no such piece
Result<engine::CellView> ViewOfCell(const MoveContext& context, const DevicePieces& pieces,
                                    int tensor, const ptc::Box& piece, const ptc::Box& cell);
/// The digest of `cell`, in whichever piece it lies. \error as ViewOfCell
Result<std::uint64_t> DigestOfCell(const MoveContext& context, const DevicePieces& pieces,
                                   int tensor, const ptc::Box& cell);

/// The memory of a cell that this node sends. Any thread.
/// \error kNotFound naming the move if this node does not hold it, or passes it on to itself: what
///     is forwarded never leaves a node.
Result<SourceCell> ResolveSource(const std::shared_ptr<const MoveContext>& context,
                                 std::int64_t move);

}  // namespace tessera::agents
