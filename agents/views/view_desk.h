// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Serves the views that clients request from the registrar. Chooses the step, requests each node's
/// share, and tries again if a node was too late, if the job is paused, or if a transaction came
/// first.

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agents/net/timers.h"
#include "agents/views/view_store.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "engine/cluster/snapshot.h"
#include "engine/store/view_plan.h"
#include "ptc/base/result.h"
#include "ptc/layout.h"

namespace tessera::agents {

/// What the registrar knows about a job.
struct ViewableJob {
  std::string name;
  std::int64_t epoch = 0;
  std::int64_t timeline = 0;
  std::int64_t step = 0;  // the last one decided
  ptc::Layout layout;
  std::string settings;  // JSON
  bool paused = false;
  double step_seconds = 1;                 // of the last steps
  double since_step = 0;                   // seconds
  std::int64_t max_steps = 0;              // 0: no end
  std::optional<std::int32_t> guest = {};  // of its snapshots
  std::uint64_t origin = 0;                // as JobRow::origin
  std::string busy = {};                   // "transaction 5 is transferring"; empty: no transaction
};

/// The step whose result a view of a running job shows: the last step whose update may have begun
/// when the nodes receive the request, `margin` seconds from now.
std::int64_t StepOfView(const ViewableJob& job, double margin);

/// Takes one view of a job at a time; the next request waits.
/// \threadsafety The loop's thread.
class ViewDesk {
 public:
  struct World {
    /// \error kNotFound; kFailedPrecondition if the state of the job allows no view
    std::function<Result<ViewableJob>(const std::string& job)> job;
    std::function<Status(std::int32_t node, const wire::ToNode& message)> send;
    /// Fills in how clients reach the node: machine, lanes, key, tickets.
    std::function<void(std::int32_t node, const std::string& job, std::uint64_t view,
                       wire::ViewShare* share)>
        describe;
  };
  struct Limits {
    std::chrono::milliseconds transaction{60000};  // longest wait for one transaction
    std::chrono::milliseconds attempts{30000};     // without that wait; at least 10 steps
    std::chrono::milliseconds lease = kViewLease;  // of complete views
  };
  using Done = std::function<void(Result<wire::ViewReply>)>;

  ViewDesk(Timers& timers, World world, Limits limits);
  ViewDesk(Timers& timers, World world) : ViewDesk(timers, std::move(world), Limits{}) {}
  ~ViewDesk();
  ViewDesk(const ViewDesk&) = delete;
  ViewDesk& operator=(const ViewDesk&) = delete;

  /// `id`: the client's id of this request, the same in each retry, or empty. A retry waits for the
  /// same view, or receives it again if the client has not renewed it yet. `done` runs once, on the
  /// loop, possibly inside the call.
  /// \error those of World::job; kResourceExhausted naming bytes, limit and bytes in use, or what a
  ///     node lacks; kUnavailable naming the transaction that took too long, or the lost node;
  ///     kTimeout if every attempt was too late
  void Take(const std::string& id, const wire::ViewRequest& request, Done done);
  /// Takes the shares of a snapshot. They last like those of a view: Keep() renews them.
  void TakeSnapshot(const std::string& job, Done done);
  /// Renews the leases. Ignores unknown views.
  /// \error kDataLoss naming a view that was lost with a node, and why
  Status Keep(const wire::KeepViewsRequest& request);
  void Release(const wire::ReleaseViewsRequest& request);
  void OnReport(std::int32_t node, const wire::ViewReport& report);
  /// A transaction begins to move the state of the job. Cancels the view that is being taken, and
  /// tries again when World::job reports the end of the transaction.
  void OnTransfer(const std::string& job);
  /// The node was lost, or its agent restarted. Views that are being taken with it fail with
  /// kUnavailable and `why`. Complete views with a share on it are lost: the next Keep reports that
  /// and frees the other shares; without a Keep they end with their lease.
  void OnNodeGone(std::int32_t node, const std::string& why);
  /// The job has ended: all waiting requests get `error`.
  void OnJobOver(const std::string& job, const Error& error);

 private:
  /// A request that has no answer yet.
  struct Pending {
    std::string id;
    wire::ViewRequest request;
    bool is_snapshot = false;
    std::vector<Done> done{};                             // one per time that it was sent
    std::optional<Timers::Clock::time_point> patience{};  // the end of the wait for a transaction
    /// Time left for attempts, without the waits for transactions. It runs while `since` is set.
    std::optional<Timers::Clock::duration> left{};
    std::optional<Timers::Clock::time_point> since{};
  };
  /// A complete view, until its lease ends.
  struct Given {
    std::string id;                        // of the request
    std::optional<wire::ViewReply> reply;  // until the client renews the view, so has the reply
    std::set<std::int32_t> nodes;
    Timers::Clock::time_point kept_until;
    std::optional<Error> lost;
  };
  /// One attempt to take a view of one step.
  struct Attempt {
    std::uint64_t view = 0;
    ViewableJob job;
    std::shared_ptr<const engine::ViewPlan> plan;
    std::int64_t step = 0;
    std::set<std::int32_t> waiting;
    std::map<std::int32_t, wire::ViewReport> taken;
  };
  /// The requests for views of one job; the first is being served.
  struct Queue {
    std::deque<Pending> requests;
    std::optional<Attempt> attempt;
    int too_late = 0;                            // attempts in a row
    std::int64_t at_least = 0;                   // a step that a node has begun
    std::optional<std::int64_t> paused_at_step;  // where the last attempt found the job paused
    Timers::TimerId timer = 0;  // of the attempt's deadline, or of the next attempt
  };

  void Enqueue(Pending pending);
  void Try(const std::string& job);
  void TryLater(const std::string& job, std::chrono::milliseconds delay);
  /// Starts an attempt.
  /// \error why the first request cannot be served
  Status Begin(const std::string& job, Queue& queue, ViewableJob now);
  void Retry(const std::string& job, Queue& queue, std::chrono::milliseconds delay);
  void Complete(const std::string& job, Queue& queue);
  /// Answers the first request and starts the next.
  void Finish(const std::string& job, Result<wire::ViewReply> result);
  void GiveUp(Queue& queue);
  /// Whether the request is a retry; then `done` is called or queued.
  bool IsRetry(const std::string& id, const std::string& job, Done& done);
  /// Renews the shares of incomplete views, so that they do not end before the last share is taken.
  /// Forgets views whose lease has ended.
  void Tick();
  void SendKeep(std::uint64_t view, const std::set<std::int32_t>& nodes);
  void SendRelease(std::uint64_t view, const std::set<std::int32_t>& nodes);
  std::shared_ptr<const engine::ViewPlan> PlanOf(const ViewableJob& job, bool is_snapshot);

  Timers& timers_;
  const World world_;
  const Limits limits_;
  Timers::TimerId tick_ = 0;
  std::map<std::string, Queue> queues_;
  std::map<std::uint64_t, Given> given_;  // by view
  /// By layout hash, whether it is of a snapshot, and its guest or -1.
  std::map<std::tuple<std::uint64_t, bool, std::int32_t>, std::shared_ptr<const engine::ViewPlan>>
      plans_;
};

}  // namespace tessera::agents
