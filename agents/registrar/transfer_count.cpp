// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/transfer_count.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "agents/wire/convert.h"
#include "agents/wire/tessera/wire/node.pb.h"

namespace tessera::agents {
namespace {
constexpr double kStalledAfter = 3;
constexpr std::size_t kLongestFlowReason = 300;  // bytes
}  // namespace

TransferCount::TransferCount(const std::vector<engine::FlowStatus>& planned)
    : most_flows_(2 * planned.size() + kMostOthers) {
  for (const engine::FlowStatus& flow : planned) {
    flows_[{flow.source, flow.destination}].status = flow;
  }
}

void TransferCount::Note(std::int32_t node, const wire::TxnProgress& report, double seconds) {
  for (const wire::FlowInfo& row : report.flows()) {
    const auto source = Decode(row.source());
    const auto destination = Decode(row.destination());
    if (!source || !destination || destination->node != node) continue;
    const std::pair ends(*source, *destination);
    if (flows_.size() >= most_flows_ && !flows_.contains(ends)) continue;
    auto& [flow, grew] = flows_[ends];
    if (row.bytes_done() > flow.bytes_done) grew = seconds;
    flow.source = *source;
    flow.destination = *destination;
    Add(row.bytes_done() - flow.bytes_done);
    flow.bytes_done = std::max(flow.bytes_done, row.bytes_done());
    flow.reason = row.reason().substr(0, kLongestFlowReason);
    if (seconds > 0) flow.bytes_per_second = static_cast<double>(flow.bytes_done) / seconds;
  }
  std::int64_t& handed_in = handed_in_[node];
  Add(report.storage_done() - handed_in);
  handed_in = std::max(handed_in, report.storage_done());
}

// Two of the largest numbers that a node may report do not overflow.
void TransferCount::Add(std::int64_t bytes) {
  constexpr std::int64_t kMost = std::int64_t{1} << 62;
  bytes_ = std::min(bytes_ + std::max<std::int64_t>(bytes, 0), kMost);
}

std::vector<engine::FlowStatus> TransferCount::flows(double seconds) const {
  std::vector<engine::FlowStatus> out;
  for (const auto& [ends, flow] : flows_) {
    engine::FlowStatus& added = out.emplace_back(flow.status);
    if (added.bytes_done >= added.bytes_total) {
      added.state = engine::FlowState::kDone;
      added.reason.clear();
    } else if (added.bytes_done == 0) {
      added.state = engine::FlowState::kWaiting;
    } else {
      const double since = seconds - flow.grew;
      const bool is_stalled = since > kStalledAfter;
      added.state = is_stalled ? engine::FlowState::kStalled : engine::FlowState::kMoving;
      if (is_stalled && added.reason.empty()) {
        added.reason = fmt::format("nothing has arrived for {:.0f} s", std::floor(since));
      }
    }
  }
  return out;
}

}  // namespace tessera::agents
