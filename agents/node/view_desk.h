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

#include "agents/net/loop.h"
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
  std::string busy = {};       // the transaction that changes it: "transaction 5 is pausing"
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
  };
  struct Limits {
    std::chrono::milliseconds transaction{60000};  // how long a transaction is waited for
    std::chrono::milliseconds attempts{30000};     // and then the view, or 10 steps if that is more
  };
  using Done = std::function<void(Result<wire::ViewReply>)>;

  ViewDesk(Loop& loop, World world, Limits limits);
  ViewDesk(Loop& loop, World world) : ViewDesk(loop, std::move(world), Limits{}) {}

  /// `done` runs once, on the loop, perhaps inside the call:
  /// \error those of World::job; kResourceExhausted naming bytes, limit and what is in use, or what
  ///     a node lacks; kUnavailable naming the transaction that went on for too long, or the node
  ///     that was lost; kTimeout where no step could be caught
  void Take(const wire::ViewRequest& request, Done done);
  void OnReport(std::int32_t node, const wire::ViewReport& report);
  /// What is being taken of the job is given up and tried again later.
  void OnTransaction(const std::string& job);
  /// The node, or its agent, is gone: views that wait for it end with kUnavailable saying `why`.
  void OnNodeGone(std::int32_t node, const std::string& why);
  /// The job is over: whoever waits for a view of it gets `error`.
  void OnJobOver(const std::string& job, const Error& error);

 private:
  struct Ask {
    wire::ViewRequest request;
    Done done;
    Loop::Clock::time_point patience;                   // for transactions
    std::optional<Loop::Clock::time_point> deadline{};  // for the view, since it was first tried
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
    int too_late = 0;                       // times in a row
    std::int64_t at_least = 0;              // a step that a node was seen at
    std::optional<std::int64_t> stands_at;  // where the last attempt found it paused
    Loop::TimerId timer = 0;                // of the attempt's deadline, or the next try
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
  std::shared_ptr<const engine::ViewPlan> PlanOf(const ptc::Layout& layout);

  Loop& loop_;
  const World world_;
  const Limits limits_;
  std::map<std::string, Queue> queues_;
  std::map<std::uint64_t, std::shared_ptr<const engine::ViewPlan>> plans_;  // by layout hash
};

}  // namespace tessera::agents
