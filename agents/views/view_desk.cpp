// SPDX-License-Identifier: Apache-2.0
#include "agents/views/view_desk.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "agents/wire/convert.h"

namespace tessera::agents {
namespace {

using std::chrono::milliseconds;

/// How often a job in a transaction is checked.
constexpr milliseconds kRetryPeriod{20};
/// Lets the loop handle other messages between attempts.
constexpr milliseconds kRetrySoon{1};
/// Seconds for a message to a node and its handling there. Doubled after each attempt that was too
/// late.
constexpr double kMargin = 0.01;
constexpr int kMaxDoublings = 10;
constexpr double kStepsOfPatience = 10;
constexpr std::size_t kMaxPlans = 16;
constexpr int kTicksPerLease = 6;

std::uint64_t NewViewId() {
  static std::random_device random;
  return std::uint64_t{random()} << 32 | random();
}

/// Upper limit of waits that are computed from a reported step length, which may be any number.
constexpr double kMaxSeconds = 24 * 3600;

double Clamped(double seconds) {
  return seconds > 0 ? std::min(seconds, kMaxSeconds) : 0;  // 0 for NaN
}

milliseconds Seconds(double seconds) {
  return milliseconds(static_cast<std::int64_t>(std::ceil(Clamped(seconds) * 1000)));
}

void FillState(const ViewableJob& job, std::int64_t step, wire::JobStateInfo* out) {
  out->set_name(job.name);
  out->set_epoch(job.epoch);
  out->set_timeline(job.timeline);
  out->set_step(step);
  out->set_layout(ToJson(job.layout));
  out->set_settings(job.settings);
  if (job.guest) out->set_guest(*job.guest);
  out->set_origin(job.origin);
}

}  // namespace

std::int64_t StepOfView(const ViewableJob& job, double margin) {
  if (job.paused) return job.step;
  // The update of a step begins with its decision, and further steps follow at their usual length.
  // A late job is not expected to catch up.
  const double length = std::max(Clamped(job.step_seconds), 1e-3);
  const double ahead = (std::min(Clamped(job.since_step), length) + margin) / length;
  const std::int64_t step = job.step + static_cast<std::int64_t>(std::floor(ahead));
  return job.max_steps > 0 ? std::min(step, std::max(job.step, job.max_steps)) : step;
}

ViewDesk::ViewDesk(Timers& timers, World world, Limits limits)
    : timers_(timers), world_(std::move(world)), limits_(limits) {
  tick_ = timers_.Every(limits_.lease / kTicksPerLease, [this] { Tick(); });
}

ViewDesk::~ViewDesk() { timers_.Cancel(tick_); }

void ViewDesk::Take(const std::string& id, const wire::ViewRequest& request, Done done) {
  if (!id.empty() && IsRetry(id, request.job(), done)) return;
  Enqueue({id, request, false, {std::move(done)}});
}

void ViewDesk::TakeSnapshot(const std::string& job, Done done) {
  wire::ViewRequest request;
  request.set_job(job);
  request.set_limit(std::numeric_limits<std::int64_t>::max());
  Enqueue({{}, std::move(request), true, {std::move(done)}});
}

void ViewDesk::Enqueue(Pending pending) {
  const std::string job = pending.request.job();
  Queue& queue = queues_[job];
  queue.requests.push_back(std::move(pending));
  if (queue.requests.size() == 1) Try(job);
}

bool ViewDesk::IsRetry(const std::string& id, const std::string& job, Done& done) {
  if (const auto queue = queues_.find(job); queue != queues_.end()) {
    for (Pending& pending : queue->second.requests) {
      if (pending.id != id) continue;
      pending.done.push_back(std::move(done));
      return true;
    }
  }
  for (auto& [view, given] : given_) {
    if (given.id != id || !given.reply || given.lost || given.reply->job().name() != job) continue;
    if (given.kept_until <= timers_.now()) continue;
    given.kept_until = timers_.now() + limits_.lease;
    SendKeep(view, given.nodes);
    done(*given.reply);
    return true;
  }
  return false;
}

Status ViewDesk::Keep(const wire::KeepViewsRequest& request) {
  Status status = OkStatus();
  for (const std::uint64_t view : request.views()) {
    const auto found = given_.find(view);
    if (found == given_.end()) continue;
    Given& given = found->second;
    given.reply.reset();
    given.kept_until = timers_.now() + limits_.lease;
    if (!given.lost) continue;
    // The other shares are freed only now that the client learns why, so that no read fails without
    // a reason.
    SendRelease(view, given.nodes);
    if (status) status = *given.lost;
  }
  return status;
}

void ViewDesk::Release(const wire::ReleaseViewsRequest& request) {
  for (const std::uint64_t view : request.views()) given_.erase(view);
}

void ViewDesk::Tick() {
  for (const auto& [job, queue] : queues_) {
    if (!queue.attempt) continue;
    std::set<std::int32_t> nodes;
    for (const auto& [node, report] : queue.attempt->taken) nodes.insert(node);
    SendKeep(queue.attempt->view, nodes);
  }
  // Slightly before the nodes, so that a view returned from here still exists there.
  const auto soon = timers_.now() + limits_.lease / kTicksPerLease;
  std::erase_if(given_, [&](const auto& entry) { return entry.second.kept_until < soon; });
}

void ViewDesk::SendKeep(std::uint64_t view, const std::set<std::int32_t>& nodes) {
  wire::ToNode message;
  message.mutable_keep_views()->add_views(view);
  for (const std::int32_t node : nodes) static_cast<void>(world_.send(node, message));
}

void ViewDesk::SendRelease(std::uint64_t view, const std::set<std::int32_t>& nodes) {
  wire::ToNode message;
  message.mutable_release_views()->add_views(view);
  // A node that is gone frees its share when the lease ends.
  for (const std::int32_t node : nodes) static_cast<void>(world_.send(node, message));
}

void ViewDesk::Try(const std::string& job) {
  Queue& queue = queues_.at(job);
  timers_.Cancel(queue.timer);
  Result<ViewableJob> now = world_.job(job);
  if (!now) return Finish(job, now.error());
  Pending& pending = queue.requests.front();
  if (!now->busy.empty()) {
    if (!pending.patience) pending.patience = timers_.now() + limits_.transaction;
    if (timers_.now() > *pending.patience) {
      return Finish(
          job, Unavailable(fmt::format(
                   "no view of '{}': {} for more than {} s", job, now->busy,
                   std::chrono::duration_cast<std::chrono::seconds>(limits_.transaction).count())));
    }
    return TryLater(job, kRetryPeriod);
  }
  pending.patience.reset();
  if (const Status begun = Begin(job, queue, std::move(*now)); !begun) {
    Finish(job, begun.error());
  }
}

void ViewDesk::TryLater(const std::string& job, milliseconds delay) {
  Queue& queue = queues_.at(job);
  timers_.Cancel(queue.timer);
  queue.timer = timers_.After(delay, [this, job] { Try(job); });
}

Status ViewDesk::Begin(const std::string& job, Queue& queue, ViewableJob now) {
  Pending& pending = queue.requests.front();
  if (!pending.is_snapshot) now.guest.reset();
  const auto plan = PlanOf(now, pending.is_snapshot);
  const std::int64_t limit = std::max<std::int64_t>(pending.request.limit(), 0);
  const std::int64_t used = std::clamp<std::int64_t>(pending.request.used(), 0, limit);
  if (plan->total_bytes() > limit - used) {
    return ResourceExhausted(
        fmt::format("a view of '{}' takes {} bytes, and {} of the {} bytes of view memory are in "
                    "use",
                    job, plan->total_bytes(), used, limit));
  }
  const auto started = timers_.now();
  if (!pending.left) {
    pending.left = std::max(limits_.attempts, Seconds(kStepsOfPatience * now.step_seconds));
  }
  if (!pending.since) pending.since = started;
  const auto deadline = *pending.since + *pending.left;
  if (started >= deadline) {
    return Timeout(
        fmt::format("no view of '{}' succeeded in time; the last attempt was after "
                    "step {}",
                    job, now.step));
  }
  Attempt attempt{NewViewId(), std::move(now), plan, 0, {}, {}};
  const double margin = kMargin * std::exp2(std::min(queue.too_late, kMaxDoublings));
  attempt.step = queue.paused_at_step ? *queue.paused_at_step
                                      : std::max(StepOfView(attempt.job, margin), queue.at_least);
  queue.paused_at_step.reset();
  wire::ToNode message;
  wire::TakeView* take = message.mutable_take_view();
  take->set_view(attempt.view);
  take->set_job(job);
  take->set_epoch(attempt.job.epoch);
  take->set_layout_hash(attempt.job.layout.hash());
  take->set_timeline(attempt.job.timeline);
  take->set_step(attempt.step);
  take->set_snapshot(pending.is_snapshot);
  take->set_deadline(std::chrono::duration<double>(deadline - started).count());
  std::set<std::int32_t> nodes = plan->nodes();
  if (attempt.job.guest) {  // it has nothing to copy, and fetches its share later
    take->set_guest(*attempt.job.guest);
    nodes.erase(*attempt.job.guest);
  }
  attempt.waiting = nodes;
  queue.attempt = std::move(attempt);
  for (const std::int32_t node : nodes) {
    TESSERA_RETURN_IF_ERROR(world_.send(node, message).Context("a view of '" + job + "'"));
  }
  // Nodes report an overrun of the deadline themselves and name the device. This timer is for nodes
  // that report nothing.
  queue.timer = timers_.After(
      std::chrono::ceil<milliseconds>(deadline - started) + std::chrono::seconds(2), [this, job] {
        const Queue& late = queues_.at(job);
        const std::int32_t node =
            late.attempt->waiting.empty() ? 0 : *late.attempt->waiting.begin();
        Finish(job, Timeout(fmt::format("n{} did not report on a view of '{}' at step {}", node,
                                        job, late.attempt->step)));
      });
  return OkStatus();
}

void ViewDesk::OnReport(std::int32_t node, const wire::ViewReport& report) {
  const auto found = std::find_if(queues_.begin(), queues_.end(), [&](const auto& entry) {
    return entry.second.attempt && entry.second.attempt->view == report.view() &&
           entry.second.attempt->waiting.contains(node);
  });
  if (found == queues_.end()) {  // the view was cancelled meanwhile
    wire::ToNode message;
    message.mutable_release_views()->add_views(report.view());
    static_cast<void>(world_.send(node, message));
    return;
  }
  const std::string job = found->first;
  Queue& queue = found->second;
  switch (report.kind()) {
    case wire::ViewReport::TAKEN:
      queue.attempt->waiting.erase(node);
      queue.attempt->taken[node] = report;
      if (queue.attempt->waiting.empty()) Complete(job, queue);
      return;
    case wire::ViewReport::TOO_LATE:
      queue.at_least = std::max(queue.at_least, report.step());
      ++queue.too_late;
      return Retry(job, queue, kRetrySoon);
    case wire::ViewReport::PAUSED:
      queue.paused_at_step = report.step();
      queue.at_least = 0;
      return Retry(job, queue, kRetrySoon);
    default: {
      Error error = Decode(report.error());
      if (error.context.empty()) error.context = fmt::format("n{}", node);
      // The node is in another epoch than the registrar assumed: tried again, as for a transaction.
      if (error.code == ErrorCode::kFailedPrecondition) return Retry(job, queue, kRetryPeriod);
      return Finish(job, std::move(error));
    }
  }
}

void ViewDesk::Retry(const std::string& job, Queue& queue, milliseconds delay) {
  GiveUp(queue);
  TryLater(job, delay);
}

void ViewDesk::Complete(const std::string& job, Queue& queue) {
  const Attempt attempt = std::move(*queue.attempt);
  queue.attempt.reset();
  wire::ViewReply reply;
  reply.set_view(attempt.view);
  FillState(attempt.job, attempt.step, reply.mutable_job());
  for (const auto& [node, report] : attempt.taken) {
    wire::ViewShare* share = reply.add_shares();
    share->set_node(node);
    share->set_bytes(report.bytes());
    share->set_path(report.path());
    world_.describe(node, job, attempt.view, share);
  }
  // From here on the leases of all shares are equal.
  const std::set<std::int32_t> nodes = attempt.plan->nodes();
  SendKeep(attempt.view, nodes);
  given_[attempt.view] = {
      queue.requests.front().id, reply, nodes, timers_.now() + limits_.lease, {}};
  Finish(job, std::move(reply));
}

void ViewDesk::Finish(const std::string& job, Result<wire::ViewReply> result) {
  Queue& queue = queues_.at(job);
  GiveUp(queue);
  timers_.Cancel(queue.timer);
  const std::vector<Done> done = std::move(queue.requests.front().done);
  queue.requests.pop_front();
  queue.too_late = 0;
  queue.at_least = 0;
  queue.paused_at_step.reset();
  if (queue.requests.empty()) {
    queues_.erase(job);
  } else {
    TryLater(job, milliseconds(0));
  }
  for (const Done& each : done) each(result);
}

void ViewDesk::GiveUp(Queue& queue) {
  if (!queue.attempt) return;
  SendRelease(queue.attempt->view, queue.attempt->plan->nodes());
  queue.attempt.reset();
}

void ViewDesk::OnTransfer(const std::string& job) {
  const auto found = queues_.find(job);
  if (found == queues_.end()) return;
  // The time of the transaction does not count against the attempts.
  for (Pending& pending : found->second.requests) {
    if (!pending.since) continue;
    *pending.left -= timers_.now() - *pending.since;
    pending.since.reset();
  }
  if (!found->second.attempt) return;
  GiveUp(found->second);
  TryLater(job, kRetryPeriod);
}

void ViewDesk::OnNodeGone(std::int32_t node, const std::string& why) {
  std::vector<std::string> jobs;
  for (const auto& [job, queue] : queues_) {
    if (queue.attempt && queue.attempt->plan->bytes_of_node().contains(node)) jobs.push_back(job);
  }
  for (const std::string& job : jobs) {
    Finish(job, Unavailable(fmt::format("a view of '{}' is lost: {}", job, why)));
  }
  for (auto& [view, given] : given_) {
    if (given.lost || !given.nodes.contains(node)) continue;
    given.lost = DataLoss(fmt::format("view {:016x} is lost: {}", view, why));
    given.reply.reset();
  }
}

void ViewDesk::OnJobOver(const std::string& job, const Error& error) {
  const auto found = queues_.find(job);
  if (found == queues_.end()) return;
  GiveUp(found->second);
  timers_.Cancel(found->second.timer);
  const std::deque<Pending> requests = std::move(found->second.requests);
  queues_.erase(found);
  for (const Pending& pending : requests) {
    for (const Done& done : pending.done) done(error);
  }
}

std::shared_ptr<const engine::ViewPlan> ViewDesk::PlanOf(const ViewableJob& job, bool is_snapshot) {
  const std::tuple key{job.layout.hash(), is_snapshot, job.guest.value_or(-1)};
  if (const auto known = plans_.find(key); known != plans_.end()) return known->second;
  if (plans_.size() >= kMaxPlans) plans_.clear();
  return plans_[key] = std::make_shared<const engine::ViewPlan>(
             is_snapshot ? engine::ViewPlan::OfSnapshot(job.layout, job.guest)
                         : engine::ViewPlan(job.layout));
}

}  // namespace tessera::agents
