// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Rounds of random failures on a real cluster: in each, the mesh of a training job is changed, and
/// at random moments processes are killed or stopped. After each round the job must train again,
/// and nothing may be lost but the steps after a snapshot.

#include <QProcess>
#include <QString>
#include <QStringList>
#include <memory>
#include <random>
#include <vector>

#include "tests/support/local_cluster.h"

namespace tessera::test {

/// The seed determines what is done, and when after the start of each change. What it hits still
/// differs from run to run.
class Chaos {
 public:
  struct Count {
    int committed = 0, rolled_back = 0, unknown = 0;  // outcomes as `apply` reported them
    int restarts = 0, recoveries = 0, returns = 0;    // of the job, by the history and the events
  };

  /// Starts a cluster of three nodes and a job.
  explicit Chaos(std::uint64_t seed);
  /// \return what is wrong after the round; empty: nothing
  QString Round();
  /// Compares the losses with those of one undisturbed process, and ends the cluster.
  /// \return what is wrong; empty: nothing
  QString Finish();
  /// What was done in the last round, for a person.
  QString story() const { return story_.join(QStringLiteral("; ")); }
  const Count& count() const { return count_; }

 private:
  int Pick(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random_); }
  bool Chance(double p) { return std::bernoulli_distribution(p)(random_); }
  /// Begins a change to another mesh, on devices of at least two nodes.
  void BeginChange();
  void InjectFault();
  void KillNode(int node);
  /// Continues what is stopped and starts what is dead.
  QString Repair();
  QString WaitUntilItTrains();
  QString CheckRanks();
  QString CheckState();

  std::mt19937_64 random_;
  LocalCluster cluster_;
  std::unique_ptr<QProcess> change_;
  std::vector<std::int64_t> stopped_;
  std::vector<int> dead_;
  bool spans_nodes_ = true;  // both layouts of the round are on several nodes
  QStringList story_;
  Count count_;
};

}  // namespace tessera::test
