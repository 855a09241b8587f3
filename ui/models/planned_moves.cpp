// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/planned_moves.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "ptc/plan/plan.h"
#include "ui/models/job_place.h"

namespace tessera::ui {
namespace {

ptc::Topology topologyOf(const engine::PlanSummary& plan, const engine::ClusterSnapshot& cluster) {
  ptc::Topology topology;
  std::map<std::string, std::int32_t> hosts;
  for (const engine::NodeStatus& node : cluster.nodes) {
    if (node.host.empty()) continue;
    topology.host_of_node[node.node] = hosts.emplace(node.host, node.node).first->second;
  }
  const engine::PlanCertificate& certificate = plan.certificate;
  if (certificate.host_bytes_per_second > 0) {
    topology.host_bytes_per_second = certificate.host_bytes_per_second;
  }
  if (certificate.network_bytes_per_second > 0) {
    topology.network_bytes_per_second = certificate.network_bytes_per_second;
  }
  return topology;
}

using Pairs = std::map<std::pair<ptc::DeviceId, ptc::DeviceId>, std::int64_t>;

Pairs pairsOf(const std::vector<engine::FlowStatus>& flows) {
  Pairs pairs;
  for (const auto& flow : flows) {
    if (flow.bytes_total > 0) pairs[{flow.source, flow.destination}] += flow.bytes_total;
  }
  return pairs;
}

Pairs pairsOf(const std::vector<ptc::DeviceFlow>& flows) {
  Pairs pairs;
  for (const auto& flow : flows) {
    if (flow.bytes > 0) pairs[{flow.source, flow.device}] += flow.bytes;
  }
  return pairs;
}

}  // namespace

PlannedMoves::PlannedMoves(engine::vfs::JobFactsPtr state, ptc::Layout next, ptc::Outline outline)
    : m_state(std::move(state)), m_next(std::move(next)), m_outline(std::move(outline)) {}

Result<PlannedMoves::Ptr> PlannedMoves::make(const engine::vfs::JobFactsPtr& state,
                                             const engine::PlanSummary& plan,
                                             const engine::ClusterSnapshot& cluster) {
  if (plan.snapshot > 0 || plan.storage > 0) {
    return FailedPrecondition("the plan reads from snapshots or checkpoints");
  }
  TESSERA_TRY(auto mesh, ptc::DeviceMesh::Make(plan.to_mesh, plan.to_devices));
  TESSERA_TRY(ptc::Layout next, layoutAt(state->info, plan.from_options,
                                         {std::move(mesh), plan.to_options}));
  const auto relaying = plan.relayed ? ptc::Relaying::kAlways : ptc::Relaying::kNever;
  TESSERA_TRY(ptc::Outline outline,
              ptc::MakeOutline(state->info.layout, next, topologyOf(plan, cluster),
                               {.relaying = relaying, .with_figures = false}));
  if (pairsOf(ptc::DeviceFlows(outline)) != pairsOf(plan.flows)) {
    return FailedPrecondition("the plan of the cluster has other flows");
  }
  return Ptr(new PlannedMoves(state, std::move(next), std::move(outline)));
}

std::optional<std::vector<TensorMove>> PlannedMoves::between(
    const std::set<ptc::DeviceId>& from, const std::set<ptc::DeviceId>& to) const {
  const auto& tensors = m_state->info.layout.collection().tensors();
  std::vector<TensorMove> moves;
  // One device at a time, because a move takes some hundred bytes and most are of other sources.
  for (const ptc::DeviceId device : to) {
    const auto all = ptc::MovesOf(m_outline, m_state->info.layout, m_next, std::span(&device, 1));
    for (const ptc::Move& move : all.moves) {
      const auto* copy = std::get_if<ptc::RemoteCopy>(&move);
      if (copy == nullptr || !from.contains(copy->source)) continue;
      if (moves.size() == kMostMoves) return {};
      const auto& spec = tensors[static_cast<std::size_t>(copy->tensor)];
      moves.push_back({copy->tensor, copy->cell, copy->source, copy->device,
                       copy->cell.num_elements() * ptc::SizeBytes(spec.dtype)});
    }
  }
  return moves;
}

struct MoveLister::Made {
  PlannedMoves::Ptr plan;
  bool tried = false;
};

MoveLister::MoveLister(QObject* parent) : QObject(parent) { m_pool.setMaxThreadCount(1); }

// Jobs on the thread call back to this object, so wait for them.
MoveLister::~MoveLister() {
  m_pool.clear();
  m_pool.waitForDone();
}

void MoveLister::clear() {
  if (!m_plan) return;
  ++m_generation;
  m_pool.clear();
  m_plan.reset();
  m_made.reset();
  m_busy = false;
  m_moves.reset();
  emit listed();
}

void MoveLister::request(engine::vfs::JobFactsPtr state, PlanPtr plan,
                         std::shared_ptr<const engine::ClusterSnapshot> cluster,
                         std::set<ptc::DeviceId> from, std::set<ptc::DeviceId> to) {
  const bool samePlan = m_plan && m_layoutHash == state->layout_hash && *m_plan == *plan;
  if (samePlan && from == m_from && to == m_to) return;
  if (!samePlan) m_made = std::make_shared<Made>();
  m_layoutHash = state->layout_hash;
  m_plan = plan;
  m_from = from;
  m_to = to;
  m_moves.reset();
  m_busy = true;
  ++m_generation;
  m_pool.clear();
  m_pool.start([this, made = m_made, generation = m_generation, state = std::move(state),
                plan = std::move(plan), cluster = std::move(cluster), from = std::move(from),
                to = std::move(to)] {
    if (!std::exchange(made->tried, true)) {
      if (auto plans = PlannedMoves::make(state, *plan, *cluster)) made->plan = *plans;
    }
    Moves moves;
    if (made->plan) {
      if (auto list = made->plan->between(from, to)) {
        moves = std::make_shared<const std::vector<TensorMove>>(std::move(*list));
      }
    }
    QMetaObject::invokeMethod(
        this,
        [this, generation, moves] {
          if (generation != m_generation) return;
          m_busy = false;
          m_moves = moves;
          emit listed();
        },
        Qt::QueuedConnection);
  });
  emit listed();
}

}  // namespace tessera::ui
