// SPDX-License-Identifier: Apache-2.0
#include "agents/client/cluster_state.h"

#include <fmt/format.h>

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "agents/client/cluster_view.h"
#include "agents/wire/tessera/wire/control.pb.h"
#include "engine/files/machine_identity.h"

namespace tessera::agents {
namespace {

using engine::vfs::JobInfo;
using engine::vfs::StateSource;
using engine::vfs::StateViewPtr;

/// Longer than the registrar needs for any job with steps below half a minute.
constexpr std::chrono::milliseconds kViewCall{360000};
/// Limit for releases at the end. The nodes free views whose release is lost when the lease ends.
constexpr std::chrono::milliseconds kLastWords{2000};

/// The connection and the views that it holds. The source and each view own it.
class Core {
 public:
  Core(std::unique_ptr<ClusterClient> client, CurveKeys keys, const ClusterStateOptions& options)
      : options_(options),
        machine_(options.map_memory ? engine::MachineIdentity() : std::string()),
        readers_(std::make_shared<LaneReaders>(std::move(keys))),
        client_(std::move(client)) {
    renewing_ = std::jthread([this](const std::stop_token& stop) { Renew(stop); });
  }
  ~Core() {
    std::unique_lock lock(mutex_);
    released_.wait_for(lock, kLastWords, [this] { return releases_under_way_ == 0; });
  }
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  /// Counts the memory of the view.
  /// \error kResourceExhausted if another view was faster
  Status Add(const std::shared_ptr<ClusterView>& view) {
    const std::lock_guard lock(mutex_);
    const std::int64_t used = UsedLocked();
    if (view->size_bytes() > options_.view_memory_bytes - used) {
      return ResourceExhausted(
          fmt::format("a view of '{}' takes {} bytes, and {} of the {} bytes of view memory are in "
                      "use",
                      view->info().name, view->size_bytes(), used, options_.view_memory_bytes));
    }
    held_[view->id()] = {view->size_bytes(), view->fate()};
    return OkStatus();
  }

  Result<wire::ViewReply> RequestView(const std::string& job) {
    wire::Request request;
    request.mutable_view()->set_job(job);
    request.mutable_view()->set_limit(options_.view_memory_bytes);
    request.mutable_view()->set_used(used_bytes());
    TESSERA_TRY(wire::Reply reply, Call(std::move(request), kViewCall));
    return std::move(*reply.mutable_view());
  }

  /// Waits for the reply or for Cancel.
  Result<wire::Reply> Call(wire::Request request, std::chrono::milliseconds timeout) {
    const auto answer = std::make_shared<std::optional<Result<wire::Reply>>>();
    {
      const std::lock_guard lock(mutex_);
      if (is_cancelled_) return Cancelled("the connection to the cluster is closed");
    }
    client_->Call(std::move(request), timeout, [this, answer](const Result<wire::Reply>& reply) {
      const std::lock_guard lock(mutex_);
      *answer = reply;
      answered_.notify_all();
    });
    std::unique_lock lock(mutex_);
    answered_.wait(lock, [&] { return *answer || is_cancelled_; });
    if (*answer) return std::move(**answer);
    return Cancelled("the connection to the cluster is closed");
  }

  void Cancel() {
    readers_->Cancel();
    const std::lock_guard lock(mutex_);
    is_cancelled_ = true;
    answered_.notify_all();
  }

  void Release(std::uint64_t id) {
    wire::Request request;
    request.mutable_release_views()->add_views(id);
    {
      const std::lock_guard lock(mutex_);
      held_.erase(id);
      ++releases_under_way_;
    }
    client_->Call(std::move(request), kReplyTimeout, [this](const Result<wire::Reply>&) {
      const std::lock_guard lock(mutex_);
      --releases_under_way_;
      released_.notify_all();
    });
  }

  const std::string& machine() const { return machine_; }
  const std::shared_ptr<LaneReaders>& readers() const { return readers_; }

 private:
  struct Held {
    std::int64_t bytes = 0;
    std::shared_ptr<ViewFate> fate;  // once it is lost, no node holds the view any more
  };

  std::int64_t used_bytes() const {
    const std::lock_guard lock(mutex_);
    return UsedLocked();
  }
  std::int64_t UsedLocked() const {
    std::int64_t bytes = 0;
    for (const auto& [id, held] : held_) bytes += held.fate->lost() ? 0 : held.bytes;
    return bytes;
  }

  void Renew(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
      renewal_.wait_for(lock, stop, options_.renewal, [] { return false; });
      if (stop.stop_requested()) continue;
      std::vector<std::uint64_t> views;
      for (const auto& [id, held] : held_) {
        if (!held.fate->lost()) views.push_back(id);
      }
      lock.unlock();
      for (const std::uint64_t id : views) RenewOne(id);
      lock.lock();
    }
  }

  // One request per view, because an error concerns a single view.
  void RenewOne(std::uint64_t id) {
    wire::Request request;
    request.mutable_keep_views()->add_views(id);
    client_->Call(std::move(request), kReplyTimeout, [this, id](const Result<wire::Reply>& reply) {
      if (reply || reply.error().code != ErrorCode::kDataLoss) return;
      const std::lock_guard lock(mutex_);
      if (const auto held = held_.find(id); held != held_.end()) {
        held->second.fate->NoteLost(reply.error());
      }
    });
  }

  const ClusterStateOptions options_;
  const std::string machine_;
  const std::shared_ptr<LaneReaders> readers_;
  mutable std::mutex mutex_;
  std::condition_variable released_, answered_;
  bool is_cancelled_ = false;
  std::condition_variable_any renewal_;
  std::map<std::uint64_t, Held> held_;  // by view
  int releases_under_way_ = 0;
  std::unique_ptr<ClusterClient> client_;  // last: its callbacks use the members above
  std::jthread renewing_;
};

class ClusterState : public StateSource {
 public:
  explicit ClusterState(std::shared_ptr<Core> core) : core_(std::move(core)) {}

  Result<std::vector<JobInfo>> Jobs() override {
    wire::Request request;
    request.mutable_jobs();
    TESSERA_TRY(const wire::Reply reply, core_->Call(std::move(request), kReplyTimeout));
    std::vector<JobInfo> jobs;
    for (const wire::JobStateInfo& info : reply.jobs().jobs()) {
      TESSERA_TRY(JobInfo job, DecodeJobState(info));
      jobs.push_back(std::move(job));
    }
    return jobs;
  }

  Result<StateViewPtr> Pin(const std::string& job) override {
    const std::shared_ptr<Slot> slot = SlotOf(job);
    std::unique_lock lock(slot->mutex);
    if (const auto held = slot->view.lock(); held && !held->fate()->lost())
      return StateViewPtr(held);
    // The other callers wait for the view that one of them takes, and get its error.
    if (const auto taking = slot->taking) {
      slot->taken.wait(lock, [&] { return taking->has_value(); });
      return **taking;
    }
    const auto taking = std::make_shared<std::optional<Result<StateViewPtr>>>();
    slot->taking = taking;
    lock.unlock();
    auto view = Take(job);
    lock.lock();
    if (view) slot->view = *view;
    *taking = view ? Result<StateViewPtr>(*view) : Result<StateViewPtr>(view.error());
    slot->taking = nullptr;
    slot->taken.notify_all();
    return **taking;
  }

  void Cancel() override { core_->Cancel(); }

 private:
  struct Slot {
    std::mutex mutex;
    std::condition_variable taken;
    std::weak_ptr<const ClusterView> view;
    std::shared_ptr<std::optional<Result<StateViewPtr>>> taking;  // by one of the callers
  };
  Result<std::shared_ptr<ClusterView>> Take(const std::string& job) {
    TESSERA_TRY(const wire::ViewReply reply, core_->RequestView(job));
    const std::uint64_t id = reply.view();
    auto view = ClusterView::Make(reply, core_->machine(), core_->readers(),
                                  [core = core_, id] { core->Release(id); });
    if (!view) {
      core_->Release(id);
      return Error(view.error());
    }
    TESSERA_RETURN_IF_ERROR(core_->Add(*view));
    return view;
  }
  std::shared_ptr<Slot> SlotOf(const std::string& job) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Slot>& slot = slots_[job];
    if (!slot) slot = std::make_shared<Slot>();
    return slot;
  }

  const std::shared_ptr<Core> core_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Slot>> slots_;
};

}  // namespace

Result<std::unique_ptr<StateSource>> OpenClusterState(const Profile& profile,
                                                      const ClusterStateOptions& options) {
  TESSERA_TRY(CurveKeys keys, LoadKeys(profile.key_file).Context("profile " + profile.name));
  TESSERA_TRY(auto client, ClusterClient::OpenForCommands(profile));
  return std::unique_ptr<StateSource>(std::make_unique<ClusterState>(
      std::make_shared<Core>(std::move(client), std::move(keys), options)));
}

}  // namespace tessera::agents
