// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The commands that the panel sends to a cluster. app/bridge implements them, because ui does not
/// know the agents.

#include <QString>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "engine/cluster/snapshot.h"
#include "engine/vfs/job_facts.h"
#include "ptc/base/result.h"
#include "ptc/mesh.h"
#include "ui/models/start_request.h"
#include "ui/requests.h"

namespace tessera::ui {

/// How the state of a job moves. Auto: while the job trains or in its pause, whichever pauses less.
/// InRounds: in the pause, with little memory; the cluster chooses how much a device may need.
enum class MoveWay { Auto, WhileTraining, InPause, InRounds };

/// A job on a set of devices. Without `mesh` the cluster chooses one.
struct PlanRequest {
  QString job;
  std::vector<ptc::DeviceId> devices;
  std::optional<ptc::MeshShape> mesh;
  std::optional<engine::StepOptions> options = {};  // default: those of the running job
  bool pinned = false;  // `devices` are in rank order; else the cluster assigns the ranks
  MoveWay way = MoveWay::Auto;
  friend bool operator==(const PlanRequest&, const PlanRequest&) = default;
};

/// Whether a change may be carried out that cannot be recorded in the history.
enum class Unrecorded { Refuse, Allow };

enum class JobAct { Pause, Resume, Stop };

/// What a job that has lost GPUs does.
struct LossDecision {
  engine::LossChoice choice = engine::LossChoice::kContinue;
  /// Where it continues from; nullopt: the first way of the job's decision.
  std::optional<engine::RecoverySource> source = {};
  friend bool operator==(const LossDecision&, const LossDecision&) = default;
};

/// Take: if no other panel operates the cluster.
enum class OperateAct { Take, TakeOver, Release };

/// Whether this panel operates the cluster now, and which panel does.
struct OperateAnswer {
  bool granted = false;
  std::optional<engine::OperatorLease> lease = {};
};

/// All calls are asynchronous: they return at once, and the callback runs exactly once, later, on
/// the GUI thread. The callback may run after the caller was destroyed; the caller guards against
/// that. plan(), propose(), proposeStart(), doctor(), history(), samples() and states() do not
/// change the cluster; requests that change it pass through MoveControl.
class ClusterCommands {
 public:
  template <typename T>
  using Done = std::function<void(Result<T>)>;

  virtual ~ClusterCommands() = default;
  /// Plans without changing anything. The panel shows the error message to the user unchanged.
  virtual void plan(const PlanRequest& request, Done<engine::PlanSummary> done) = 0;
  /// Starts the transaction of a plan and returns its id once it runs.
  /// \error kFailedPrecondition if the cluster is no longer what `planHash` was made for.
  /// \error kResourceExhausted if it cannot be recorded and `Unrecorded::Refuse` is given.
  virtual void apply(const PlanRequest& request, const QString& planHash, Unrecorded unrecorded,
                     Done<std::int64_t> done) = 0;
  /// Rolls a transaction back.
  /// \error kFailedPrecondition after its commit point
  virtual void cancel(std::int64_t txn, Done<void> done) = 0;
  /// Returns the finished transactions, newest first.
  virtual void history(Done<std::vector<engine::HistoryEntry>> done) = 0;
  /// Takes, renews or releases the operator lease. `panel` is this panel's own name, chosen at
  /// random.
  virtual void operate(const QString& panel, OperateAct act, Done<OperateAnswer> done) = 0;
  /// Starts a job; done once it trains. The snapshots of the cluster show its progress.
  /// \error those of `tesseractl job start`
  virtual void startJob(const StartRequest& request, Done<void> done) = 0;
  /// Returns the configurations in which that job could start, best first. For a script this runs
  /// it up to the point where it says what it has, unless that is known. A newer call of this or of
  /// startJob() ends a script that runs for an earlier one.
  virtual void proposeStart(const StartRequest& request, Done<engine::Proposal> done) = 0;
  virtual void jobAct(const QString& job, JobAct act, Done<void> done) = 0;
  /// Decides about the lost GPUs of a job.
  /// \error kFailedPrecondition if there is nothing to decide, or the job cannot do this
  virtual void decide(const QString& job, const LossDecision& decision, Done<void> done) = 0;
  virtual void setOnFailure(const QString& job, engine::OnFailure onFailure, Done<void> done) = 0;
  virtual void setSnapshots(const QString& job, engine::SnapshotEvery every, Done<void> done) = 0;
  /// Saves a checkpoint of the job in a folder that all nodes see, which may take long.
  /// \error kFailedPrecondition while another is saved; those of the nodes that write
  virtual void saveCheckpoint(const QString& job, const QString& folder, Done<void> done) = 0;
  /// Returns the samples of `job` with a step above `afterStep`, oldest first.
  virtual void samples(const QString& job, std::int64_t afterStep,
                       Done<std::vector<engine::Sample>> done) = 0;
  /// Returns the configurations in which `job` could run on these devices, best first.
  virtual void propose(const QString& job, const std::vector<ptc::DeviceId>& devices,
                       Done<engine::Proposal> done) = 0;
  /// Returns the problems that each node found about itself.
  virtual void doctor(Done<std::vector<engine::Check>> done) = 0;
  /// Returns the facts that the files of each job with a layout are derived from, by job name.
  virtual void states(Done<engine::vfs::Jobs> done) = 0;
  /// Tries to connect now instead of at the end of the back-off.
  virtual void reconnect() = 0;

  /// Sends a request. `progress` may receive partial answers before `done`, on the GUI thread; it
  /// may be null.
  template <typename R>
  void ask(const R& request, Done<typename R::Answer> done,
           std::function<void(const typename R::Answer&)> progress = {}) {
    std::function<void(const Answer&)> each;
    if (progress) {
      each = [progress = std::move(progress)](const Answer& answer) {
        progress(std::get<typename R::Answer>(answer));
      };
    }
    send(request, std::move(each), [done = std::move(done)](Result<Answer> answer) {
      if (answer) {
        done(std::get<typename R::Answer>(std::move(*answer)));
      } else {
        done(answer.error());
      }
    });
  }
  /// Stops a request that runs for long: a tuning, which then restores the job's configuration. Its
  /// answer still arrives.
  virtual void stopRequests() = 0;

 protected:
  /// \pre the answer holds `Answer` of the request's type
  virtual void send(const Request& request, std::function<void(const Answer&)> progress,
                    Done<Answer> done) = 0;
  /// For an implementation that passes requests on to another one.
  static void forward(ClusterCommands& to, const Request& request,
                      std::function<void(const Answer&)> progress, Done<Answer> done) {
    to.send(request, std::move(progress), std::move(done));
  }
};

}  // namespace tessera::ui
