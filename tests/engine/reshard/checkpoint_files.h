// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Checkpoints in which every element is a function of seed, tensor and index, so that any part of
/// any copy can be verified without the original.

#include <QTemporaryDir>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/checkpoint/checkpoint.h"
#include "engine/reshard/arrangement.h"
#include "ptc/layout.h"

namespace tessera::test {

/// Returns the bytes of a whole tensor without using the code under test. Floating-point elements
/// are small integers, which every type of 16 bits and more represents exactly.
std::vector<std::byte> BytesOfTensor(std::uint64_t seed, const reshard::OutTensor& tensor);

/// Writes a safetensors file without using the code under test.
/// \return whether it succeeded
bool WriteSafetensors(const std::string& path, std::uint64_t seed,
                      const std::vector<reshard::OutTensor>& tensors);

/// Describes the first difference from these tensors; empty if there is none.
std::string WhatDiffers(const checkpoint::Checkpoint& checkpoint, std::uint64_t seed,
                        const std::vector<reshard::OutTensor>& tensors);

/// Returns tensors of rank 0 to 4 with up to a few thousand elements, some without, named by
/// number.
std::vector<reshard::OutTensor> AnyTensors(std::mt19937_64& rng, int count);
/// Returns a layout on up to 12 ranks: cuts of several dims, ragged cuts, fused segments, flat
/// ranges, pipeline stages and replicas.
ptc::Layout AnyLayout(std::mt19937_64& rng, const std::vector<reshard::OutTensor>& tensors);

void WriteFile(const std::string& path, const std::string& bytes);
/// Reads a whole file. Empty if it cannot be read.
std::string Slurp(const std::string& path);

}  // namespace tessera::test
