// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Checkpoints whose every element is a function of seed, tensor and index: any part of any copy
/// can be checked by itself.

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

/// The bytes of a whole tensor, made without any code of the checkpoints. Floating-point elements
/// are small integers, exact in every type of 16 bits and more.
std::vector<std::byte> BytesOfTensor(std::uint64_t seed, const reshard::OutTensor& tensor);

/// Writes a safetensors file byte by byte, without the code under test. \return whether that went
/// well
bool WriteSafetensors(const std::string& path, std::uint64_t seed,
                      const std::vector<reshard::OutTensor>& tensors);

/// Empty where the checkpoint has these tensors with these elements; else what is wrong.
std::string WhatDiffers(const checkpoint::Checkpoint& checkpoint, std::uint64_t seed,
                        const std::vector<reshard::OutTensor>& tensors);

/// Tensors of rank 0 to 4 with up to some thousand elements, some with none, named by number.
std::vector<reshard::OutTensor> AnyTensors(std::mt19937_64& rng, int count);
/// A mesh of up to 12 ranks and a rule for each tensor: cuts of several dims, ragged ones, fused
/// segments, flat ranges, pipeline stages, replicas.
ptc::Layout AnyLayout(std::mt19937_64& rng, const std::vector<reshard::OutTensor>& tensors);

/// A temporary folder, in memory where that is possible: these tests wait for the disk very often.
std::unique_ptr<QTemporaryDir> MemoryFolder();
void WriteFile(const std::string& path, const std::string& bytes);
/// All of a file. Empty if it cannot be read.
std::string Slurp(const std::string& path);

}  // namespace tessera::test
