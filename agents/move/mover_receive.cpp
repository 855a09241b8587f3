// SPDX-License-Identifier: Apache-2.0
/// \file
/// Fetches cells over lanes. Each byte is compared with its source on arrival.

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "agents/move/mover.h"
#include "engine/copy/fused.h"
#include "ptc/base/at.h"
#include "ptc/plan/kinds.h"

namespace tessera::agents {
namespace {

/// How many holders stand in for a lost source of a cell.
constexpr std::size_t kMostOthers = 3;

/// The devices whose old pieces contain a cell. Boxes are computed once per kind of tensors and
/// part.
class OldHolders {
 public:
  explicit OldHolders(const MoveContext& context) {
    if (!context.mixed) {
      parts_.push_back(
          {ptc::MakeKinds(context.from, context.from), {context.lost.begin(), context.lost.end()}});
      return;
    }
    for (const ptc::LayoutPart& part : context.mixed->parts()) {
      Part& added =
          parts_.emplace_back(Part{ptc::MakeKinds(part.layout, part.layout, &part.tensors), {}});
      added.lost.insert(context.lost.begin(), context.lost.end());
      added.lost.insert(part.lost.begin(), part.lost.end());
    }
  }

  /// Calls `visit(device)` in the order of the mesh, beginning behind `source`, so that the load of
  /// a lost source spreads. Ends when `visit` returns false.
  template <typename Visit>
  void ForEachBehind(ptc::DeviceId source, int tensor, const ptc::Box& cell,
                     const Visit& visit) const {
    const auto part = std::ranges::find_if(parts_, [tensor](const Part& p) {
      return p.kinds.staged_of_tensor[At(tensor)] != ptc::kNotHere;
    });
    const ptc::Kinds& kinds = part->kinds;
    const ptc::DeviceMesh& mesh = kinds.from.mesh();
    const ptc::KindOnStages& staged = kinds.staged[At(kinds.staged_of_tensor[At(tensor)])];
    const ptc::Kind& kind = kinds.kinds[At(staged.kind)];
    std::vector<std::optional<bool>> holds(kind.pieces.held.size());  // by part, once known
    const int begin = mesh.RankOf(source).value_or(0);
    for (int i = 1; i < mesh.num_ranks(); ++i) {
      const int rank = (begin + i) % mesh.num_ranks();
      if (!kinds.from.IsOn(staged.from_stages, kinds.from.StageOf(rank))) continue;
      std::optional<bool>& known = holds[At(kinds.from.PartOf(kind.from_axes, rank))];
      if (!known) {
        const auto& pieces = kind.pieces.held[At(kinds.from.PartOf(kind.from_axes, rank))];
        known = ptc::PieceWith(pieces, cell) != nullptr;
      }
      const ptc::DeviceId device = mesh.devices()[At(rank)];
      if (!*known || part->lost.contains(device)) continue;
      if (!visit(device)) return;
    }
  }

 private:
  /// Tensors whose old pieces lie as in one layout.
  struct Part {
    ptc::Kinds kinds;
    std::set<ptc::DeviceId> lost;
  };
  std::vector<Part> parts_;
};

/// One batch for each node that cells come from.
class NodeBatches {
 public:
  explicit NodeBatches(const MoveContext& context) : context_(context) {}

  /// \error as FindNode
  Result<std::size_t> IndexOf(std::int32_t node) {
    if (const auto found = index_.find(node); found != index_.end()) return found->second;
    TESSERA_TRY(const MoveContext::Remote* const remote, FindNode(context_, node));
    index_.emplace(node, batches.size());
    batches.push_back({remote->lanes, remote->public_key, remote->tickets, {}});
    nodes.push_back(node);
    return batches.size() - 1;
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
  if (c.exchange) return Exchange(stop);
  const auto move_at = [&c](std::int64_t index) -> const ptc::RemoteCopy& {
    return std::get<ptc::RemoteCopy>(c.plan->moves[static_cast<std::size_t>(index)]);
  };
  const OldHolders holders(c);
  NodeBatches sources(c);
  for (std::int64_t i = 0; i < std::ssize(c.plan->moves); ++i) {
    const auto* m = std::get_if<ptc::RemoteCopy>(&c.plan->moves[static_cast<std::size_t>(i)]);
    if (!m || !c.local.contains(m->device) || !ptc::CrossesHosts(*m, c.topology)) continue;
    TESSERA_TRY(const engine::DeviceCell write,
                FindCell(c, NextPieces(c, m->device), m->tensor, m->piece, m->cell));
    const ptc::TensorSpec& spec = c.SpecOf(m->tensor);
    Fetch fetch{i,
                {m->source.index, c.LaneTensor(m->tensor), m->cell},
                write,
                engine::IndicesOf(c.TypeOf(m->tensor), spec.shape, m->cell),
                {}};
    holders.ForEachBehind(m->source, m->tensor, m->cell, [&](ptc::DeviceId other) {
      if (other.node != c.node && other.node != m->source.node && c.nodes.contains(other.node)) {
        const std::size_t batch = sources.IndexOf(other.node).value();
        fetch.others.push_back({batch, {other.index, c.LaneTensor(m->tensor), m->cell}});
      }
      return fetch.others.size() < kMostOthers;
    });
    TESSERA_TRY(const std::size_t batch, sources.IndexOf(m->source.node));
    sources.batches[batch].cells.push_back(std::move(fetch));
  }
  if (sources.batches.empty()) return OkStatus();

  FetchCallbacks callbacks;
  callbacks.progress = [&](std::size_t, std::int64_t index, std::int64_t bytes) {
    MoveFlow* const flow = FlowOf(move_at(index).source, move_at(index).device);
    flow->done += bytes;
    flow->note.Arrived(index);
  };
  callbacks.retried = [&](std::int64_t index, int attempt, int most, const std::string& why) {
    FlowOf(move_at(index).source, move_at(index).device)
        ->note.Retry(index, fmt::format("requested again, {} of {}: {}", attempt, most, why));
  };
  callbacks.replaced = [&](std::int64_t index, std::size_t from, std::size_t to, const Error& why) {
    FlowOf(move_at(index).source, move_at(index).device)
        ->note.Replace(fmt::format("from n{} instead of n{}: {}", sources.nodes[to],
                                   sources.nodes[from], why.message));
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
  options.counts = wire_.counts;
  const engine::LaneUse& use = context_->lane_use;
  if (use.lanes > 0) options.lanes = use.lanes;
  if (use.frame_bytes > 0) options.frame_bytes = use.frame_bytes;
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
