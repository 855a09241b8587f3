// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Requests of the registrar for this node's shares of views and snapshots. NodeViews has the
/// shares.

#include <string>

#include "agents/move/device_store.h"
#include "agents/node/held_jobs.h"
#include "agents/node/job_pauses.h"
#include "agents/node/node_links.h"
#include "agents/node/node_transactions.h"
#include "agents/node/uplink.h"
#include "agents/wire/tessera/wire/node.pb.h"

namespace tessera::agents {

/// \threadsafety The loop's thread.
class ViewRequests {
 public:
  /// \pre all outlive this part
  ViewRequests(const NodeLinks& links, const DeviceStore& devices, const HeldJobs& jobs,
               const JobPauses& pauses, const NodeTransactions& transactions, const Uplink& uplink)
      : links_(links),
        devices_(devices),
        jobs_(jobs),
        pauses_(pauses),
        transactions_(transactions),
        uplink_(uplink) {}

  /// Refuses a view of a job that is not listed, or whose state is being changed.
  void OnTake(const wire::TakeView& message);
  void OnKeep(const wire::KeepViewsRequest& message);
  void OnRelease(const wire::ReleaseViewsRequest& message);
  void OnSave(const wire::SaveShare& message);
  void OnComplete(const wire::CompleteSnapshot& message);
  void OnDrop(const wire::ReleaseViewsRequest& message);

 private:
  /// From the transfer on, the old state may be overwritten at any time.
  bool MayChange(const std::string& job) const;

  const NodeLinks& links_;
  const DeviceStore& devices_;
  const HeldJobs& jobs_;
  const JobPauses& pauses_;
  const NodeTransactions& transactions_;
  const Uplink& uplink_;
};

}  // namespace tessera::agents
