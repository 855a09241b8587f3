// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The inputs of one node's part of a transfer: the plan, the node's devices with their old and
/// next pieces, and the lanes and arenas of the other nodes. Also finds the memory of cells.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agents/checkpoint/stored_state.h"
#include "agents/net/lanes.h"
#include "agents/wire/tessera/wire/view.pb.h"
#include "engine/cluster/link_speeds.h"
#include "engine/copy/device_exchange.h"
#include "engine/copy/device_memory.h"
#include "engine/store/arena.h"
#include "engine/store/piece_table.h"
#include "ptc/plan/dropped_replicas.h"
#include "ptc/plan/mixed_layout.h"
#include "ptc/plan/plan.h"

namespace tessera::agents {

/// Immutable, and shared with the lane threads that serve cells of it.
struct MoveContext {
  LaneKey key;
  ptc::Layout from;
  ptc::Layout to;
  /// Of this node's devices; never null. Without moves: only digests are computed.
  std::shared_ptr<const ptc::DeviceMoves> plan;
  ptc::Topology topology;
  std::int32_t node = 0;
  struct Local {
    const engine::Arena* arena = nullptr;
    engine::PieceTable old_table;
    engine::PieceTable next_table;
    /// Where gradients of a step are kept while ranks compute the next ones.
    std::optional<engine::PieceTable> saved = {};
  };
  std::map<ptc::DeviceId, Local> local;
  struct Remote {
    std::vector<std::string> lanes;
    std::string public_key;                        // of its lanes
    std::vector<std::string> arena_paths;          // by device index
    std::vector<std::uint64_t> arena_tokens = {};  // likewise
    std::vector<LaneTicket> tickets = {};          // of its lanes; empty: they are encrypted
  };
  std::map<std::int32_t, Remote> nodes;
  engine::LaneUse lane_use = {};  // of the links to them
  /// The client that hands in the state.
  struct HandIn {
    std::int64_t number = 0;
    std::vector<std::string> lanes;
    std::string public_key;
  };
  std::optional<HandIn> hand_in = {};
  /// Present: the state comes from a snapshot.
  struct Snapshot {
    wire::ViewReply shares;
    std::string machine;  // identity of this machine
  };
  std::optional<Snapshot> snapshot = {};
  /// Opens the checkpoint that the state comes from, on a thread of the transfer. Empty: it comes
  /// from elsewhere.
  std::function<Result<StoredTensors>()> open_checkpoint = {};
  /// It is one round of a move: tensors without a move in the plan stay as they are.
  bool is_round = false;
  /// Present: the old state lies as in this one, and `from` only says which cells are digested.
  std::shared_ptr<const ptc::MixedLayout> mixed = {};
  std::vector<ptc::DeviceId> lost = {};  // of the old layout; their state is of no use
  /// The way between devices of different nodes; null: lanes. With it, `outgoing` is what devices
  /// of this node send on it.
  std::shared_ptr<engine::DeviceExchange> exchange = {};
  std::shared_ptr<const std::vector<ptc::RemoteCopy>> outgoing = {};
  /// What the moves are of. kGradient: of the gradients of the parameters in the plan.
  engine::PieceEntry::Kind kind = engine::PieceEntry::kState;
  /// Of a copy over several steps: the leg, from 1; 0: of none.
  int leg = 0;
  /// The parameters whose gradients may be kept, ascending.
  std::vector<int> follows = {};
  /// With kGradient: they are those that are kept.
  bool is_saved = false;

  /// Of the elements that move.
  ptc::DType TypeOf(int tensor) const {
    return kind == engine::PieceEntry::kGradient ? ptc::DType::kF32 : SpecOf(tensor).dtype;
  }
  /// The number of a tensor on lanes: gradients follow the tensors of the collection, and then
  /// those that are kept.
  int LaneTensor(int tensor) const {
    const auto num_tensors = static_cast<int>(from.collection().tensors().size());
    if (kind == engine::PieceEntry::kState) return tensor;
    return tensor + (is_saved ? 2 : 1) * num_tensors;
  }
  const ptc::TensorSpec& SpecOf(int tensor) const {
    return from.collection().tensors()[static_cast<std::size_t>(tensor)];
  }
};

/// The old or the next pieces of a device. The old ones of kept gradients are those that are kept.
struct DevicePieces {
  ptc::DeviceId device;
  const engine::Arena* arena = nullptr;
  const engine::PieceTable* table = nullptr;
};
DevicePieces OldPieces(const MoveContext& context, ptc::DeviceId device);
DevicePieces NextPieces(const MoveContext& context, ptc::DeviceId device);

/// The groups of which the change drops replicas, for each device of this node.
/// \param held of the old layout
ptc::DroppedGroups DroppedReplicasOf(const MoveContext& context, const ptc::DeviceCells& held);

/// \error kUnavailable for a node that nobody has named
Result<const MoveContext::Remote*> FindNode(const MoveContext& context, std::int32_t node);

/// The memory of `cell` in the piece whose box is `piece`.
/// \error kInternal naming device, tensor and box if the device has no such piece
Result<engine::DeviceCell> FindCell(const MoveContext& context, const DevicePieces& pieces,
                                    int tensor, const ptc::Box& piece, const ptc::Box& cell);
/// Ranges of a cell that one thread works on at a time, so that a large cell uses all cores, and
/// progress and cancellation never wait for one.
std::vector<ptc::Box> WorkOf(const MoveContext& context, int tensor, const ptc::Box& cell);
/// The digest of `cell`, in the piece that contains it.
/// \error as FindCell and DeviceMemory::Digest
Result<std::uint64_t> DigestOfCell(const MoveContext& context, const DevicePieces& pieces,
                                   int tensor, const ptc::Box& cell);

/// The transfer of the gradients that follows one of the state: the moves of parameters.
std::shared_ptr<const MoveContext> GradientsOf(const MoveContext& state);
/// The same of the gradients that are kept.
std::shared_ptr<const MoveContext> SavedGradientsOf(const MoveContext& state);
/// A leg of a copy over several steps: the moves of these tensors only, ascending.
std::shared_ptr<const MoveContext> LegOf(const MoveContext& all, int leg,
                                         std::span<const int> tensors);

/// The memory of a cell that this node sends: any box inside an old piece of one of its devices, or
/// inside the gradient of one.
/// New pieces are not served, because their bytes may still be arriving. Any thread.
/// \error kNotFound naming device, tensor and box if the device does not hold the cell
Result<SourceCell> ResolveSource(const std::shared_ptr<const MoveContext>& context,
                                 const LaneCell& cell);

}  // namespace tessera::agents
