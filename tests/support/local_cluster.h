// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A local cluster for end-to-end tests: `tesseractl up` in a TESSERA_HOME of its own. Tests call
/// the programs as users do. Nothing is left behind.

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

namespace tessera::agents {
class ClusterClient;
}

namespace tessera::test {

class LocalCluster {
 public:
  struct Options {
    int nodes = 2;
    int devices = 4;
    QString memory = QStringLiteral("256M");
    QString link;  // "100MB/s"; empty: none
    bool one_host = false;
  };

  /// Starts the cluster; up() has the outcome.
  explicit LocalCluster(const Options& options);
  /// Calls `down --all`, then kills the remaining processes by pid. Prints the last lines of the
  /// agents if a test has failed. HomeGuard does the same for a killed test.
  ~LocalCluster();
  LocalCluster(const LocalCluster&) = delete;
  LocalCluster& operator=(const LocalCluster&) = delete;

  const Outcome& up() const { return up_; }
  QString home() const { return home_.path(); }
  /// The environment with this TESSERA_HOME, for programs that a test starts itself.
  QStringList Environment() const { return EnvironmentWithHome(home()); }

  /// Sets keys of all nodes' agent.json and restarts their agents.
  /// \return whether all nodes are alive
  bool Configure(const std::map<std::string, std::int64_t>& values) const;
  /// Starts the nodes that are not alive.
  /// \return what went wrong; empty: nothing
  QString StartDeadNodes() const;
  /// Runs `tesseractl WORDS…` for at most `seconds`.
  Outcome Run(const QStringList& words, int seconds = 60) const;
  /// The same with --json.
  /// \return the last line; null if the exit code is not 0
  Json Ask(const QStringList& words, int seconds = 60) const;
  /// Starts `tesseractl WORDS…` and returns at once.
  std::unique_ptr<QProcess> Start(const QStringList& words) const;
  /// Waits for such a process.
  /// \return its outcome
  static Outcome Finish(QProcess& process, int seconds = 120) {
    return FinishProgram(process, seconds);
  }

  /// The object of `status --json`, over a connection of this process; null where the registrar
  /// does not answer within 10 s.
  Json Status() const;
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

  app::ProcessId Keeper(int node) const;
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

 private:
  void ReadKeepers() const;

  QTemporaryDir home_;
  HomeGuard guard_;
  Outcome up_;
  mutable std::vector<app::ProcessId> keepers_;            // by node
  mutable std::unique_ptr<agents::ClusterClient> client_;  // of Status(); opened when first used
};

/// "n0g0,n0g1,…": the first `count` devices of a cluster with `per_node` per node.
QString FirstDevices(int count, int per_node = 4);

}  // namespace tessera::test
