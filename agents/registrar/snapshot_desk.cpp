// SPDX-License-Identifier: Apache-2.0
#include "agents/registrar/snapshot_desk.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "agents/wire/convert.h"
#include "engine/history/unreadable_rows.h"
#include "ptc/digest.h"

namespace tessera::agents {
namespace {

constexpr auto kLongestMaking = std::chrono::seconds(60);  // for the nodes to complete their shares
constexpr auto kPauseAfterFailure = std::chrono::seconds(5);

std::string RowOf(const std::string& job) { return "snapshot/" + job; }

}  // namespace

Status SnapshotDesk::Recover() {
  TESSERA_TRY(const auto rows, world_.journal->List("snapshot/"));
  for (const auto& [key, text] : rows) {
    auto parsed = ParseSnapshotRow(key, text);
    if (!parsed) {
      TESSERA_TRY(const std::string note,
                  engine::SetAside(*world_.journal, "registrar.db", key, text, parsed.error()));
      world_.warn("registrar", note);
      continue;
    }
    Entry& entry = entries_[parsed->state.job];
    SetNewest(entry, std::move(*parsed));
    entry.unheard = entry.plan->nodes();
  }
  return OkStatus();
}

void SnapshotDesk::SetNewest(Entry& entry, SnapshotRow row) {
  entry.plan = engine::ViewPlan::OfSnapshot(row.state.layout, row.state.guest);
  entry.status.step = row.state.step;
  entry.status.bytes = entry.plan->total_bytes();
  entry.status.num_nodes = std::ssize(entry.plan->bytes_of_node());
  entry.newest = std::move(row);
  entry.lacking.clear();
  entry.unheard.clear();
}

void SnapshotDesk::NoteShare(Entry& entry, std::int32_t node, bool has_share) {
  if (!entry.newest || !entry.plan->bytes_of_node().contains(node)) return;
  entry.unheard.erase(node);
  if (has_share) {
    entry.lacking.erase(node);
  } else {
    entry.lacking.insert(node);
  }
}

bool SnapshotDesk::IsWhole(const Entry& entry) {
  if (entry.lacking.empty()) return true;
  std::set<std::int32_t> holders = entry.plan->nodes();
  std::erase_if(holders, [&](std::int32_t node) { return entry.lacking.contains(node); });
  return entry.plan->IsCoveredBy(holders);
}

// Nodes do not know the digest, so it is not compared after a return.
Result<SnapshotDesk::Adoption> SnapshotDesk::Adopt(
    std::vector<SnapshotRow> rows, const std::map<std::uint64_t, std::set<std::int32_t>>& holders) {
  Adoption out;
  const auto version = [](const SnapshotRow& row) {
    return std::pair(row.state.timeline, row.state.step);
  };
  std::ranges::sort(rows, std::ranges::greater(), version);
  for (SnapshotRow& row : rows) {
    Entry& entry = entries_[row.state.job];
    if (entry.newest && IsWhole(entry) && version(*entry.newest) >= version(row)) return out;
    const auto found = holders.find(row.id);
    const std::set<std::int32_t> nodes =
        found == holders.end() ? std::set<std::int32_t>() : found->second;
    const auto plan = engine::ViewPlan::OfSnapshot(row.state.layout, row.state.guest);
    if (!plan.IsCoveredBy(nodes)) {
      if (!out.incomplete) out.incomplete = row.state.step;
      continue;
    }
    row.of_timeline = row.state.timeline;
    TESSERA_RETURN_IF_ERROR(world_.journal->Put(RowOf(row.state.job), ToText(row)));
    SetNewest(entry, std::move(row));
    for (const std::int32_t node : plan.nodes()) NoteShare(entry, node, nodes.contains(node));
    out.step = entry.status.step;
    return out;
  }
  return out;
}

// So early that the next snapshot is complete `every` steps after the last one.
bool SnapshotDesk::IsDue(const Entry& entry, const Facts& facts, Clock::time_point now) {
  if (!entry.newest || entry.newest->of_timeline != facts.timeline) return true;
  if (facts.every.seconds > 0)
    return now - entry.began >= std::chrono::seconds(facts.every.seconds);
  const double length = std::max(facts.step_seconds, 1e-3);
  const double steps_to_complete = std::ceil(entry.status.seconds / length) + 1;
  const double lead = std::min(steps_to_complete, static_cast<double>(facts.every.steps) / 2);
  return facts.step >=
         entry.newest->state.step + facts.every.steps - static_cast<std::int64_t>(lead);
}

void SnapshotDesk::Consider(const Facts& facts, Clock::time_point now) {
  if (!facts.every.is_on()) {
    if (!facts.keeps && entries_.contains(facts.job)) Forget(facts.job);
    return;
  }
  Entry& entry = entries_[facts.job];
  if (!facts.runs || entry.is_taking || entry.making) return;
  if (entry.not_before && now < *entry.not_before) return;
  if (!IsDue(entry, facts, now)) return;
  entry.is_taking = true;
  entry.began = now;
  world_.take(facts.job,
              [this, job = facts.job, timeline = facts.timeline](Result<wire::ViewReply> shares) {
                OnTaken(job, timeline, std::move(shares));
              });
}

void SnapshotDesk::OnTaken(const std::string& job, std::int64_t timeline,
                           Result<wire::ViewReply> shares) {
  const auto found = entries_.find(job);
  if (found == entries_.end() || !found->second.is_taking) return;  // forgotten
  Entry& entry = found->second;
  entry.is_taking = false;
  const auto fail = [&](const Error& why) { GiveUp(job, entry, why, entry.began); };
  if (!shares) return fail(shares.error());
  auto state = DecodeSharedState(shares->job());
  if (!state) return fail(state.error());
  Making making{{shares->view(), std::move(*state)}, {}, {}, 0, {}};
  making.row.of_timeline = timeline;
  making.digests.resize(making.row.state.layout.collection().tensors().size(), 0);
  for (const wire::ViewShare& share : shares->shares()) {
    making.nodes.insert(share.node());
    making.bytes += share.bytes();
  }
  if (making.row.state.guest) {  // it has the same cells as the one node of the job
    making.nodes.insert(*making.row.state.guest);
    making.bytes *= 2;
  }
  making.waiting = making.nodes;
  entry.making = std::move(making);
  wire::ToNode message;
  *message.mutable_complete_snapshot()->mutable_shares() = std::move(*shares);
  const std::set<std::int32_t> nodes = entry.making->nodes;
  for (const std::int32_t node : nodes) {
    if (const Status sent = world_.send(node, message); !sent) return fail(sent.error());
  }
}

void SnapshotDesk::Tick(Clock::time_point now) {
  for (auto& [job, entry] : entries_) {
    if (!entry.making) continue;
    const Status renewed = world_.renew(entry.making->row.id);
    if (!renewed) {
      GiveUp(job, entry, renewed.error(), now);
    } else if (now - entry.began > kLongestMaking) {
      GiveUp(job, entry,
             Timeout("n" + std::to_string(*entry.making->waiting.begin()) +
                     " did not complete its share in time"),
             now);
    }
  }
}

void SnapshotDesk::OnReport(std::int32_t node, const wire::SnapshotReport& report,
                            Clock::time_point now) {
  for (auto& [job, entry] : entries_) {
    if (!entry.making || entry.making->row.id != report.view()) continue;
    Making& making = *entry.making;
    if (!making.waiting.contains(node)) return;
    if (report.has_error()) return GiveUp(job, entry, Decode(report.error()), now);
    if (report.digests().size() != std::ssize(making.digests)) {
      return GiveUp(job, entry, InvalidArgument("a report of digests for other tensors"), now);
    }
    making.waiting.erase(node);
    for (int t = 0; t < report.digests().size(); ++t) {
      making.digests[static_cast<std::size_t>(t)] += report.digests(t);
    }
    if (making.waiting.empty()) Finish(job, entry, now);
    return;
  }
}

void SnapshotDesk::Finish(const std::string& job, Entry& entry, Clock::time_point now) {
  Making& making = *entry.making;
  making.row.digest =
      ptc::Hex16(ptc::CollectionDigest(making.row.state.layout.collection(), making.digests));
  // Without the row a restarted registrar would free the shares.
  if (const Status kept = world_.journal->Put(RowOf(job), ToText(making.row)); !kept) {
    return GiveUp(job, entry, kept.error(), now);
  }
  if (entry.newest) SendDrop(entry.newest->id, entry.plan->nodes());
  const bool has_same_plan = entry.newest &&
                             entry.newest->state.layout.hash() == making.row.state.layout.hash() &&
                             entry.newest->state.guest == making.row.state.guest;
  entry.newest = std::move(making.row);
  entry.lacking.clear();
  entry.unheard.clear();
  if (!has_same_plan)
    entry.plan =
        engine::ViewPlan::OfSnapshot(entry.newest->state.layout, entry.newest->state.guest);
  engine::SnapshotStatus& status = entry.status;
  status.step = entry.newest->state.step;
  status.bytes = making.bytes;
  status.num_nodes = std::ssize(making.nodes);
  status.seconds = std::chrono::duration<double>(now - entry.began).count();
  status.problem.clear();
  ++status.taken;
  entry.making.reset();
}

void SnapshotDesk::GiveUp(const std::string& job, Entry& entry, const Error& why,
                          Clock::time_point now) {
  if (entry.making) SendDrop(entry.making->row.id, entry.making->nodes);
  entry.making.reset();
  entry.not_before = now + kPauseAfterFailure;
  ++entry.status.given_up;
  const std::string text = why.ToString();
  if (text != std::exchange(entry.status.problem, text)) {
    world_.warn(job, "a snapshot was given up: " + text);
  }
}

void SnapshotDesk::SendDrop(std::uint64_t id, const std::set<std::int32_t>& nodes) {
  wire::ToNode drop, release;
  drop.mutable_drop_snapshots()->add_views(id);
  release.mutable_release_views()->add_views(id);
  for (const std::int32_t node :
       nodes) {  // a node that is away gets this when it reports the share
    static_cast<void>(world_.send(node, drop));
    static_cast<void>(world_.send(node, release));
  }
}

void SnapshotDesk::OnNodeGone(std::int32_t node, const std::string& why, Clock::time_point now) {
  for (auto& [job, entry] : entries_) {
    NoteShare(entry, node, false);
    if (entry.making && entry.making->waiting.contains(node)) {
      GiveUp(job, entry, Unavailable(why), now);
    }
  }
}

void SnapshotDesk::OnHeld(std::int32_t node,
                          const google::protobuf::RepeatedPtrField<wire::HeldSnapshot>& held) {
  for (auto& [job, entry] : entries_) {
    if (!entry.newest) continue;
    const std::uint64_t id = entry.newest->id;
    NoteShare(entry, node, std::ranges::count(held, id, &wire::HeldSnapshot::view) > 0);
  }
  for (const wire::HeldSnapshot& share : held) {
    const auto entry = entries_.find(share.job());
    const bool is_known = entry != entries_.end();
    const bool is_newest =
        is_known && entry->second.newest && entry->second.newest->id == share.view();
    const bool is_made =
        is_known && entry->second.making && entry->second.making->row.id == share.view();
    // A registrar that has lost the row of the job has lost the row of its snapshot too.
    const bool is_of_use = world_.may_free && !world_.may_free(share.job(), share.origin());
    if (!is_newest && !is_made && !is_of_use) SendDrop(share.view(), {node});
  }
}

void SnapshotDesk::Forget(const std::string& job) {
  const auto found = entries_.find(job);
  if (found == entries_.end()) return;
  const Entry entry = std::move(found->second);
  entries_.erase(found);
  static_cast<void>(world_.journal->Erase(RowOf(job)));
  if (entry.newest) SendDrop(entry.newest->id, entry.plan->nodes());
  if (entry.making) SendDrop(entry.making->row.id, entry.making->nodes);
}

void SnapshotDesk::OnReturned(const std::string& job, std::int64_t timeline) {
  const auto found = entries_.find(job);
  if (found == entries_.end() || !found->second.newest) return;
  SnapshotRow& row = *found->second.newest;
  row.of_timeline = timeline;
  static_cast<void>(world_.journal->Put(RowOf(job), ToText(row)));
}

const SnapshotRow* SnapshotDesk::Find(const std::string& job, std::int64_t timeline) const {
  const auto found = entries_.find(job);
  if (found == entries_.end() || !found->second.newest) return nullptr;
  const SnapshotRow& row = *found->second.newest;
  return row.of_timeline == timeline ? &row : nullptr;
}

bool SnapshotDesk::IsCovered(const std::string& job, const std::set<std::int32_t>& nodes) const {
  const auto found = entries_.find(job);
  return found != entries_.end() && found->second.plan && found->second.plan->IsCoveredBy(nodes);
}

engine::SnapshotStatus SnapshotDesk::StatusOf(const std::string& job,
                                              std::optional<std::int64_t> timeline) const {
  const auto found = entries_.find(job);
  if (found == entries_.end()) return {};
  const Entry& entry = found->second;
  engine::SnapshotStatus status = entry.status;
  if (!entry.newest) return status;
  const bool may_return = !timeline || entry.newest->of_timeline == *timeline;
  if (may_return && entry.lacking.empty() && entry.unheard.empty()) return status;
  std::set<std::int32_t> holders = entry.plan->nodes();
  std::erase_if(holders, [&](std::int32_t node) {
    return entry.lacking.contains(node) || entry.unheard.contains(node);
  });
  if (may_return && entry.plan->IsCoveredBy(holders)) {
    status.num_nodes = std::ssize(holders);
    status.bytes = 0;
    for (const std::int32_t node : holders) status.bytes += entry.plan->bytes_of_node().at(node);
    return status;
  }
  if (may_return && !IsWhole(entry)) {
    status.problem = fmt::format("the snapshot of step {} is incomplete: n{} report no share",
                                 entry.newest->state.step, fmt::join(entry.lacking, ", n"));
  }
  status.step.reset();
  status.bytes = status.num_nodes = 0;
  return status;
}

}  // namespace tessera::agents
