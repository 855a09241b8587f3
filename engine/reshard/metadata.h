// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What the destination stores beside its tensors: the __metadata__ of each file, the index of a
/// Hugging Face folder, and the manifest (FORMAT.md).

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/checkpoint/checkpoint.h"
#include "engine/reshard/arrangement.h"

namespace tessera::reshard {

inline constexpr std::string_view kManifestName = "tessera-manifest.json";
inline constexpr std::string_view kIndexName = "model.safetensors.index.json";

/// Fills in the metadata of every header: the metadata of the source, the offsets of the boxes, and
/// digests that are all 0.
void AddMetadata(const checkpoint::Checkpoint& source, checkpoint::Format format,
                 Arrangement& arrangement);
/// Returns the header with the digests of the pieces. Its length does not change.
/// \pre AddMetadata was called
checkpoint::Header WithDigests(const OutFile& file,
                               const std::vector<std::uint64_t>& piece_digests);

/// The xxh3-64 of the digest lines (ptc/FORMAT.md).
/// \error kInvalidArgument naming a tensor whose name cannot be part of a line
Result<std::uint64_t> CollectionDigest(const std::vector<OutTensor>& tensors,
                                       const std::vector<std::uint64_t>& digests);

/// Receives a text in blocks, so that a text about a million tensors is never in memory as a whole.
using TextSink = std::function<Status(std::string_view block)>;
/// \param digests of each tensor
/// \param digest of the collection
/// \pre the names of the tensors are UTF-8, which AssignOffsets checks
/// \error those of `sink`
Status PrintManifest(const std::vector<OutTensor>& tensors,
                     const std::vector<std::uint64_t>& digests, std::uint64_t digest,
                     const TextSink& sink);
Status PrintIndex(const Arrangement& arrangement, const TextSink& sink);

}  // namespace tessera::reshard
