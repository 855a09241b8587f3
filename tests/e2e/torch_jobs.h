// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A cluster whose jobs are the examples in PyTorch, started as a user does.

#include <QString>
#include <QStringList>
#include <cstdint>
#include <utility>
#include <vector>

#include "tests/folders.h"
#include "tests/python/python.h"
#include "tests/support/local_cluster.h"

namespace tessera::test {

inline const QString kTorchExamples = QStringLiteral(TESSERA_SOURCE_DIR "/agents/python/examples/");
constexpr int kTorchPatience = 90;  // seconds: each process imports torch

/// Of each job. A process takes longer to begin where it computes on a GPU.
inline int TorchSteps() { return OnRealGpus() ? 160 : 40; }

/// Mesh and devices.
using Layout = std::pair<QString, QString>;

class TorchJobs {
 public:
  /// \param python that of FindPython
  TorchJobs(QString python, const LocalCluster::Options& options)
      : python_(std::move(python)), cluster_(options) {}

  LocalCluster& cluster() { return cluster_; }
  /// Starts an example, or the script of an absolute path, with `more` arguments after its steps,
  /// `options` before them.
  bool Start(const QString& job, const QString& script, const Layout& layout,
             const QStringList& more = {}, const QStringList& options = {});
  /// Whether the job has made its steps in time.
  bool EndsPaused(const QString& job, int steps = TorchSteps()) const;
  /// The processes of a node that run the script.
  std::vector<std::int64_t> Ranks(const QString& script, int node) const;
  std::vector<std::int64_t> Ranks(const QString& script) const;

 private:
  QString python_;
  LocalCluster cluster_;
};

}  // namespace tessera::test
