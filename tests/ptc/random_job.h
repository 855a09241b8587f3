// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Random meshes, tensors under rules of every kind, layouts and changes of them, all small enough
/// to be looked at element by element. A test draws from one generator, seeded by test::Seed().

#include <cstdint>
#include <random>
#include <vector>

#include "ptc/layout.h"

namespace tessera::test {

/// A mesh shape of up to `max_ranks` ranks.
ptc::MeshShape AnyMesh(std::mt19937_64& rng, std::int64_t max_ranks = 12);
/// On some of 15 devices of 3 nodes. \pre mesh.num_ranks() <= 15
ptc::DeviceMesh OnAnyDevices(std::mt19937_64& rng, const ptc::MeshShape& mesh);
/// Uniform, interleaved, explicit or balanced.
ptc::StageRule AnyStages(std::mt19937_64& rng, std::int64_t num_layers, std::int64_t num_stages);

/// A few tensors of at most 512 elements each that all of `meshes` can cut: even, ceil, by heads,
/// segments with cuts of their own, experts, flat alone and in buckets, tied, scalar and empty
/// ones.
std::vector<ptc::TensorSpec> AnyTensors(std::mt19937_64& rng,
                                        const std::vector<ptc::MeshShape>& meshes,
                                        std::int64_t num_layers);
/// The same tensors under other rules that `mesh` can cut: ZeRO switched, other stages, or cut
/// quite differently.
void Recut(std::mt19937_64& rng, const ptc::MeshShape& mesh, std::int64_t num_layers,
           std::vector<ptc::TensorSpec>& tensors);
/// One of these tensors on one of these meshes.
ptc::Layout AnyLayout(std::mt19937_64& rng);

/// Two layouts of the same tensors, on overlapping sets of devices. In every second job the tensors
/// are cut and placed by other rules after the change than before.
struct Job {
  ptc::Layout from;
  ptc::Layout to;
};
Job AnyJob(std::mt19937_64& rng);
/// Layouts of the same tensors one after another, as a job meets them. \pre count >= 1
std::vector<ptc::Layout> AnyHistory(std::mt19937_64& rng, std::size_t count);

}  // namespace tessera::test
