// SPDX-License-Identifier: Apache-2.0
/// \file
/// Moves cells between devices of different nodes without their hosts.

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "agents/move/mover.h"
#include "engine/copy/fused.h"

namespace tessera::agents {
namespace {

/// The copies of each flow of this node, in the order that both ends have.
using Flows =
    std::map<std::pair<ptc::DeviceId, ptc::DeviceId>, std::vector<const ptc::RemoteCopy*>>;

Flows FlowsOf(const MoveContext& c) {
  Flows flows;
  for (const ptc::Move& move : c.plan->moves) {
    const auto* const copy = std::get_if<ptc::RemoteCopy>(&move);
    if (copy == nullptr || !c.local.contains(copy->device) ||
        !ptc::CrossesHosts(*copy, c.topology)) {
      continue;
    }
    flows[{copy->source, copy->device}].push_back(copy);
  }
  for (const ptc::RemoteCopy& copy : *c.outgoing) {
    flows[{copy.source, copy.device}].push_back(&copy);
  }
  for (auto& [ends, copies] : flows) {
    std::ranges::sort(copies, {}, [](const ptc::RemoteCopy* copy) {
      return std::tie(copy->tensor, copy->cell, copy->piece);
    });
  }
  return flows;
}

}  // namespace

Status Mover::Exchange(const std::stop_token& stop) {
  const MoveContext& c = *context_;
  const Flows copies = FlowsOf(c);
  std::vector<engine::ExchangeFlow> flows;
  for (const auto& [ends, of_flow] : copies) {
    const auto& [source, destination] = ends;
    engine::ExchangeFlow flow{source, destination, c.local.contains(source), {}};
    for (std::size_t i = 0; i < of_flow.size(); ++i) {
      const ptc::RemoteCopy& copy = *of_flow[i];
      TESSERA_TRY(
          const engine::DeviceCell cell,
          flow.is_sent
              ? FindCell(c, OldPieces(c, source), copy.tensor, copy.from, copy.cell)
              : FindCell(c, NextPieces(c, destination), copy.tensor, copy.piece, copy.cell));
      flow.cells.push_back(
          {cell, engine::IndicesOf(c.TypeOf(copy.tensor), c.SpecOf(copy.tensor).shape, copy.cell),
           static_cast<std::int64_t>(i)});
    }
    flows.push_back(std::move(flow));
  }
  return c.exchange->Run(
      flows,
      [&](const engine::ExchangeFlow& flow, std::int64_t number, std::int64_t bytes,
          std::uint64_t digest) {
        const ptc::RemoteCopy& copy =
            *copies.at({flow.source, flow.destination})[static_cast<std::size_t>(number)];
        NoteArrival(flow.destination, copy.tensor, copy.cell, digest);
        FlowOf(flow.source, flow.destination)->done += bytes;
      },
      stop);
}

}  // namespace tessera::agents
