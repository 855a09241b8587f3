// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// All configurations that a job can run, whatever their speed.

#include <cstdint>
#include <vector>

#include "engine/cluster/step_options.h"
#include "engine/model/gpt.h"
#include "ptc/mesh.h"

namespace tessera::engine {

/// Returns every dp x tp x pp of `ranks` ranks that passes CheckMesh with the trainer's own
/// micro-batch, in order of (pp, dp, tp). Degrees of other axes are those of `like`.
std::vector<ptc::MeshShape> MeshesOf(const JobSettings& settings, std::int64_t ranks,
                                     const ptc::MeshShape& like = {});

/// Returns the micro-batches to compare on a mesh: the trainer's own choice (0), then each other
/// power of two up to 8 that is not larger than a rank's share of the batch. More samples only hold
/// more activations (see MicroBatch). Own programs: 0.
/// \pre CheckMesh(settings, mesh, {})
std::vector<std::int64_t> MicroBatchesOf(const JobSettings& settings, const ptc::MeshShape& mesh);

}  // namespace tessera::engine
