// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Tensors in memory with a slow, obvious way to read boxes, to compare checkpoints with.

#include <QString>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "engine/checkpoint/checkpoint.h"
#include "ptc/box.h"
#include "ptc/dtype.h"

namespace tessera::test {

struct SampleTensor {
  std::string name;
  ptc::DType dtype = ptc::DType::kF32;
  ptc::Shape shape;
  std::vector<std::byte> bytes;  // row-major
};

/// Returns a tensor of any bytes and dtype, rank 0 to 4, and sizes 0 to 9.
SampleTensor AnyTensor(std::mt19937_64& rng, std::string name);
/// Cuts the box at random planes, `cuts` times.
std::vector<ptc::Box> AnyTiling(std::mt19937_64& rng, const ptc::Box& whole, int cuts);
/// Returns the row-major bytes of a box, element by element.
/// \pre the box ends with whole bytes
std::vector<std::byte> Extract(const SampleTensor& tensor, const ptc::Box& box);
/// Returns the digest of the elements of a box, by the definition.
std::uint64_t DigestByDefinition(const SampleTensor& tensor, const ptc::Box& box);

void WriteText(const std::filesystem::path& path, std::string_view text);
std::string ReadText(const std::filesystem::path& path);

/// Describes the first difference between a checkpoint and these tensors, compared whole and in
/// random boxes; empty if there is none.
QString Differs(const checkpoint::Checkpoint& checkpoint, const std::vector<SampleTensor>& tensors,
                std::mt19937_64& rng);

}  // namespace tessera::test
