// SPDX-License-Identifier: Apache-2.0
#include "engine/cluster/snapshot_change.h"

#include <algorithm>
#include <utility>

namespace tessera::engine {
namespace {

JobStatus* FindJob(std::vector<JobStatus>& jobs, const std::string& name) {
  const auto found = std::ranges::find(jobs, name, &JobStatus::name);
  return found == jobs.end() ? nullptr : &*found;
}

/// Inserts the row or replaces that of the same node.
void PutNode(std::vector<NodeStatus>& nodes, const NodeStatus& row) {
  const auto at = std::ranges::lower_bound(nodes, row.node, {}, &NodeStatus::node);
  if (at != nodes.end() && at->node == row.node) {
    *at = row;
  } else {
    nodes.insert(at, row);
  }
}

bool HasNode(const std::vector<NodeStatus>& nodes, const NodeStatus& row) {
  const auto at = std::ranges::lower_bound(nodes, row.node, {}, &NodeStatus::node);
  return at != nodes.end() && *at == row;
}

/// Everything but nodes, jobs and the transaction.
void CopyFields(const ClusterSnapshot& from, ClusterSnapshot& to) {
  to.cluster = from.cluster;
  to.sequence = from.sequence;
  to.link_bytes_per_second = from.link_bytes_per_second;
  to.one_host = from.one_host;
  to.history_problem = from.history_problem;
  to.plain_lanes = from.plain_lanes;
  to.lease = from.lease;
  to.simulation = from.simulation;
}

/// Whether one of them differs, except the sequence.
bool FieldsDiffer(const ClusterSnapshot& a, const ClusterSnapshot& b) {
  return a.cluster != b.cluster || a.link_bytes_per_second != b.link_bytes_per_second ||
         a.one_host != b.one_host || a.history_problem != b.history_problem ||
         a.plain_lanes != b.plain_lanes || a.lease != b.lease || a.simulation != b.simulation;
}

auto EndsOf(const FlowStatus& flow) { return std::pair(flow.source, flow.destination); }

bool GoesOn(const TxnStatus& before, const TxnStatus& now) {
  return before.id == now.id && before.from_devices == now.from_devices &&
         before.to_devices == now.to_devices && before.flows.size() == now.flows.size() &&
         std::ranges::equal(before.flows, now.flows, {}, EndsOf, EndsOf);
}

/// `now` without what is as in `before`.
TxnStatus Difference(const TxnStatus& before, const TxnStatus& now) {
  TxnStatus out = now;
  out.from_devices.clear();
  out.to_devices.clear();
  out.flows.clear();
  for (std::size_t i = 0; i < now.flows.size(); ++i) {
    if (now.flows[i] != before.flows[i]) out.flows.push_back(now.flows[i]);
  }
  return out;
}

Status ApplyTransaction(const TxnStatus& change, TxnStatus& state) {
  TxnStatus now = change;
  now.from_devices = std::move(state.from_devices);
  now.to_devices = std::move(state.to_devices);
  now.flows = std::move(state.flows);
  auto at = now.flows.begin();
  for (const FlowStatus& flow : change.flows) {
    at = std::find_if(at, now.flows.end(),
                      [&](const FlowStatus& held) { return EndsOf(held) == EndsOf(flow); });
    if (at == now.flows.end()) return FailedPrecondition("a flow is not in the transaction");
    *at = flow;
  }
  state = std::move(now);
  return OkStatus();
}

}  // namespace

SnapshotChange Advance(ClusterSnapshot& state, ClusterSnapshot now) {
  SnapshotChange change;
  change.differs =
      FieldsDiffer(state, now) ||
      !std::ranges::equal(state.jobs, now.jobs, {}, &JobStatus::name, &JobStatus::name);
  CopyFields(now, state);
  CopyFields(now, change.rows);

  if (state.nodes.empty()) {
    state.nodes = now.nodes;
    change.rows.nodes = std::move(now.nodes);
  } else {
    for (NodeStatus& row : now.nodes) {
      if (HasNode(state.nodes, row)) continue;
      PutNode(state.nodes, row);
      change.rows.nodes.push_back(std::move(row));
    }
  }

  for (const JobStatus& row : now.jobs) {
    change.jobs.push_back(row.name);
    const JobStatus* const before = FindJob(state.jobs, row.name);
    if (before && *before == row) continue;
    change.rows.jobs.push_back(row);
    if (!before || before->devices != row.devices) continue;
    change.rows.jobs.back().devices.clear();
    change.same_devices.insert(row.name);
  }
  state.jobs = std::move(now.jobs);

  change.same_transaction = now.transaction == state.transaction;
  if (!change.same_transaction) {
    change.transaction_goes_on =
        state.transaction && now.transaction && GoesOn(*state.transaction, *now.transaction);
    change.rows.transaction = change.transaction_goes_on
                                  ? Difference(*state.transaction, *now.transaction)
                                  : now.transaction;
    state.transaction = std::move(now.transaction);
  }
  change.differs = change.differs || !change.same_transaction || !change.rows.nodes.empty() ||
                   !change.rows.jobs.empty();
  return change;
}

Status Apply(const SnapshotChange& change, ClusterSnapshot& state) {
  CopyFields(change.rows, state);
  for (const NodeStatus& row : change.rows.nodes) PutNode(state.nodes, row);

  std::vector<JobStatus> rows = change.rows.jobs;
  std::vector<JobStatus> jobs;
  for (const std::string& name : change.jobs) {
    JobStatus* const row = FindJob(rows, name);
    JobStatus* const before = FindJob(state.jobs, name);
    const bool needs_before = !row || change.same_devices.contains(name);
    if (needs_before && !before) return FailedPrecondition("job '" + name + "' is not known");
    if (!row) {
      jobs.push_back(std::move(*before));
      continue;
    }
    if (needs_before) row->devices = std::move(before->devices);
    jobs.push_back(std::move(*row));
  }
  state.jobs = std::move(jobs);

  if (change.same_transaction) return OkStatus();
  if (!change.transaction_goes_on) {
    state.transaction = change.rows.transaction;
    return OkStatus();
  }
  if (!change.rows.transaction || !state.transaction) {
    return FailedPrecondition("there is no transaction that goes on");
  }
  return ApplyTransaction(*change.rows.transaction, *state.transaction);
}

}  // namespace tessera::engine
