// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Random meshes, tensors with rules of every kind, layouts, and changes of layouts. All are small
/// enough for checks element by element. A test uses one generator, seeded by test::Seed().

#include <cstdint>
#include <random>
#include <vector>

#include "ptc/layout.h"

namespace tessera::test {

/// A mesh shape of up to `max_ranks` ranks.
ptc::MeshShape AnyMesh(std::mt19937_64& rng, std::int64_t max_ranks = 12);
/// The mesh on some of 15 devices of 3 nodes.
/// \pre mesh.num_ranks() <= 15
ptc::DeviceMesh OnAnyDevices(std::mt19937_64& rng, const ptc::MeshShape& mesh);
/// A uniform, interleaved, explicit or balanced rule.
ptc::StageRule AnyStages(std::mt19937_64& rng, std::int64_t num_layers, std::int64_t num_stages);

/// A few tensors of at most 512 elements each that all of `meshes` can cut. They include even and
/// ceil splits, heads, segments with their own cuts, experts, flat cuts with and without buckets,
/// tied, scalar and empty tensors.
std::vector<ptc::TensorSpec> AnyTensors(std::mt19937_64& rng,
                                        const std::vector<ptc::MeshShape>& meshes,
                                        std::int64_t num_layers);
/// The same tensors with other rules that `mesh` can cut: ZeRO switched, other stages, or entirely
/// different cuts.
void Recut(std::mt19937_64& rng, const ptc::MeshShape& mesh, std::int64_t num_layers,
           std::vector<ptc::TensorSpec>& tensors);
/// One of these tensors on one of these meshes.
ptc::Layout AnyLayout(std::mt19937_64& rng);

/// Two layouts of the same tensors on overlapping sets of devices. In every second job the rules
/// differ between the two layouts.
struct Job {
  ptc::Layout from;
  ptc::Layout to;
};
Job AnyJob(std::mt19937_64& rng);
/// A sequence of layouts of the same tensors, as in the life of a job.
/// \pre count >= 1
std::vector<ptc::Layout> AnyHistory(std::mt19937_64& rng, std::size_t count);

}  // namespace tessera::test
