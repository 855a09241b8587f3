// SPDX-License-Identifier: Apache-2.0
#include "agents/views/snapshot_store.h"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

#include "agents/views/background.h"
#include "agents/views/snapshot_row.h"
#include "agents/wire/utf8.h"
#include "engine/history/unreadable_rows.h"
#include "ptc/digest.h"

namespace tessera::agents {
namespace {

/// Of journal rows, and of names at the keeper.
std::string NameOf(std::uint64_t id) { return fmt::format("snapshot/{:016x}", id); }

Result<std::shared_ptr<const HeldShare>> Open(const std::string& name, SnapshotRow row,
                                              std::int32_t node, UniqueFd fd) {
  auto plan = std::make_shared<const engine::ViewPlan>(
      engine::ViewPlan::OfSnapshot(row.state.layout, row.state.guest));
  const auto bytes = plan->bytes_of_node().find(node);
  if (bytes == plan->bytes_of_node().end()) {
    return DataLoss(fmt::format("row '{}': n{} has no share", name, node));
  }
  const engine::ViewStamp stamp{row.id,
                                row.state.epoch,
                                row.state.timeline,
                                row.state.step,
                                row.state.layout.hash(),
                                plan->hash(),
                                node};
  TESSERA_TRY(engine::ViewMemory memory,
              engine::ViewMemory::Adopt(fd.Release(), bytes->second, stamp));
  return std::make_shared<const HeldShare>(HeldShare{row.state.job, std::move(row.state.layout),
                                                     std::move(plan), stamp, std::move(memory),
                                                     row.state.guest, row.state.origin});
}

/// An empty share of a node that has none yet.
Result<std::shared_ptr<const HeldShare>> ShareOfGuest(std::uint64_t id, SharedState state,
                                                      std::int32_t node,
                                                      const std::stop_token& stop) {
  auto plan = std::make_shared<const engine::ViewPlan>(
      engine::ViewPlan::OfSnapshot(state.layout, state.guest));
  const auto bytes = plan->bytes_of_node().find(node);
  if (bytes == plan->bytes_of_node().end()) {
    return FailedPrecondition(fmt::format("n{} has no share of the snapshot", node));
  }
  TESSERA_TRY(engine::ViewMemory memory,
              engine::ViewMemory::Create(fmt::format("view {:016x}", id), bytes->second, stop));
  const engine::ViewStamp stamp{
      id, state.epoch, state.timeline, state.step, state.layout.hash(), plan->hash(), node};
  memory.Stamp(stamp);
  return std::make_shared<const HeldShare>(HeldShare{state.job, std::move(state.layout),
                                                     std::move(plan), stamp, std::move(memory),
                                                     state.guest, state.origin});
}

Status FetchMissing(const HeldShare& share, const ShareReader& reader,
                    const std::stop_token& stop) {
  constexpr std::int64_t kAtOnce = 16 << 20;  // bytes, unless one cell is larger
  std::vector<ShareReader::Part> parts;
  std::int64_t bytes = 0;
  const auto read = [&]() -> Status {
    if (stop.stop_requested()) return Cancelled("the snapshot was dropped");
    TESSERA_RETURN_IF_ERROR(reader.ReadAll(parts));
    parts.clear();
    bytes = 0;
    return OkStatus();
  };
  for (const engine::ViewCell& cell : share.plan->cells()) {
    if (cell.device.node != share.stamp.node || !cell.is_fetched()) continue;
    if (bytes + cell.size_bytes > kAtOnce) TESSERA_RETURN_IF_ERROR(read());
    parts.push_back(
        {cell.tensor,
         cell.box,
         {share.memory.data(cell.offset_bytes), static_cast<std::size_t>(cell.size_bytes)}});
    bytes += cell.size_bytes;
  }
  return read();
}

SnapshotStore::Digests DigestsOf(const HeldShare& share) {
  const auto& tensors = share.layout.collection().tensors();
  SnapshotStore::Digests digests(tensors.size(), 0);
  for (const engine::ViewCell& cell : share.plan->cells()) {
    if (cell.device.node != share.stamp.node || cell.is_second) continue;
    const auto t = static_cast<std::size_t>(cell.tensor);
    digests[t] += ptc::DigestBox(tensors[t].dtype, tensors[t].shape, cell.box,
                                 share.memory.data(cell.offset_bytes), cell.box);
  }
  return digests;
}

}  // namespace

SnapshotStore::SnapshotStore(Loop& loop, World world, const CurveKeys& keys)
    : loop_(loop),
      world_(std::move(world)),
      readers_(std::make_shared<LaneReaders>(keys, world_.counts)) {}

SnapshotStore::~SnapshotStore() {
  for (auto& [id, completing] : completing_) completing.thread.request_stop();
  readers_->Cancel();
}

Status SnapshotStore::Recover(std::int32_t node, std::map<std::string, UniqueFd> kept,
                              std::vector<std::string>* set_aside) {
  TESSERA_TRY(const auto rows, world_.journal->List("snapshot/"));
  for (const auto& [name, text] : rows) {
    const auto fd = kept.find(name);
    if (fd == kept.end()) {
      static_cast<void>(world_.journal->Erase(name));
      continue;
    }
    UniqueFd memory = std::move(fd->second);
    kept.erase(fd);
    auto row = ParseSnapshotRow(name, text);
    if (!row) {
      static_cast<void>(world_.drop(name));
      TESSERA_TRY(std::string note,
                  engine::SetAside(*world_.journal, "journal.db", name, text, row.error()));
      set_aside->push_back(std::move(note));
      continue;
    }
    auto share = Open(name, std::move(*row), node, std::move(memory));
    if (!share) {
      std::fprintf(stderr, "%s\n", share.error().ToString().c_str());
      static_cast<void>(world_.drop(name));
      static_cast<void>(world_.journal->Erase(name));
      continue;
    }
    const std::lock_guard lock(mutex_);
    held_[(*share)->stamp.view] = std::move(*share);
  }
  for (const auto& [name, fd] : kept) {  // the agent has died between keeper and journal
    if (name.starts_with("snapshot/")) static_cast<void>(world_.drop(name));
  }
  return OkStatus();
}

void SnapshotStore::Complete(const wire::ViewReply& shares, std::shared_ptr<const HeldShare> share,
                             Done done) {
  Run(shares, std::move(done),
      [share = std::move(share)](const std::stop_token&) -> Made { return share; });
}

void SnapshotStore::CompleteAsGuest(const wire::ViewReply& shares, std::int32_t node, Done done) {
  Run(shares, std::move(done), [shares, node](const std::stop_token& stop) -> Made {
    TESSERA_TRY(SharedState state, DecodeSharedState(shares.job()));
    return ShareOfGuest(shares.view(), std::move(state), node, stop);
  });
}

void SnapshotStore::Run(const wire::ViewReply& shares, Done done,
                        std::function<Made(const std::stop_token& stop)> make) {
  const std::uint64_t id = shares.view();
  if (completing_.contains(id)) return;
  Completing& completing = completing_[id];
  completing.done = std::move(done);
  completing.thread = std::jthread([this, id, shares,
                                    make = std::move(make)](const std::stop_token& stop) {
    RunInBackground();
    std::shared_ptr<const HeldShare> share;
    const auto run = [&]() -> Result<Digests> {
      TESSERA_TRY(share, make(stop));
      SharedState state{share->job,    share->stamp.epoch, share->stamp.timeline, share->stamp.step,
                        share->layout, share->guest,       share->origin};
      TESSERA_TRY(const ShareReader reader,
                  ShareReader::Make(shares, std::move(state), readers_,
                                    {world_.machine, /*is_snapshot=*/true, /*only_copied=*/true}));
      TESSERA_RETURN_IF_ERROR(FetchMissing(*share, reader, stop));
      return DigestsOf(*share);
    };
    const auto digests = std::make_shared<Result<Digests>>(run());
    loop_.Post([this, id, share, digests] { OnCompleted(id, share, *digests); });
  });
}

void SnapshotStore::OnCompleted(std::uint64_t id, const std::shared_ptr<const HeldShare>& share,
                                const Result<Digests>& digests) {
  const auto found = completing_.find(id);
  const Done done = std::move(found->second.done);
  completing_.erase(found);
  if (!done) {  // dropped
    if (share) disposal_.Take(share);
    return;
  }
  if (!digests) return done(digests);
  if (const Status kept = KeepShare(*share); !kept) return done(kept.error());
  {
    const std::lock_guard lock(mutex_);
    held_[share->stamp.view] = share;
  }
  done(digests);
}

Status SnapshotStore::KeepShare(const HeldShare& share) {
  const SnapshotRow row{share.stamp.view,
                        {share.job, share.stamp.epoch, share.stamp.timeline, share.stamp.step,
                         share.layout, share.guest, share.origin}};
  TESSERA_RETURN_IF_ERROR(world_.journal->Put(NameOf(row.id), ToText(row)));
  Status kept = world_.keep(NameOf(row.id), share.memory.fd());
  if (!kept) static_cast<void>(world_.journal->Erase(NameOf(row.id)));
  return kept;
}

void SnapshotStore::Drop(std::uint64_t id) {
  if (const auto completing = completing_.find(id); completing != completing_.end()) {
    completing->second.thread.request_stop();
    completing->second.done = nullptr;
  }
  std::shared_ptr<const HeldShare> share;
  {
    const std::lock_guard lock(mutex_);
    const auto found = held_.find(id);
    if (found == held_.end()) return;
    share = std::move(found->second);
    held_.erase(found);
  }
  static_cast<void>(world_.journal->Erase(NameOf(id)));
  static_cast<void>(world_.drop(NameOf(id)));
  disposal_.Take(std::move(share));
}

void SnapshotStore::Describe(google::protobuf::RepeatedPtrField<wire::HeldSnapshot>* out) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, share] : held_) {
    wire::HeldSnapshot* row = out->Add();
    row->set_view(id);
    row->set_job(share->job);
    row->set_bytes(share->memory.size_bytes());
    row->set_path(share->path());
    row->set_origin(share->origin);
  }
}

Result<SourceCell> SnapshotStore::Resolve(std::uint64_t id, const LaneCell& cell) const {
  std::shared_ptr<const HeldShare> share;
  {
    const std::lock_guard lock(mutex_);
    const auto found = held_.find(id);
    if (found != held_.end()) share = found->second;
  }
  if (!share) return NotFound(fmt::format("view {:016x} is no longer held here", id));
  return CellOf(share, cell);
}

}  // namespace tessera::agents
