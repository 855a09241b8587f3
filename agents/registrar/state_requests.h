// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Requests of clients for the state of jobs: the list of jobs, views, and the shares of snapshots.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "agents/net/key_owner.h"
#include "agents/registrar/job_table.h"
#include "agents/registrar/pending_reply.h"
#include "agents/registrar/registrar_part.h"
#include "agents/registrar/snapshot_desk.h"
#include "agents/registrar/snapshot_forecast.h"
#include "agents/registrar/transaction.h"
#include "agents/views/view_desk.h"

namespace tessera::agents {

class StateRequests : public RegistrarPart {
 public:
  struct World {
    /// nullptr if no transaction runs.
    std::function<const Txn*()> transaction;
    /// As Restarter::RestsAt.
    std::function<std::optional<std::int64_t>(const Job& job)> rests_at;
  };
  StateRequests(const Common& common, JobTable& jobs, World world);

  ViewDesk& views() { return views_; }
  SnapshotDesk& snapshots() { return snapshots_; }
  const SnapshotDesk& snapshots() const { return snapshots_; }

  /// An operator receives the settings of the jobs whole, others without secrets.
  void OnJobs(Role role, const ReplyPtr& reply);
  void OnView(const std::string& request_id, const wire::ViewRequest& request,
              const ReplyPtr& reply);
  void OnKeepViews(const wire::KeepViewsRequest& request, const ReplyPtr& reply);
  void OnReleaseViews(const wire::ReleaseViewsRequest& request, const ReplyPtr& reply);
  /// Begins a snapshot if it is time for it.
  void ConsiderSnapshot(const Job& job);
  /// Works out on the worker what memory the snapshots of the job need.
  void Forecast(const Job& job, std::function<void(const SnapshotForecast& forecast)> then);
  /// Why a node is likely to have too little memory for that; empty if none is.
  std::string LackFor(const Job& job, const SnapshotForecast& forecast) const;
  engine::SnapshotStatus SnapshotsOf(const Job& job) const;
  /// The job is erased.
  void Forget(const std::string& job);
  /// The node was lost, or its agent restarted.
  void OnNodeGone(std::int32_t node, const std::string& why);

 private:
  ViewDesk::World WorldOfViews();
  SnapshotDesk::World WorldOfSnapshots();
  Result<ViewableJob> FindViewable(const std::string& name);
  /// As agents::GuestOf.
  std::optional<std::int32_t> GuestFor(const Job& job) const;
  /// Makes a new forecast if the layout or the guest is another one.
  void RenewForecast(const Job& job);
  /// Sends `message` to all nodes, because a restarted registrar does not know which nodes hold a
  /// view. Replies with `status`.
  void ForwardToAll(const wire::ToNode& message, const ReplyPtr& reply,
                    const Status& status = OkStatus());

  struct KnownForecast {
    std::int64_t epoch = 0;
    std::optional<std::int32_t> guest;
    engine::SnapshotMemory memory;  // empty until it is worked out
  };

  JobTable& jobs_;
  const World around_;
  std::map<std::string, KnownForecast> forecasts_;  // by job
  ViewDesk views_;
  SnapshotDesk snapshots_;
};

}  // namespace tessera::agents
