// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Where clients ask the registrar for views: picks the step, has every node take its share of it,
/// and tries again where a node was asked too late, the job stands, or a transaction came first.

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

#include "agents/net/loop.h"
#include "agents/node/view_store.h"
#include "agents/wire/tessera/wire/node.pb.h"
#include "engine/cluster/snapshot.h"
#include "engine/store/view_plan.h"
#include "ptc/base/result.h"
#include "ptc/layout.h"

namespace tessera::agents {

/// A job as the registrar knows it now.
struct ViewableJob {
  std::string name;
  std::int64_t epoch = 0;
  std::int64_t timeline = 0;
  std::int64_t step = 0;  // the last one decided
  ptc::Layout layout;
  std::string settings;  // JSON
  bool paused = false;
  double step_seconds = 1;     // of the last steps
  double since_step = 0;       // seconds
  std::int64_t max_steps = 0;  // 0: no end
  std::string busy = {};       // the transaction that moves it: "transaction 5 is transferring"
};

/// The step whose end a view of a running job shows: the last one whose update may have begun by
/// the time that the nodes hear of it. `margin` is that time, in seconds.
std::int64_t StepOfView(const ViewableJob& job, double margin);

/// Lives on a loop; every member is called on the loop's thread. One view of a job at a time is
/// taken; the next asker waits.
class ViewDesk {
 public:
  struct World {
    /// \error kNotFound, kFailedPrecondition for a job that cannot be viewed in its state
    std::function<Result<ViewableJob>(const std::string& job)> job;
    std::function<Status(std::int32_t node, const wire::ToNode& message)> send;
    /// Fills what clients need to reach the node: machine, lanes, key.
    std::function<void(std::int32_t node, wire::ViewShare* share)> describe;
    std::function<Loop::Clock::time_point()> now = Loop::Now;
  };
  struct Limits {
    std::chrono::milliseconds transaction{60000};  // how long one transaction is waited for
    std::chrono::milliseconds attempts{30000};     // the view beside that, or 10 steps if more
    std::chrono::milliseconds lease = kViewLease;  // of what nodes hold
  };
  using Done = std::function<void(Result<wire::ViewReply>)>;

  ViewDesk(Loop& loop, World world, Limits limits);
  ViewDesk(Loop& loop, World world) : ViewDesk(loop, std::move(world), Limits{}) {}
  ~ViewDesk();
  ViewDesk(const ViewDesk&) = delete;
  ViewDesk& operator=(const ViewDesk&) = delete;

  /// `id`: the client's own for this request, equal whenever it is sent again, or empty. What is
  /// asked again waits for the same view, or gets it where the client never heard of it.
  /// `done` runs once, on the loop, perhaps inside the call:
  /// \error those of World::job; kResourceExhausted naming bytes, limit and what is in use, or what
  ///     a node lacks; kUnavailable naming the transaction that went on for too long, or the node
  ///     that was lost; kTimeout where no step could be caught
  void Take(const std::string& id, const wire::ViewRequest& request, Done done);
  /// Clients are still there: the views are kept for another lease. Views that this desk has not
  /// given are passed over. \error kDataLoss naming a view that was lost with a node, and why
  Status Keep(const wire::KeepViewsRequest& request);
  void Release(const wire::ReleaseViewsRequest& request);
  void OnReport(std::int32_t node, const wire::ViewReport& report);
  /// A transaction begins to move the job's state: what is being taken of it is given up, and tried
  /// again when World::job says that it is over.
  void OnTransfer(const std::string& job);
  /// The node, or its agent, is gone: views that it takes part in end with kUnavailable saying
  /// `why`. Views that it holds a share of are let go of by the others when Keep says so, or with
  /// their lease.
  void OnNodeGone(std::int32_t node, const std::string& why);
  /// The job is over: whoever waits for a view of it gets `error`.
  void OnJobOver(const std::string& job, const Error& error);

 private:
  struct Ask {
    std::string id;
    wire::ViewRequest request;
    std::vector<Done> done;                             // one each time that it was sent
    std::optional<Loop::Clock::time_point> patience{};  // while a transaction is waited for
    /// For the view. Runs since it was first tried, but not while a transaction is waited for.
    std::optional<Loop::Clock::duration> left{};
    std::optional<Loop::Clock::time_point> since{};
  };
  /// A complete view, until its lease ends.
  struct Given {
    std::string id;                        // of the request
    std::optional<wire::ViewReply> reply;  // until the client shows that it has it
    std::set<std::int32_t> nodes;
    Loop::Clock::time_point kept_until;
    std::optional<Error> lost;
  };
  /// One try to catch one step.
  struct Attempt {
    std::uint64_t view = 0;
    ViewableJob job;
    std::shared_ptr<const engine::ViewPlan> plan;
    std::int64_t step = 0;
    std::set<std::int32_t> waiting;
    std::map<std::int32_t, wire::ViewReport> taken;
  };
  /// Who waits for views of one job; the first is served.
  struct Queue {
    std::deque<Ask> asks;
    std::optional<Attempt> attempt;
    int too_late = 0;                            // times in a row
    std::int64_t at_least = 0;                   // a step that a node was seen at
    std::optional<std::int64_t> paused_at_step;  // where the last attempt found it paused
    Loop::TimerId timer = 0;                     // of the attempt's deadline, or the next try
  };

  void Try(const std::string& job);
  void TryLater(const std::string& job, std::chrono::milliseconds delay);
  /// Why it cannot be served, where it cannot.
  Status Begin(const std::string& job, Queue& queue, ViewableJob now);
  void Retry(const std::string& job, Queue& queue, std::chrono::milliseconds delay);
  void Complete(const std::string& job, Queue& queue);
  /// Answers the first asker and goes on with the next.
  void Finish(const std::string& job, Result<wire::ViewReply> result);
  void GiveUp(Queue& queue);
  /// Whether the request was sent before, and is answered or will be.
  bool IsRetry(const std::string& id, const std::string& job, Done& done);
  /// Shares that are taken do not end while others are being taken; what nobody keeps is forgotten.
  void Tick();
  void SendKeep(std::uint64_t view, const std::set<std::int32_t>& nodes);
  void SendRelease(std::uint64_t view, const std::set<std::int32_t>& nodes);
  std::shared_ptr<const engine::ViewPlan> PlanOf(const ptc::Layout& layout);

  Loop& loop_;
  const World world_;
  const Limits limits_;
  Loop::TimerId tick_ = 0;
  std::map<std::string, Queue> queues_;
  std::map<std::uint64_t, Given> given_;                                    // by view
  std::map<std::uint64_t, std::shared_ptr<const engine::ViewPlan>> plans_;  // by layout hash
};

}  // namespace tessera::agents
