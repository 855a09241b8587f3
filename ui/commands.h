// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// What the panel may ask of a cluster. The panel knows no agent: app/bridge implements this.

#include <QString>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "engine/cluster/snapshot.h"
#include "engine/vfs/job_facts.h"
#include "ptc/base/result.h"
#include "ptc/mesh.h"

namespace tessera::ui {

/// A job on a set of devices. Without `mesh` the cluster proposes one.
struct PlanRequest {
  QString job;
  std::vector<ptc::DeviceId> devices;
  std::optional<ptc::MeshShape> mesh;
  std::optional<engine::StepOptions> options = {};  // without: as the job runs now
  friend bool operator==(const PlanRequest&, const PlanRequest&) = default;
};

/// Whether a move may go on that cannot be recorded.
enum class Unrecorded { Refuse, Allow };

enum class JobAct { Pause, Resume, Stop };

/// Asynchronous: every call returns at once and its callback runs exactly once, later, on the GUI
/// thread; it may come after the caller is gone, which the caller guards against.
/// Only plan(), propose(), doctor(), history(), samples() and states() leave the cluster as it is.
class ClusterCommands {
 public:
  template <typename T>
  using Done = std::function<void(Result<T>)>;

  virtual ~ClusterCommands() = default;
  /// A dry run. \error kInvalidArgument and friends, said to the user as they stand.
  virtual void plan(const PlanRequest& request, Done<engine::PlanSummary> done) = 0;
  /// Starts the transaction of a plan and answers its id once it runs.
  /// \error kFailedPrecondition if the cluster is no longer what `planHash` was made for.
  /// kResourceExhausted if it cannot be recorded and that is not allowed.
  virtual void apply(const PlanRequest& request, const QString& planHash, Unrecorded unrecorded,
                     Done<std::int64_t> done) = 0;
  /// Rolls a transaction back. \error kFailedPrecondition after its commit point.
  virtual void cancel(std::int64_t txn, Done<void> done) = 0;
  /// Newest first.
  virtual void history(Done<std::vector<engine::HistoryEntry>> done) = 0;
  virtual void jobAct(const QString& job, JobAct act, Done<void> done) = 0;
  /// Samples of `job` with a step above `afterStep`, oldest first.
  virtual void samples(const QString& job, std::int64_t afterStep,
                       Done<std::vector<engine::Sample>> done) = 0;
  /// The configurations that `job` could run on these devices, best first.
  virtual void propose(const QString& job, const std::vector<ptc::DeviceId>& devices,
                       Done<engine::Proposal> done) = 0;
  /// What each node finds about itself.
  virtual void doctor(Done<std::vector<engine::Check>> done) = 0;
  /// What the files of each job that has a layout are made of, by name.
  virtual void states(Done<engine::vfs::Jobs> done) = 0;
  /// Tries the connection again now instead of at the end of the back-off.
  virtual void reconnect() = 0;
};

}  // namespace tessera::ui
