// SPDX-License-Identifier: Apache-2.0
#include "agents/sim/sim_views.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "agents/wire/convert.h"

namespace tessera::agents::sim {
namespace {

constexpr Time kLook = 10;

wire::ViewReport Failed(const Error& error) {
  wire::ViewReport out;
  out.set_kind(wire::ViewReport::FAILED);
  Encode(error, out.mutable_error());
  return out;
}

}  // namespace

void SimViews::Take(const wire::TakeView& message, const Job& job, TakeReply reply) {
  const std::uint64_t view = message.view();
  if (job.row.epoch != message.epoch() || world_.fails()) {
    wire::ViewReport failed = Failed(Unavailable("not now"));
    failed.set_view(view);
    return reply(std::move(failed));
  }
  GiveUp(message.job());
  taking_.insert_or_assign(view, Taking{message, job.row.layout, job.row.origin, std::move(reply)});
  Look(view);
  if (job.paused_at) OnPaused(message.job(), *job.paused_at);
}

void SimViews::Look(std::uint64_t view) {
  const auto found = taking_.find(view);
  if (found == taking_.end()) return;
  const wire::TakeView& m = found->second.message;
  wire::ViewReport report;
  std::set<std::int64_t> versions;
  bool is_there = true;
  for (const ptc::DeviceId device : found->second.layout.mesh().devices()) {
    if (device.node != world_.node) continue;
    DeviceMemory& memory = *world_.memory_of(device);
    const auto begin = static_cast<std::int64_t>(memory.header().begin.load());
    const auto end = static_cast<std::int64_t>(memory.header().end.load());
    if (begin > m.step()) {
      report.set_kind(wire::ViewReport::TOO_LATE);
      report.set_step(begin);
      return Finish(view, std::move(report));
    }
    is_there = is_there && end == m.step();
    versions.insert(memory.VersionOf(m.job(), m.epoch()));
  }
  if (!is_there) return process_.EnterLater(kLook, [this, view] { Look(view); });
  const std::int64_t version = versions.size() == 1 ? *versions.begin() : Content::kRubbish;
  taken_.insert_or_assign(view,
                          SimShare{m.job(), version, found->second.layout, found->second.origin});
  report.set_kind(wire::ViewReport::TAKEN);
  report.set_bytes(1);
  Finish(view, std::move(report));
}

void SimViews::Finish(std::uint64_t view, wire::ViewReport report) {
  const auto found = taking_.find(view);
  const TakeReply reply = std::move(found->second.reply);
  taking_.erase(found);
  report.set_view(view);
  reply(std::move(report));
}

void SimViews::OnPaused(const std::string& job, std::int64_t step) {
  std::vector<std::uint64_t> before;
  for (const auto& [view, taking] : taking_) {
    if (taking.message.job() == job && taking.message.step() > step) before.push_back(view);
  }
  for (const std::uint64_t view : before) {
    wire::ViewReport report;
    report.set_kind(wire::ViewReport::PAUSED);
    report.set_step(step);
    Finish(view, std::move(report));
  }
}

void SimViews::Complete(const wire::CompleteSnapshot& message, CompleteReply reply) {
  process_.EnterLater(world_.sim->Pick(5, 150), [this, shares = message.shares(), reply] {
    wire::SnapshotReport report;
    report.set_view(shares.view());
    TakeAsGuest(shares);
    const auto share = taken_.find(shares.view());
    if (share == taken_.end() || world_.fails()) {
      Encode(NotFound("there is no share of it"), report.mutable_error());
      return reply(std::move(report));
    }
    // One node reports for all: the versions of the others are compared when they are read.
    std::int32_t first = shares.shares(0).node();
    for (const wire::ViewShare& other : shares.shares()) first = std::min(first, other.node());
    const auto& tensors = share->second.layout.collection().tensors();
    for (std::size_t t = 0; t < tensors.size(); ++t) {
      const std::int64_t elements = *ptc::NumElements(tensors[t].shape);
      report.add_digests(first == world_.node ? DigestOf(share->second.version, static_cast<int>(t),
                                                         elements, {world_.node, 0})
                                              : 0);
    }
    world_.kept->insert_or_assign(shares.view(), std::move(share->second));
    taken_.erase(share);
    reply(std::move(report));
  });
}

// It fetches its share from the node of the job.
void SimViews::TakeAsGuest(const wire::ViewReply& shares) {
  if (!shares.job().has_guest() || shares.job().guest() != world_.node) return;
  const auto version = world_.share_of(shares.shares(0).node(), shares.view());
  auto layout = ptc::ParseLayout(shares.job().layout());
  if (!version || !layout) return;
  taken_.insert_or_assign(shares.view(), SimShare{shares.job().name(), *version, std::move(*layout),
                                                  shares.job().origin()});
}

void SimViews::Save(const wire::SaveShare& message, SaveReply reply) {
  wire::SaveReport report;
  report.set_view(message.view());
  report.set_ended(true);
  Encode(Unavailable("there is no disk"), report.mutable_error());
  reply(std::move(report));
}

void SimViews::Drop(std::uint64_t snapshot) {
  taken_.erase(snapshot);
  world_.kept->erase(snapshot);
}

void SimViews::GiveUp(const std::string& job) {
  std::erase_if(taking_, [&](const auto& entry) { return entry.second.message.job() == job; });
}

void SimViews::Forget(const std::string& job) {
  GiveUp(job);
  std::erase_if(taken_, [&](const auto& entry) { return entry.second.job == job; });
}

void SimViews::Describe(google::protobuf::RepeatedPtrField<wire::HeldSnapshot>* snapshots) const {
  for (const auto& [id, share] : *world_.kept) {
    wire::HeldSnapshot* const row = snapshots->Add();
    row->set_view(id);
    row->set_job(share.job);
    row->set_bytes(1);
    row->set_origin(share.origin);
  }
}

}  // namespace tessera::agents::sim
