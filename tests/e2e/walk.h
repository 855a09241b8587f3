// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Applies a sequence of meshes to a running job and checks each transaction.

#include <QString>
#include <vector>

#include "tests/support/local_cluster.h"

namespace tessera::test {

struct WalkMesh {
  int dp = 1;
  int tp = 1;
  int pp = 1;
  int Ranks() const { return dp * tp * pp; }
  QString Text() const { return QStringLiteral("dp=%1,tp=%2,pp=%3").arg(dp).arg(tp).arg(pp); }
};
/// Twelve meshes on 1, 2, 4 and 8 devices: each kind of parallelism alone, every two together, and
/// all three.
const std::vector<WalkMesh>& WalkMeshes();

/// One stop of a walk: the index of a mesh, and whether ZeRO is on.
struct WalkStop {
  std::size_t mesh = 0;
  bool zero = false;
};
using WalkStops = std::vector<WalkStop>;

/// A closed walk over WalkMeshes() that contains every ordered pair of different meshes exactly
/// once: an Eulerian circuit of the complete directed graph (Hierholzer). The first stop equals the
/// last.
WalkStops EveryPairOnce(bool zero);

/// A closed walk of 24 steps between different pairs: twice around the meshes, in strides of five
/// and then of seven (both are prime to 12). ZeRO is off for two stops and on for two, so each of
/// the four changes of ZeRO occurs.
WalkStops TwiceAround();

/// The job that walks, of four layers: the exact one, or the built-in trainer.
enum class Walker { kExact, kTrainer };

/// Starts a job on the first mesh of `walk` and applies the others, one after another. Prints bytes
/// and pause of each transaction.
/// \return one line per failed check
QStringList Walk(const LocalCluster& cluster, const WalkStops& walk, Walker walker);

}  // namespace tessera::test
