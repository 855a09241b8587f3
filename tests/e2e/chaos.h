// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Rounds of random failures on a real cluster: in each, the mesh of a training job is changed, and
/// at random moments processes are killed or stopped, and machines are cut off from the network.
/// After each round the job must train again, and nothing may be lost but the steps after a
/// snapshot.

#include <QProcess>
#include <QString>
#include <QStringList>
#include <functional>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "tests/support/cluster.h"
#include "tests/support/fault_folder.h"

namespace tessera::test {

class MachineCluster;

/// The seed determines what is done, and when after the start of each change. What it hits still
/// differs from run to run.
class Chaos {
 public:
  /// Only machines have links that can be cut. They need root.
  enum class Place { kLoopback, kMachines };
  struct Count {
    int cuts = 0;                                     // of links
    int panels = 0;                                   // killed or stopped
    int committed = 0, rolled_back = 0, unknown = 0;  // outcomes as `apply` reported them
    int restarts = 0, recoveries = 0, returns = 0;    // of the job, by the history and the events
    int compared = 0;                                 // changes whose digests are known
    int spread = 0;                                   // copies over several steps that were begun
  };

  /// Starts a cluster of three nodes and a job.
  Chaos(std::uint64_t seed, Place place);
  ~Chaos();
  Chaos(const Chaos&) = delete;
  Chaos& operator=(const Chaos&) = delete;

  /// Why there are no machines here; empty: the cluster has been started.
  QString problem() const;
  /// \return what is wrong after the round; empty: nothing
  QString Round();
  /// Compares the losses with those of one undisturbed process, and ends the cluster.
  /// \return what is wrong; empty: nothing
  QString Finish();
  /// Leaves the folder of the cluster behind, to see in the logs why something is wrong.
  /// \return the folder
  QString KeepFolder();
  /// What was done in the last round, for a person.
  QString story() const { return story_.join(QStringLiteral("; ")); }
  const Count& count() const { return count_; }
  /// All counts, for a person.
  QString Summary() const;

 private:
  int Pick(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random_); }
  bool Chance(double p) { return std::bernoulli_distribution(p)(random_); }
  /// Starts a panel if there is none. Where this build has none, nothing.
  void StartPanel();
  void EndPanel();
  /// Kills the panel, or stops it while the registrar goes on publishing to it.
  void DisturbPanel();
  /// Begins a change to another mesh.
  void BeginChange();
  /// Injects one or two faults at random moments.
  void InjectFaults();
  void InjectFault();
  /// Injects a fault while an agent is held at a fault point of the transaction (agents/DESIGN.md).
  /// The phases after the preparation take milliseconds, so a random moment hardly hits them.
  void InjectFaultAtPoint();
  void KillNode(int node);
  /// Stops a process, or leaves it stopped, for `length` ms.
  void Stop(std::int64_t pid, int length);
  void CutLink(int node);
  /// Calls `end` after `length` ms, on a thread of its own. It only signals processes or connects
  /// links, which any thread may do.
  void EndAfter(int length, std::function<void()> end);
  /// Waits for the end of all faults and of the change, and starts the nodes that were killed.
  QString Repair();
  QString WaitUntilItTrains();
  QString CheckRanks();
  QString CheckState();

  std::mt19937_64 random_;
  FaultFolder faults_;
  std::unique_ptr<Cluster> cluster_;
  const MachineCluster* machines_ = nullptr;  // is cluster_; null on loopback
  std::unique_ptr<QProcess> panel_;           // on loopback only
  std::unique_ptr<QProcess> change_;
  std::vector<std::jthread> passing_;  // each waits for the end of a fault
  std::int64_t held_ = 0;              // the agent at the point of a fault; 0: none
  std::vector<int> dead_;
  bool spans_nodes_ = true;  // both layouts of the round are on several nodes
  QStringList story_;
  Count count_;
};

}  // namespace tessera::test
