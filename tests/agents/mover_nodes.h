// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Nodes in one process, with their own memory and lanes between them, ready to transfer the state
/// of a job.

#include <fmt/format.h>
#include <unistd.h>

#include <QTest>
#include <algorithm>
#include <cstring>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "agents/gpu/arena_memory.h"
#include "agents/move/kept_digests.h"
#include "agents/move/mover.h"
#include "agents/net/socket.h"
#include "agents/views/disposal.h"
#include "engine/store/allocate.h"
#include "ptc/digest.h"
#include "tests/engine/cells.h"
#include "tests/support/verify.h"

namespace tessera::test {

using namespace tessera::agents;
using engine::PieceEntry;
using engine::PieceTable;
using ptc::Axis;
using ptc::Box;
using ptc::DeviceId;

inline const LaneKey kKey{"job", 7, 7};
inline constexpr std::int64_t kStep = 41;
inline constexpr std::int64_t kCapacity =
    static_cast<std::int64_t>(engine::kArenaDataOffset) + (std::int64_t{1} << 20);

/// With TESSERA_TEST_GPUS set, the state is in the memory of CUDA devices: of an emulated driver,
/// or of the machine.
inline bool OnCuda() { return qEnvironmentVariableIsSet("TESSERA_TEST_GPUS"); }

inline const CurveKeys& AgentKeys() {
  static const CurveKeys keys = NewCurveKeys();
  return keys;
}

/// Tensors with up to 3 dimensions that tp can cut, one of a few KiB, and a scalar.
inline ptc::CollectionPtr AnyTensors(std::mt19937_64& rng) {
  std::vector<ptc::TensorSpec> specs;
  for (int t = 0; t < 8; ++t) {
    ptc::TensorSpec spec;
    spec.name = "t" + std::to_string(t);
    spec.dtype = t % 2 == 0 ? ptc::DType::kF32 : ptc::DType::kBF16;
    spec.role = t % 3 == 0 ? ptc::TensorRole::kParam : ptc::TensorRole::kExpAvg;
    for (int d = 0; d < t % 4; ++d) {
      spec.shape.push_back(4 * (1 + static_cast<std::int64_t>(rng() % 4)));
      spec.rule.dims.emplace_back();
    }
    // One is cut with any seed, and the scalars are not.
    if (!spec.shape.empty() && (t == 1 || rng() % 2 == 0)) {
      spec.rule.dims[rng() % spec.shape.size()].axes = {Axis::kTp};
    }
    specs.push_back(std::move(spec));
  }
  specs[1].shape = {4096};
  return *ptc::Collection::Make(std::move(specs), 1);
}

inline ptc::Layout On(const std::string& mesh, const ptc::CollectionPtr& tensors) {
  return *ptc::Layout::Make(*ptc::ParseDeviceMesh(mesh), tensors);
}

/// The nodes of a cluster in a transaction, ready to transfer.
class Nodes {
 public:
  Nodes(const ptc::Layout& from, const ptc::Layout& to, const ptc::Plan& plan,
        engine::OldGradients gradients = engine::OldGradients::kFree,
        std::int64_t capacity = kCapacity)
      : from_(from), capacity_(capacity) {
    net_.SetAllowed({AgentKeys().public_key});
    for (const DeviceId device : ptc::DevicesOf(from, to)) {
      MakeArena(device);
      const auto rank = from.mesh().RankOf(device);
      PieceTable old = rank ? *engine::AllocateInitial("job", 1, from, *rank, capacity)
                            : *PieceTable::Make(1, from.hash(), "job", {}, capacity);
      PieceTable next =
          *engine::AllocateNext(old, from, to, device, plan.moves, capacity, gradients);
      for (const PieceEntry::Kind kind : {PieceEntry::kState, PieceEntry::kGradient}) {
        ForEachElement(
            device, old,
            [](std::byte* at, std::size_t size, std::uint64_t value) {
              std::memcpy(at, &value, size);
            },
            kind);
      }
      tables_.emplace(device, std::pair{std::move(old), std::move(next)});
    }
    for (const auto& [device, tables] : tables_) {
      if (contexts_.contains(device.node)) continue;
      contexts_[device.node] = std::make_shared<MoveContext>(
          MoveContext{kKey,
                      from,
                      to,
                      std::make_shared<const ptc::DeviceMoves>(plan.moves, plan.reads),
                      {},
                      device.node,
                      {},
                      {}});
    }
    for (const auto& [device, tables] : tables_) {
      contexts_[device.node]->local.emplace(
          device, MoveContext::Local{&arenas_.at(device), tables.first, tables.second});
    }
    for (const auto& [node, context] : contexts_) Serve(node);
    for (const auto& [node, context] : contexts_) {
      for (const auto& [other, server] : servers_) {
        context->nodes[other] = {server->endpoints(), AgentKeys().public_key, {}};
      }
    }
  }

  ~Nodes() {
    for (const auto& [device, fd] : fds_) ::close(fd);
  }
  Nodes(const Nodes&) = delete;
  Nodes& operator=(const Nodes&) = delete;

  /// All nodes are on one host, and map each other's arenas.
  /// \param tokens_differ they name tokens of other arenas
  void ShareHost(bool tokens_differ) {
    for (const auto& [device, tables] : tables_) {
      engine::Arena& arena = arenas_.at(device);
      VERIFY_OK(tables.first.Write(arena, PieceTable::SlotOf(tables.first.epoch())));
      arena.header().epoch.store(static_cast<std::uint64_t>(tables.first.epoch()));
    }
    for (const auto& [node, context] : contexts_) {
      for (const auto& [device, arena] : arenas_) {
        context->topology.host_of_node[device.node] = 0;
        auto& remote = context->nodes[device.node];
        const auto index = static_cast<std::size_t>(device.index);
        if (remote.arena_paths.size() <= index) {
          remote.arena_paths.resize(index + 1);
          remote.arena_tokens.resize(index + 1);
        }
        remote.arena_paths[index] = fmt::format("/proc/{}/fd/{}", ::getpid(), fds_.at(device));
        remote.arena_tokens[index] = arena.header().token.load() + (tokens_differ ? 1 : 0);
      }
    }
  }

  /// The source reports a wrong digest for this cell.
  void LieAbout(const LaneCell& cell) { lied_about_ = cell; }

  using Moment = Mover::Moment;
  /// Carries out one node's part of the plan.
  MoveResult Run(std::int32_t node, MoveMode mode = MoveMode::kVerifyMoved,
                 std::function<void(Moment)> moment = {}) {
    std::promise<MoveResult> promise;
    auto future = promise.get_future();
    Mover mover(
        contexts_.at(node), {&net_, AgentKeys(), nullptr},
        [&](MoveResult result) { promise.set_value(std::move(result)); }, mode, std::move(moment));
    MoveResult result = future.get();
    for (const auto& flow : mover.flows()) {
      arrived_ += flow->done;
      complete_ = complete_ && flow->done == flow->total;
    }
    return result;
  }

  /// Moves the gradients of the parameters, after the state.
  MoveResult RunGradients(std::int32_t node) { return RunMoves(GradientsOf(Context(node))); }
  /// Carries out moves that are made from those of a node.
  MoveResult RunMoves(std::shared_ptr<const MoveContext> context,
                      MoveMode mode = MoveMode::kVerifyMoved) {
    std::promise<MoveResult> promise;
    auto future = promise.get_future();
    const Mover mover(
        std::move(context), {&net_, AgentKeys(), nullptr, {}, &left_},
        [&](MoveResult result) { promise.set_value(std::move(result)); }, mode);
    return future.get();
  }

  /// The digests that a node takes after the commit. `result` is that of its transfer. `while_held`
  /// runs before they are taken.
  KeptResult Keep(std::int32_t node, const MoveResult& result,
                  const std::function<void()>& while_held = {}) {
    const KeptState state{contexts_.at(node), result.arrived, kStep};
    for (const auto& [device, local] : state.change->local) {
      engine::ArenaHeader& header = local.arena->header();
      header.begin = header.end = static_cast<std::uint64_t>(kStep);
      header.epoch = static_cast<std::uint64_t>(local.next_table.epoch());
    }
    HoldUpdates(state);
    if (while_held) while_held();
    std::promise<KeptResult> promise;
    auto future = promise.get_future();
    const KeptDigests run(state, [&](KeptResult kept) { promise.set_value(std::move(kept)); });
    return future.get();
  }
  std::uint64_t HoldOf(DeviceId device) const { return arenas_.at(device).header().hold.load(); }
  engine::ArenaHeader& HeaderOf(DeviceId device) const { return arenas_.at(device).header(); }
  /// Changes one bit of a cell, in the old or in the next piece of a device.
  void Damage(DeviceId device, bool old, int tensor, const Box& cell) const {
    const MoveContext& c = Context(device.node);
    const DevicePieces pieces = old ? OldPieces(c, device) : NextPieces(c, device);
    const Box piece = pieces.table->FindContaining(tensor, cell)->box;
    const auto found = FindCell(c, pieces, tensor, piece, cell);
    std::byte first[1];
    if (!found->Pack(0, first)) qFatal("a cell cannot be read");
    first[0] ^= std::byte{1};
    if (!found->Unpack(0, first)) qFatal("a cell cannot be written");
  }

  const MoveContext& Context(std::int32_t node) const { return *contexts_.at(node); }
  MoveContext& Context(std::int32_t node) { return *contexts_.at(node); }
  std::shared_ptr<const MoveContext> ContextPtr(std::int32_t node) const {
    return contexts_.at(node);
  }
  std::int64_t sent() const {
    std::int64_t bytes = 0;
    for (const auto& [node, server] : servers_) bytes += server->bytes_sent();
    return bytes;
  }
  /// Changes one bit of the first old piece of a device.
  void Damage(DeviceId device) {
    for (const PieceEntry& e : tables_.at(device).first.entries()) {
      if (e.kind != PieceEntry::kState || e.box.num_elements() == 0) continue;
      const auto& spec = from_.collection().tensors()[static_cast<std::size_t>(e.tensor)];
      const engine::DeviceCell piece =
          arenas_.at(device).CellAt(e.offset_bytes, e.box, e.box, ptc::SizeBytes(spec.dtype));
      std::vector<std::byte> bytes(static_cast<std::size_t>(piece.size_bytes()));
      if (!piece.Pack(0, bytes)) qFatal("a piece cannot be read");
      bytes.front() ^= std::byte{1};
      if (!piece.Unpack(0, bytes)) qFatal("a piece cannot be written");
      return;
    }
    qFatal("no piece");
  }
  /// The digests of a node, taken before the commit.
  KeptResult TakeAhead(std::int32_t node, const MoveResult& result) {
    for (const auto& [device, local] : Context(node).local) {
      engine::ArenaHeader& header = local.arena->header();
      header.begin = header.end = static_cast<std::uint64_t>(kStep);
      header.epoch = static_cast<std::uint64_t>(local.old_table.epoch());
    }
    std::promise<KeptResult> promise;
    auto future = promise.get_future();
    const KeptDigests run({ContextPtr(node), result.arrived, kStep, true},
                          [&](KeptResult kept) { promise.set_value(std::move(kept)); });
    return future.get();
  }
  std::int64_t arrived() const { return arrived_; }
  bool complete() const { return complete_; }
  std::int64_t CountWrong(PieceEntry::Kind kind = PieceEntry::kState) {
    std::int64_t wrong = 0;
    for (const auto& [device, tables] : tables_) {
      ForEachElement(
          device, tables.second,
          [&wrong](std::byte* at, std::size_t size, std::uint64_t value) {
            wrong += std::memcmp(at, &value, size) != 0;
          },
          kind);
    }
    return wrong;
  }
  /// Whether any byte of a cell in a next piece differs from 0.
  bool IsTouched(DeviceId device, int tensor, const Box& cell) {
    const auto found = FindCell(Context(device.node), NextPieces(Context(device.node), device),
                                tensor, *PieceAround(device, tensor, cell), cell);
    std::vector<std::byte> bytes(static_cast<std::size_t>(found->size_bytes()));
    if (!found->Pack(0, bytes)) qFatal("a cell cannot be read");
    return std::ranges::any_of(bytes, [](std::byte b) { return b != std::byte{0}; });
  }

 private:
  void MakeArena(DeviceId device) {
    const int fd =
        OnCuda() ? *engine::Arena::CreateSparse("mover_test", capacity_, engine::MemoryKind::kCuda)
                 : *engine::Arena::CreateMemfd("mover_test", capacity_);
    engine::Arena arena = *engine::Arena::Map(fd, true);
    if (OnCuda()) {
      const int count = *(*CudaDriver::Get())->NumDevices();
      const auto memory = MakeCudaMemory(arena, device.index % count);
      if (!memory) qFatal("%s", memory.error().ToString().c_str());
      ::close(*memory);
    }
    arenas_.emplace(device, std::move(arena));
    fds_.emplace(device, fd);
  }

  const Box* PieceAround(DeviceId device, int tensor, const Box& cell) {
    return &tables_.at(device).second.FindContaining(tensor, cell)->box;
  }

  void Serve(std::int32_t node) {
    LaneServerOptions options;
    options.endpoints.assign(2, "tcp://127.0.0.1:*");
    options.keys = AgentKeys();
    auto server = LaneServer::Start(
        net_, std::move(options),
        [this, node](const LaneKey& key, const LaneCell& wanted) -> Result<SourceCell> {
          if (key != kKey) return FailedPrecondition("another transaction");
          TESSERA_TRY(SourceCell cell, ResolveSource(contexts_.at(node), wanted));
          if (wanted == lied_about_) {
            // The digest of the same bytes one element further in a tensor.
            const std::int64_t elements = wanted.box.num_elements();
            const Box shifted = *Box::Make(std::vector<ptc::Interval>{{1, elements + 1}});
            cell.indices.emplace(*Box::Whole({elements + 1}), shifted,
                                 cell.cell.size_bytes() / elements, nullptr);
          }
          return cell;
        });
    if (!server) qFatal("%s", server.error().ToString().c_str());
    servers_.emplace(node, std::move(*server));
  }

  template <typename Visit>
  void ForEachElement(DeviceId device, const PieceTable& table, Visit visit,
                      PieceEntry::Kind kind) {
    const bool is_state = kind == PieceEntry::kState;
    for (const PieceEntry& e : table.entries()) {
      if (e.kind != kind) continue;
      const auto& spec = from_.collection().tensors()[static_cast<std::size_t>(e.tensor)];
      const ptc::DType type = is_state ? spec.dtype : ptc::DType::kF32;
      const auto size = static_cast<std::size_t>(ptc::SizeBytes(type));
      const std::uint64_t number = static_cast<std::uint64_t>(e.tensor) + (is_state ? 0 : 100);
      const Box whole = *Box::Whole(spec.shape);
      const engine::DeviceCell piece =
          arenas_.at(device).CellAt(e.offset_bytes, e.box, e.box, static_cast<std::int64_t>(size));
      std::vector<std::byte> bytes(static_cast<std::size_t>(piece.size_bytes()));
      if (!piece.Pack(0, bytes)) qFatal("a piece cannot be read");
      test::ForEachElement(e.box, [&](const std::vector<std::int64_t>& at) {
        const auto index = static_cast<std::uint64_t>(test::IndexIn(whole, at));
        visit(bytes.data() + static_cast<std::size_t>(test::IndexIn(e.box, at)) * size, size,
              ptc::Mix(number * 1000003 + index + 1));
      });
      if (!piece.Unpack(0, bytes)) qFatal("a piece cannot be written");
    }
  }

  const ptc::Layout& from_;
  const std::int64_t capacity_;
  std::map<DeviceId, engine::Arena> arenas_;
  std::map<DeviceId, int> fds_;                                   // of these
  std::map<DeviceId, std::pair<PieceTable, PieceTable>> tables_;  // old, next
  std::map<std::int32_t, std::shared_ptr<MoveContext>> contexts_;
  NetContext net_{2};
  Disposal left_;
  std::optional<LaneCell> lied_about_;  // set before the transfer
  std::int64_t arrived_ = 0;
  bool complete_ = true;
  std::map<std::int32_t, std::unique_ptr<LaneServer>>
      servers_;  // destroyed first, because it reads the members above
};

}  // namespace tessera::test
