// SPDX-License-Identifier: Apache-2.0
/// \file
/// Fetches cells over lanes. Each byte is compared with its source on arrival.

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "agents/move/mover.h"
#include "engine/copy/fused.h"

namespace tessera::agents {
namespace {

/// How many holders stand in for a lost source of a cell.
constexpr std::size_t kMostOthers = 3;

/// The devices whose old pieces contain a cell, by tensor. Boxes are computed once per tensor.
class OldHolders {
 public:
  explicit OldHolders(const MoveContext& context) : context_(context) {}

  /// In the order of the mesh, beginning behind `source`, so that the load of a lost source
  /// spreads.
  std::vector<ptc::DeviceId> Behind(ptc::DeviceId source, int tensor, const ptc::Box& cell) {
    const std::vector<Piece>& pieces = PiecesOf(tensor);
    const auto first = std::find_if(pieces.begin(), pieces.end(),
                                    [&](const Piece& piece) { return piece.device == source; });
    const auto start = static_cast<std::size_t>(first - pieces.begin());
    std::vector<ptc::DeviceId> out;
    for (std::size_t i = 1; i <= pieces.size(); ++i) {
      const Piece& piece = pieces[(start + i) % pieces.size()];
      if (piece.device != source && Contains(piece.box, cell)) out.push_back(piece.device);
    }
    return out;
  }

 private:
  struct Piece {
    ptc::DeviceId device;
    ptc::Box box;
  };
  const std::vector<Piece>& PiecesOf(int tensor) {
    const auto [found, is_new] = pieces_.try_emplace(tensor);
    if (!is_new) return found->second;
    const auto& devices = context_.from.mesh().devices();
    for (const ptc::DeviceId device : devices) {
      const auto& lost = context_.lost;
      if (std::find(lost.begin(), lost.end(), device) != lost.end()) continue;
      for (const ptc::Box& box :
           context_.from.Boxes(*context_.from.mesh().RankOf(device), tensor)) {
        found->second.push_back({device, box});
      }
    }
    return found->second;
  }

  const MoveContext& context_;
  std::map<int, std::vector<Piece>> pieces_;
};

/// One batch for each node that cells come from.
class NodeBatches {
 public:
  explicit NodeBatches(const MoveContext& context) : context_(context) {}

  std::size_t IndexOf(std::int32_t node) {
    const auto [found, is_new] = index_.try_emplace(node, batches.size());
    if (!is_new) return found->second;
    const MoveContext::Remote& remote = context_.nodes.at(node);
    batches.push_back({remote.lanes, remote.public_key, remote.tickets, {}});
    nodes.push_back(node);
    return found->second;
  }

  std::vector<FetchBatch> batches;
  std::vector<std::int32_t> nodes;  // by batch

 private:
  const MoveContext& context_;
  std::map<std::int32_t, std::size_t> index_;
};

}  // namespace

Status Mover::Receive(const std::stop_token& stop) {
  const MoveContext& c = *context_;
  const auto move_at = [&c](std::int64_t index) -> const ptc::RemoteCopy& {
    return std::get<ptc::RemoteCopy>(c.plan.moves[static_cast<std::size_t>(index)]);
  };
  OldHolders holders(c);
  NodeBatches sources(c);
  for (std::int64_t i = 0; i < std::ssize(c.plan.moves); ++i) {
    const auto* m = std::get_if<ptc::RemoteCopy>(&c.plan.moves[static_cast<std::size_t>(i)]);
    if (!m || !c.local.contains(m->device) ||
        c.topology.HostOf(m->source) == c.topology.HostOf(m->device)) {
      continue;
    }
    TESSERA_TRY(const engine::CellView write,
                ViewOfCell(c, NextPieces(c, m->device), m->tensor, m->piece, m->cell));
    const ptc::TensorSpec& spec = c.SpecOf(m->tensor);
    Fetch fetch{i,
                {m->source.index, m->tensor, m->cell},
                write,
                engine::IndicesOf(spec.dtype, spec.shape, m->cell),
                {}};
    for (const ptc::DeviceId other : holders.Behind(m->source, m->tensor, m->cell)) {
      if (fetch.others.size() == kMostOthers) break;
      if (other.node == c.node || other.node == m->source.node || !c.nodes.contains(other.node)) {
        continue;
      }
      fetch.others.push_back({sources.IndexOf(other.node), {other.index, m->tensor, m->cell}});
    }
    sources.batches[sources.IndexOf(m->source.node)].cells.push_back(std::move(fetch));
  }
  if (sources.batches.empty()) return OkStatus();

  FetchCallbacks callbacks;
  callbacks.progress = [&](std::size_t, std::int64_t index, std::int64_t bytes) {
    FlowOf(move_at(index).source, move_at(index).device)->done += bytes;
  };
  callbacks.cell_done = [&](std::int64_t index, std::uint64_t digest) {
    const ptc::RemoteCopy& move = move_at(index);
    const std::lock_guard lock(mutex_);
    arrived_.emplace(std::tuple(move.device, move.tensor, move.cell), digest);
  };
  callbacks.switched = [&](std::size_t from, std::size_t to, const Error& why) {
    const std::lock_guard lock(mutex_);
    notes_.push_back(fmt::format(
        "transaction {} of '{}': n{} fetches cells from n{} instead of n{}: {}", c.key.transaction,
        c.key.job, c.node, sources.nodes[to], sources.nodes[from], why.ToString()));
  };
  return FetchCells(stop, c.key, std::move(sources.batches), std::move(callbacks));
}

Status Mover::FetchCells(const std::stop_token& stop, const LaneKey& key,
                         std::vector<FetchBatch> batches, FetchCallbacks callbacks) {
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Status> ended;
  LaneClientOptions options;
  options.keys = wire_.keys;
  options.ingress = wire_.ingress;
  LaneClient client(*wire_.net, std::move(options));
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
