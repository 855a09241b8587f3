// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What the files of sample clusters are made of.

#include "engine/cluster/snapshot.h"
#include "engine/vfs/job_facts.h"

namespace tessera::test {

/// The jobs of a snapshot as built-in models on their meshes, at their epochs and steps; those are
/// left out whose mesh their model cannot be cut for.
engine::vfs::Jobs StatesOf(const engine::ClusterSnapshot& snapshot);

/// A model of `layers` layers with 36 tensors each, cut over tp, on dp × tp × pp devices of eight a
/// node.
engine::vfs::JobFactsPtr BigState(std::int64_t layers, const ptc::MeshShape& shape);

}  // namespace tessera::test
