// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/transfer_count.h"

#include <algorithm>

#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/node.pb.h"

namespace tessera::agents {

TransferCount::TransferCount(const std::vector<engine::FlowStatus>& planned) {
  for (const engine::FlowStatus& flow : planned) flows_[{flow.source, flow.destination}] = flow;
}

void TransferCount::Note(std::int32_t node, const wire::TxnProgress& report, double seconds) {
  for (const wire::FlowInfo& row : report.flows()) {
    const auto source = Decode(row.source());
    const auto destination = Decode(row.destination());
    if (!source || !destination || destination->node != node) continue;
    engine::FlowStatus& flow = flows_[{*source, *destination}];
    flow.source = *source;
    flow.destination = *destination;
    flow.bytes_done = std::max(flow.bytes_done, row.bytes_done());
    if (seconds > 0) flow.bytes_per_second = static_cast<double>(flow.bytes_done) / seconds;
  }
  std::int64_t& handed_in = handed_in_[node];
  handed_in = std::max(handed_in, report.storage_done());
}

std::vector<engine::FlowStatus> TransferCount::flows() const {
  std::vector<engine::FlowStatus> out;
  for (const auto& [ends, flow] : flows_) out.push_back(flow);
  return out;
}

std::int64_t TransferCount::bytes() const {
  std::int64_t bytes = 0;
  for (const auto& [ends, flow] : flows_) bytes += flow.bytes_done;
  for (const auto& [node, done] : handed_in_) bytes += done;
  return bytes;
}

}  // namespace tessera::agents
