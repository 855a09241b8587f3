// SPDX-License-Identifier: Apache-2.0
#include "engine/search/plan_summary.h"

#include "engine/cluster/certificate.h"
#include "engine/search/estimate.h"
#include "ptc/certificate/certificate.h"

namespace tessera::engine {
namespace {

PlanSummary SummarizeSides(const ptc::Layout& from, const ptc::Layout& to,
                           const ptc::PlanFigures& plan) {
  PlanSummary summary;
  summary.from_layout_hash = ptc::Hex16(from.hash());
  summary.from_mesh = from.mesh().shape();
  summary.to_mesh = to.mesh().shape();
  summary.from_devices = from.mesh().devices();
  summary.to_devices = to.mesh().devices();
  summary.kept = plan.bytes.kept;
  summary.device = plan.bytes.device;
  summary.host = plan.bytes.host;
  summary.network = plan.bytes.network;
  summary.snapshot = plan.bytes.snapshot;
  summary.storage = plan.bytes.storage;
  summary.network_direct = plan.network_direct;
  summary.single_source = plan.single_source_pieces;
  return summary;
}

/// Adds the port that finishes last, and the flows.
void AddTransfer(const ptc::PlanFigures& plan, const std::vector<ptc::DeviceFlow>& flows,
                 PlanSummary& summary) {
  summary.certificate.port = plan.busiest_port.name;
  summary.certificate.port_bytes = plan.busiest_port.bytes;
  summary.certificate.port_seconds = plan.transfer_seconds;
  for (const ptc::DeviceFlow& flow : flows) {
    summary.flows.push_back({flow.source, flow.device, 0, flow.bytes, 0});
  }
}

}  // namespace

PlanSummary SummarizePlan(const ptc::Layout& from, const ptc::Layout& to, const ptc::Outline& plan,
                          const ptc::Topology& topology, const std::vector<ptc::DeviceId>& lost) {
  const ptc::PlanFigures figures = ptc::FiguresOf(plan);
  PlanSummary summary = SummarizeSides(from, to, figures);
  summary.relayed = !plan.relays.empty();
  const ptc::Certificate certificate = ptc::Certify(from, to, topology, lost, plan.port_prices);
  summary.volume_bound = certificate.volume;
  summary.certificate = Summarize(certificate, topology);
  summary.pause_estimate = EstimatePause(plan) + SecondsOfReplicas(from, to, topology, lost);
  AddTransfer(figures, ptc::DeviceFlows(plan), summary);
  return summary;
}

PlanSummary SummarizePlan(const ptc::Layout& from, const ptc::Layout& to,
                          const ptc::MixedPlan& plan) {
  const ptc::PlanFigures figures = ptc::FiguresOf(plan);
  PlanSummary summary = SummarizeSides(from, to, figures);
  summary.volume_bound = figures.bytes.moved();
  summary.pause_estimate = EstimatePause(plan.outlines);
  AddTransfer(figures, ptc::DeviceFlows(plan), summary);
  return summary;
}

}  // namespace tessera::engine
