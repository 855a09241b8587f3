// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A cluster of machines, set up by hand with the steps of the README: keys, configurations, public
/// keys, agents, a profile. The machines are network namespaces. Needs root.

#include <QString>
#include <QStringList>
#include <memory>
#include <vector>

#include "tests/e2e/network_nodes.h"
#include "tests/support/cluster.h"

namespace tessera::test {

/// The cluster is called "lab", and its operator "lena". Below home(), `mN` and `operator` are the
/// TESSERA_HOME of machine N and of the operator, and `nN` has what machine N stores.
class MachineCluster final : public Cluster {
 public:
  struct Options {
    int nodes = 3;
    int devices = 2;
    QString memory = QStringLiteral("64M");
  };

  /// Sets the cluster up, if there are machines; up() has the outcome.
  explicit MachineCluster(const Options& options);
  /// Ends the agents, then the machines.
  ~MachineCluster() override;

  const NetworkNodes& machines() const { return machines_; }
  /// The path of a file below home().
  QString Path(const QString& name) const { return home() + u'/' + name; }

  std::unique_ptr<QProcess> Start(const QStringList& words) const override;
  Json Status() const override;
  int num_nodes() const override { return options_.nodes; }
  app::ProcessId Keeper(int node) const override;
  QString ConfigOf(int node) const override {
    return Path(QStringLiteral("n%1/agent.json").arg(node));
  }
  /// Starts the agent as the machine's service manager does, and does not wait for it.
  QString StartNode(int node) override;
  /// Sends SIGTERM to the agents and waits until they have ended.
  QString End() override;

 private:
  /// Starts `tesseractl WORDS…` on machine `node`; -1: the operator's.
  std::unique_ptr<QProcess> StartOn(int node, const QStringList& words) const;
  /// Waits for such a command and stores its outcome in up().
  /// \return whether it succeeded
  bool SetUp(int node, const QStringList& words);
  /// Stores why the cluster is not up.
  void Fail(const QString& why);
  /// `node setup` on each machine.
  bool ConfigureNodes();
  /// Copies each public key to each machine.
  bool ExchangeKeys();

  Options options_;
  NetworkNodes machines_;
  std::vector<app::ProcessId> keepers_;  // by node
};

}  // namespace tessera::test
