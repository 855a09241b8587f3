// SPDX-License-Identifier: Apache-2.0
#include "agents/views/view_store.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace tessera::agents {
namespace {
constexpr int kChecksPerLease = 10;
}  // namespace

ViewStore::ViewStore(Loop& loop, std::chrono::milliseconds lease) : loop_(loop), lease_(lease) {
  timer_ = loop_.Every(lease_ / kChecksPerLease, [this] { DropExpired(); });
}

ViewStore::~ViewStore() { loop_.Cancel(timer_); }

void ViewStore::Take(ViewTask task, std::optional<std::int64_t> paused_at, Done done) {
  GiveUp(task.job);
  const std::int64_t step = task.stamp.step;
  if (paused_at && *paused_at < step) return done(Paused{*paused_at});
  const auto own = task.plan->bytes_of_node().find(static_cast<std::int32_t>(task.stamp.node));
  if (own == task.plan->bytes_of_node().end()) {
    return done(InvalidArgument(
        fmt::format("n{} has no share of a view of '{}'", task.stamp.node, task.job)));
  }
  if (const auto begun = HoldUpdatesAfter(step, task.sources)) return done(TooLate{*begun});
  const std::uint64_t view = task.stamp.view;
  const auto shared = std::make_shared<const ViewTask>(task);
  Taking& taking = taking_[view];
  taking = {task.job, step, own->second, std::move(done), nullptr};
  taking.copy = std::make_unique<ViewCopy>(
      std::move(task), [this, view, shared](Result<engine::ViewMemory> memory) {
        auto result = std::make_shared<Result<engine::ViewMemory>>(std::move(memory));
        loop_.Post([this, view, shared, result] { OnCopied(view, shared, std::move(*result)); });
      });
}

void ViewStore::OnCopied(std::uint64_t view, const std::shared_ptr<const ViewTask>& task,
                         Result<engine::ViewMemory> memory) {
  if (!taking_.contains(view)) {  // cancelled
    disposal_.Take(std::make_shared<const Result<engine::ViewMemory>>(std::move(memory)));
    return;
  }
  if (!memory) return Finish(view, memory.error());
  auto share =
      std::make_shared<const HeldShare>(HeldShare{task->job, task->layout, task->plan, task->stamp,
                                                  std::move(*memory), task->guest, task->origin});
  Taken taken{share->memory.size_bytes(), share->path()};
  {
    const std::lock_guard lock(mutex_);
    held_[view] = std::move(share);
  }
  kept_until_[view] = Loop::Now() + lease_;
  Finish(view, std::move(taken));
}

void ViewStore::Finish(std::uint64_t view, const Outcome& outcome) {
  const auto taking = taking_.find(view);
  const Done done = std::move(taking->second.done);
  taking_.erase(taking);
  done(outcome);
}

void ViewStore::OnPaused(const std::string& job, std::int64_t step) {
  for (const auto& [view, taking] : taking_) {
    if (taking.job != job || taking.step <= step) continue;
    return Finish(view, Paused{step});  // at most one view of a job is being taken
  }
}

void ViewStore::Keep(std::uint64_t view) {
  const auto kept = kept_until_.find(view);
  if (kept != kept_until_.end()) kept->second = Loop::Now() + lease_;
}

void ViewStore::Release(std::uint64_t view) {
  taking_.erase(view);
  Drop(view);
}

void ViewStore::Drop(std::uint64_t view) {
  kept_until_.erase(view);
  std::shared_ptr<const HeldShare> held;
  {
    const std::lock_guard lock(mutex_);
    const auto found = held_.find(view);
    if (found == held_.end()) return;
    held = std::move(found->second);
    held_.erase(found);
  }
  disposal_.Take(std::move(held));
}

void ViewStore::GiveUp(const std::string& job) {
  std::erase_if(taking_, [&](const auto& entry) { return entry.second.job == job; });
}

void ViewStore::Forget(const std::string& job) {
  GiveUp(job);
  std::vector<std::uint64_t> over;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [view, held] : held_) {
      if (held->job == job) over.push_back(view);
    }
  }
  for (const std::uint64_t view : over) Drop(view);
}

void ViewStore::DropExpired() {
  const auto now = Loop::Now();
  std::vector<std::uint64_t> over;
  for (const auto& [view, until] : kept_until_) {
    if (until <= now) over.push_back(view);
  }
  for (const std::uint64_t view : over) Drop(view);
}

std::int64_t ViewStore::size_bytes() const {
  std::int64_t bytes = 0;
  for (const auto& [view, taking] : taking_) bytes += taking.bytes;
  const std::lock_guard lock(mutex_);
  for (const auto& [view, held] : held_) bytes += held->memory.size_bytes();
  return bytes;
}

std::shared_ptr<const HeldShare> ViewStore::Find(std::uint64_t view) const {
  const std::lock_guard lock(mutex_);
  const auto found = held_.find(view);
  return found == held_.end() ? nullptr : found->second;
}

Result<SourceCell> ViewStore::Resolve(std::uint64_t view, const LaneCell& cell) const {
  const auto held = Find(view);
  if (!held) return NotFound(fmt::format("view {:016x} is no longer held here", view));
  return CellOf(held, cell);
}

}  // namespace tessera::agents
