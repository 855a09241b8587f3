// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A local cluster: `tesseractl up` in a TESSERA_HOME of its own.

#include <memory>
#include <vector>

#include "tests/support/cluster.h"

namespace tessera::agents {
class ClusterClient;
}

namespace tessera::test {

/// With TESSERA_TEST_GPUS=real, clusters have the GPU of this machine, which all their GPUs share.
bool OnRealGpus();

class LocalCluster final : public Cluster {
 public:
  struct Options {
    int nodes = 2;
    int devices = 4;
    QString memory = QStringLiteral("256M");
    QString link;  // "100MB/s"; empty: none
    bool one_host = false;
    bool plain_lanes = false;
    QStringList more = {};  // further words of `up`
    QString simulate = {};  // "16x8": instead of nodes, devices and memory
    /// Words of TESSERA_CUDA_EMULATION besides devices and memory. Not null: devices are those of
    /// the emulated CUDA driver, as with TESSERA_TEST_GPUS=cuda.
    QString cuda = {};
    /// Seconds that a step of the built-in job takes at least: its ranks leave the cores to others.
    QString step_time = QStringLiteral("0.03");
    QString disk = {};  // "16m": home() is a file system of this size; empty: a usual folder
  };

  /// Starts the cluster; up() has the outcome.
  explicit LocalCluster(const Options& options);
  /// Calls `down --all`, then kills the remaining processes by pid.
  ~LocalCluster() override;

  /// Whether home() is a file system of its own. It is not where nothing can be mounted.
  bool has_disk() const { return has_disk_; }
  /// The environment with this TESSERA_HOME, for programs that a test starts itself.
  QStringList Environment() const {
    return EnvironmentWithHome(home()) << QStringLiteral("TESSERA_STEP_TIME=") + step_time_;
  }
  std::unique_ptr<QProcess> Start(const QStringList& words) const override;
  /// Status() reads the profile again: the registrar has moved.
  void Reconnect() const;
  /// Over a connection of this process, which waits for at most 10 s.
  Json Status() const override;
  int num_nodes() const override { return static_cast<int>(keepers_.size()); }
  app::ProcessId Keeper(int node) const override;
  QString ConfigOf(int node) const override;
  QString StartNode(int node) override;
  QString End() override;

 private:
  void ReadKeepers() const;

  const bool has_disk_;
  const QString step_time_;

  mutable std::vector<app::ProcessId> keepers_;            // by node
  mutable std::unique_ptr<agents::ClusterClient> client_;  // of Status(); opened when first used
};

/// "n0g0,n0g1,…": the first `count` devices of a cluster with `per_node` per node.
QString FirstDevices(int count, int per_node = 4);

}  // namespace tessera::test
