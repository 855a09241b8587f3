// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/mirrored_journal.h"

#include <algorithm>
#include <array>

#include "agents/node/job_row.h"
#include "agents/registrar/job.h"
#include "agents/registrar/txn_row.h"

namespace tessera::agents {
namespace {

constexpr std::string_view kJobRows = "job/", kTxnRow = "txn";
// `decision/` is in the register, `act/` matters to clients of this registrar only, and what is
// measured or recorded of steps can be measured and reported again.
constexpr std::array<std::string_view, 7> kMirrored = {kJobRows,
                                                       "ended-job/",
                                                       kTxnRow,
                                                       "snapshot/",
                                                       "checkpoint/",
                                                       "checkpoint-schedule/",
                                                       "checkpoint-lineage/"};

bool IsMirrored(std::string_view key) {
  return std::ranges::any_of(kMirrored,
                             [&](std::string_view prefix) { return key.starts_with(prefix); });
}

}  // namespace

Status MirroredJournal::Recover() {
  for (const std::string_view prefix : kMirrored) {
    TESSERA_TRY(const auto rows, journal_.List(prefix));
    for (const auto& [key, value] : rows) Mirror(key, value);
  }
  return OkStatus();
}

void MirroredJournal::OnRegister(std::int32_t node, const std::string& identity) {
  routes_[node] = identity;
  for (const auto& [key, row] : rows_) {
    if (row.nodes.contains(node)) SendRow(node, row.row);
  }
}

Status MirroredJournal::Put(std::string_view key, std::string_view value) {
  Status put = journal_.Put(key, value);
  if (put) Mirror(key, value);
  return put;
}

Status MirroredJournal::Erase(std::string_view key) {
  Status erased = journal_.Erase(key);
  if (erased && rows_.contains(std::string(key))) Mirror(key, std::nullopt);
  return erased;
}

// Nodes that have left a job learn of its newest row as well: an older one must not count later.
void MirroredJournal::Mirror(std::string_view key, std::optional<std::string_view> value) {
  if (!IsMirrored(key)) return;
  Row& row = rows_[std::string(key)];
  revision_ = std::max(revision_ + 1, clock_());
  row.row.set_key(std::string(key));
  row.row.set_value(std::string(value.value_or(std::string_view())));
  row.row.set_erased(!value.has_value());
  row.row.set_revision(revision_);
  if (value) row.nodes.merge(NodesFor(row.row.key(), row.row.value()));
  for (const std::int32_t node : row.nodes) SendRow(node, row.row);
}

std::set<std::int32_t> MirroredJournal::NodesFor(const std::string& key,
                                                 const std::string& value) const {
  std::set<std::int32_t> nodes;
  if (key.starts_with(kJobRows)) {
    if (const auto row = ParseJobTableRow(key, value)) nodes = NodesOf(row->job.layout.mesh());
    return nodes;
  }
  if (key == kTxnRow) {
    const auto row = ParseTxnRow(value);
    if (!row) return nodes;
    nodes = NodesOf(row->to.mesh());
    const auto job = rows_.find(std::string(kJobRows) + row->job);
    if (job != rows_.end()) nodes.insert(job->second.nodes.begin(), job->second.nodes.end());
    return nodes;
  }
  // Few and small.
  for (const auto& [other, row] : rows_) {
    if (other.starts_with(kJobRows)) nodes.insert(row.nodes.begin(), row.nodes.end());
  }
  return nodes;
}

void MirroredJournal::SendRow(std::int32_t node, const wire::KeptRow& row) const {
  const auto route = routes_.find(node);
  if (route == routes_.end()) return;  // it gets the row when it registers
  wire::ToNode message;
  *message.mutable_keep_row() = row;
  send_(route->second, message);
}

}  // namespace tessera::agents
