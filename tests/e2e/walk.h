// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Walks a running job through meshes, each step a real reconfiguration that is checked.

#include <QString>
#include <vector>

#include "tests/support/local_cluster.h"

namespace tessera::test {

/// One of the eight meshes with dp·tp <= 8 and tp <= 4 that powers of two allow, bar (8,1).
struct WalkMesh {
  int dp = 1;
  int tp = 1;
  QString Text() const { return QStringLiteral("dp=%1,tp=%2").arg(dp).arg(tp); }
};
const std::vector<WalkMesh>& WalkMeshes();

/// A closed walk over WalkMeshes() that takes every ordered pair of different meshes exactly once:
/// an Eulerian circuit of the complete directed graph (Hierholzer). Indices; the first equals the
/// last.
std::vector<std::size_t> EveryPairOnce();

/// Starts a job on the first mesh of `walk` and applies the others, one after another. Prints bytes
/// and pause of each. \return the complaints, one line each
QStringList Walk(const LocalCluster& cluster, const std::vector<std::size_t>& walk);

}  // namespace tessera::test
