// SPDX-License-Identifier: Apache-2.0
#include "agents/node/stored_views.h"

#include <fmt/format.h>

#include <chrono>
#include <set>
#include <variant>

#include "agents/wire/convert.h"
#include "ptc/base/overloaded.h"

namespace tessera::agents {
namespace {

/// The longest wait for a step.
constexpr double kMaxViewSeconds = 24 * 3600;

SnapshotStore::World WorldOfSnapshots(KeeperClient& keeper, engine::DurableStore& journal,
                                      const std::string& machine,
                                      std::shared_ptr<LaneCounts> counts) {
  SnapshotStore::World world;
  world.keep = [&keeper](const std::string& name, int fd) { return keeper.Keep(name, fd); };
  world.drop = [&keeper](const std::string& name) { return keeper.Drop(name); };
  world.journal = &journal;
  world.machine = machine;
  world.counts = std::move(counts);
  return world;
}

}  // namespace

StoredViews::StoredViews(Loop& loop, const AgentConfig& config, const CurveKeys& keys,
                         KeeperClient& keeper, engine::DurableStore& journal,
                         const std::string& machine, std::shared_ptr<LaneCounts> counts)
    : loop_(loop),
      node_(config.node),
      limits_(config.jobs),
      keeper_(keeper),
      views_(loop, std::chrono::seconds(config.view_lease_seconds)),
      snapshots_(loop, WorldOfSnapshots(keeper, journal, machine, std::move(counts)), keys) {}

Status StoredViews::Recover(std::vector<std::string>* set_aside) {
  return snapshots_.Recover(node_, keeper_.TakeKept(), set_aside);
}

Result<ViewTask> StoredViews::MakeTask(const wire::TakeView& m, const Job& job) {
  if (!(m.deadline() >= 0 && m.deadline() <= kMaxViewSeconds)) {  // also refuses NaN
    return InvalidArgument(fmt::format("a view of '{}' within {} s: from 0 to {} are taken",
                                       m.job(), m.deadline(), kMaxViewSeconds));
  }
  const JobRow& row = job.row;
  if (row.epoch != m.epoch() || row.layout.hash() != m.layout_hash()) {
    return FailedPrecondition(
        fmt::format("job '{}' is in epoch {} on this node, the view needs epoch {}", m.job(),
                    row.epoch, m.epoch()));
  }
  auto& known = m.snapshot() ? snapshot_plan_ : view_plan_;
  std::optional<std::int32_t> guest;
  if (m.has_guest()) guest = m.guest();
  if (!known || known->layout_hash != m.layout_hash() || known->guest != guest) {
    known = KnownPlan{m.layout_hash(), guest,
                      std::make_shared<const engine::ViewPlan>(
                          m.snapshot() ? engine::ViewPlan::OfSnapshot(row.layout, guest)
                                       : engine::ViewPlan(row.layout))};
  }
  ViewTask task{m.job(), row.layout, known->plan, {}, {}, {}, guest, row.origin};
  task.stamp = {m.view(),        m.epoch(),         m.timeline(), m.step(),
                m.layout_hash(), task.plan->hash(), node_};
  task.deadline = loop_.now() + std::chrono::duration_cast<Loop::Clock::duration>(
                                    std::chrono::duration<double>(m.deadline()));
  std::set<ptc::DeviceId> contributors;
  for (const engine::ViewCell& cell : task.plan->cells()) {
    const bool copies = cell.device.node == node_ && !cell.is_fetched();
    if (copies) contributors.insert(cell.device);
  }
  for (const ptc::DeviceId id : contributors) {
    const DeviceStore::Device* device = job.devices.Find(id);
    if (!device || !device->table || device->table->job() != m.job() ||
        device->table->epoch() != m.epoch()) {
      return FailedPrecondition(
          fmt::format("{} does not hold epoch {} of '{}'", ToString(id), m.epoch(), m.job()));
    }
    if (device->failed) return Unavailable(fmt::format("device {} failed", ToString(id)));
    task.sources.push_back({id, device->arena.get(), *device->table});
  }
  return task;
}

void StoredViews::Take(const wire::TakeView& message, const Job& job, TakeReply reply) {
  const auto report = [view = message.view(),
                       reply = std::move(reply)](const ViewStore::Outcome& outcome) {
    wire::ViewReport out;
    out.set_view(view);
    std::visit(Overloaded{
                   [&](const ViewStore::Taken& taken) {
                     out.set_kind(wire::ViewReport::TAKEN);
                     out.set_bytes(taken.bytes);
                     out.set_path(taken.path);
                   },
                   [&](const ViewStore::TooLate& late) {
                     out.set_kind(wire::ViewReport::TOO_LATE);
                     out.set_step(late.step);
                   },
                   [&](const ViewStore::Paused& stands) {
                     out.set_kind(wire::ViewReport::PAUSED);
                     out.set_step(stands.step);
                   },
                   [&](const Error& error) {
                     out.set_kind(wire::ViewReport::FAILED);
                     Encode(error, out.mutable_error());
                   },
               },
               outcome);
    reply(std::move(out));
  };
  Result<ViewTask> task = MakeTask(message, job);
  if (!task) return report(task.error());
  views_.Take(std::move(*task), job.paused_at, report);
}

void StoredViews::Complete(const wire::CompleteSnapshot& message, CompleteReply reply) {
  const std::uint64_t id = message.shares().view();
  const auto report = [this, id,
                       reply = std::move(reply)](const Result<SnapshotStore::Digests>& digests) {
    wire::SnapshotReport out;
    out.set_view(id);
    if (digests) {
      out.mutable_digests()->Assign(digests->begin(), digests->end());
    } else {
      Encode(digests.error(), out.mutable_error());
    }
    views_.Release(id);
    reply(std::move(out));
  };
  auto share = views_.Find(id);
  const wire::JobStateInfo& state = message.shares().job();
  if (!share && state.has_guest() && state.guest() == node_) {
    return snapshots_.CompleteAsGuest(message.shares(), node_, report);
  }
  if (!share) return report(NotFound(fmt::format("n{} has no share of it", node_)));
  snapshots_.Complete(message.shares(), std::move(share), report);
}

// Handlers of a writer run on its threads, and may be late: the writer may be gone by then.
void StoredViews::Save(const wire::SaveShare& message, SaveReply reply) {
  const std::uint64_t id = message.view();
  const auto ended = [id](const Status& status) {
    wire::SaveReport out;
    out.set_view(id);
    out.set_ended(true);
    if (!status) Encode(status.error(), out.mutable_error());
    return out;
  };
  if (writers_.contains(id)) return;  // the message was repeated
  auto share = views_.Find(id);
  if (!share) return reply(ended(NotFound(fmt::format("n{} has no share of the view", node_))));
  ShareWriter::Handlers handlers;
  handlers.check = [limits = limits_, node = node_, path = message.path()] {
    return CheckCheckpoint(limits, node, path, std::nullopt);
  };
  handlers.progress = [this, id, reply](std::int64_t done, std::int64_t total) {
    loop_.Post([this, id, reply, done, total] {
      if (!writers_.contains(id)) return;
      wire::SaveReport out;
      out.set_view(id);
      out.set_done(done);
      out.set_total(total);
      reply(std::move(out));
    });
  };
  handlers.done = [this, id, reply, ended](Result<WrittenShare> written) {
    loop_.Post([this, id, reply, ended,
                kept = std::make_shared<Result<WrittenShare>>(std::move(written))] {
      if (writers_.erase(id) == 0) return;  // joins the thread, which has nothing left to do
      if (!*kept) return reply(ended(kept->error()));
      wire::SaveReport out = ended(OkStatus());
      out.mutable_digests()->Assign((*kept)->digests.begin(), (*kept)->digests.end());
      for (const checkpoint::Manifest::StoredFile& file : (*kept)->files) {
        wire::SavedFile* const row = out.add_files();
        row->set_name(file.name);
        row->set_bytes(file.bytes);
      }
      reply(std::move(out));
    });
  };
  writers_[id] =
      std::make_shared<ShareWriter>(std::move(share), message.path(), std::move(handlers));
}

void StoredViews::Release(std::uint64_t view) {
  // The thread of its writer may wait for the disk.
  if (const auto writer = writers_.extract(view)) disposal_.Take(std::move(writer.mapped()));
  views_.Release(view);
}

Result<SourceCell> StoredViews::Resolve(std::uint64_t id, const LaneCell& cell) const {
  auto found = views_.Resolve(id, cell);
  const bool unknown = !found && found.error().code == ErrorCode::kNotFound;
  return unknown ? snapshots_.Resolve(id, cell) : std::move(found);
}

}  // namespace tessera::agents
