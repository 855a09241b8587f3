// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Writes checkpoints of the safetensors family from tensors in memory, with any cuts.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/safetensors/piece.h"
#include "ptc/digest.h"
#include "tests/engine/checkpoint/sample_tensors.h"

namespace tessera::test {

/// Returns each tensor as one piece.
std::vector<checkpoint::Piece> WholePieces(const std::vector<SampleTensor>& tensors);

struct SampleOptions {
  std::int64_t alignment = 8;                       // of the first byte of tensors
  std::int64_t file_bytes = std::int64_t{1} << 40;  // kHuggingFace: of one file
  bool digests = false;                             // into __metadata__, from the definition
  std::string digest_algorithm{ptc::kDigestAlgorithm};
  std::map<std::string, std::string> metadata = {};  // of each file
};

/// Writes the files of PlanFiles, without an index.
/// \pre pieces are of the tensors
/// \error as PlanFiles, AssignOffsets and PrintHeader
Status WriteCheckpoint(checkpoint::Format format, const std::filesystem::path& path,
                       const std::vector<SampleTensor>& tensors,
                       const std::vector<checkpoint::Piece>& pieces,
                       const SampleOptions& options = {});

}  // namespace tessera::test
