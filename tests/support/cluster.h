// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A cluster for end-to-end tests, in a temporary folder. Tests call the programs as users do.
/// Nothing is left behind.

#include <QTemporaryDir>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/commands/process.h"
#include "engine/store/arena.h"
#include "tests/support/home_guard.h"
#include "tests/support/program.h"

namespace tessera::test {

class Cluster {
 public:
  virtual ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  /// The outcome of the first command of the start that failed, or of the last one.
  const Outcome& up() const { return up_; }
  /// The folder that the TESSERA_HOME of each process of the cluster is, or is in.
  QString home() const { return home_.path(); }
  /// Leaves home() behind, with the logs of the agents.
  void KeepHome() { home_.setAutoRemove(false); }
  /// Starts `tesseractl WORDS…` as the operator and returns at once.
  virtual std::unique_ptr<QProcess> Start(const QStringList& words) const = 0;
  /// The object of `status --json`; null where the registrar does not answer within some seconds.
  virtual Json Status() const = 0;
  virtual int num_nodes() const = 0;
  virtual app::ProcessId Keeper(int node) const = 0;
  /// The path of the node's agent.json.
  virtual QString ConfigOf(int node) const = 0;
  /// Starts the node again after its keeper has ended.
  /// \return what went wrong; empty: nothing
  virtual QString StartNode(int node) = 0;
  /// Ends all processes of the cluster in order.
  /// \return what went wrong; empty: nothing
  virtual QString End() = 0;

  /// Sets keys of the agent.json of all nodes or one, and restarts their agents.
  /// \return whether all nodes are alive
  bool Configure(const Json& values, std::optional<int> only = {}) const;
  /// Starts the nodes that are not alive.
  /// \return what went wrong; empty: nothing
  QString StartDeadNodes();
  /// Runs `tesseractl WORDS…` for at most `seconds`.
  Outcome Run(const QStringList& words, int seconds = 60) const;
  /// The same with --json.
  /// \return the last line; null if the exit code is not 0
  Json Ask(const QStringList& words, int seconds = 60) const;
  /// Waits for a process of Start().
  /// \return its outcome
  static Outcome Finish(QProcess& process, int seconds = 120) {
    return FinishProgram(process, seconds);
  }

  /// Whether the registrar knows all nodes and each is alive.
  bool AllAlive() const;
  /// Waits for that: after a restart, nodes register one after the other.
  bool WaitAllAlive() const;
  /// The job's object in Status(); null if there is none.
  Json Job(const QString& job) const;
  /// The step of the job, or -1.
  std::int64_t Step(const QString& job) const;
  /// The phase of the transaction in progress; empty if there is none.
  std::string Phase() const;
  /// Whether bytes of a change move, in the pause or while the job trains.
  bool IsMoving() const;
  /// Compares the digests of a committed change: the JSON of `apply`, or an entry of `history`. An
  /// agent that dies may take them with it. Then both are empty, and an event says so.
  /// \return what is wrong; empty: nothing
  QString WrongDigestsOf(const Json& change) const;
  /// Starts gpt-nano as `job`.
  /// \return the outcome of `job start`
  Outcome StartJob(const QString& job, const QString& mesh, const QString& devices,
                   const QStringList& more = {}) const;
  /// `apply JOB --devices … --mesh … --yes --json`.
  /// \return its last object; null where it ended
  ///     without one
  Json Apply(const QString& job, const QString& mesh, const QString& devices,
             const QStringList& more = {}) const;
  /// Polls Status() until `wanted(job)`.
  /// \return whether that came in time
  bool WaitJob(const QString& job, const std::function<bool(const Json& job)>& wanted,
               int seconds = 60) const;
  bool WaitStep(const QString& job, std::int64_t step, int seconds = 60) const;
  /// Waits until the job has trained `steps` more than now.
  /// \return whether it did
  bool GoesOn(const QString& job, std::int64_t steps = 3, int seconds = 60) const;
  /// Polls until `wanted()`.
  static bool WaitFor(const std::function<bool()>& wanted, int seconds = 60);

  /// The current agent of the node.
  std::optional<app::ProcessId> Agent(int node) const;
  /// The processes of `program`, a path, below the node's keeper.
  std::vector<std::int64_t> Children(int node, const std::string& program) const;
  /// The memory of a device such as n0g2, through the keeper's descriptor; nullopt if there is
  /// none.
  std::optional<engine::Arena> ArenaOf(const QString& device) const;
  /// kill -9.
  /// \return whether the process was there and is gone
  static bool Kill(const app::ProcessId& process);

 protected:
  /// \param folder a template for QTemporaryDir
  explicit Cluster(const QString& folder);
  /// Prints the last lines of the agents if the start or a test has failed. For destructors, which
  /// then end the cluster. HomeGuard does that for a killed test.
  void PrintLogsIfFailed() const;
  /// Kills `keepers` and all that is below them.
  static void KillAll(const std::vector<app::ProcessId>& keepers);

  Outcome up_;

 private:
  QTemporaryDir home_;
  HomeGuard guard_;
};

}  // namespace tessera::test
