// SPDX-License-Identifier: Apache-2.0
#include "engine/reshard/metadata.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/checkpoint/safetensors/notes.h"
#include "ptc/digest.h"

namespace tessera::reshard {
namespace {

using Json = nlohmann::ordered_json;
using checkpoint::Piece;

/// Keys that describe the files of a checkpoint, not its tensors.
bool IsOfFiles(const std::string& key) {
  return key == checkpoint::kShardingKey || key == checkpoint::kVersionKey ||
         key == checkpoint::kDigestKey || key == checkpoint::kDigestAlgorithmKey || key == "format";
}

std::string Print(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

void AddMetadata(const checkpoint::Checkpoint& source, checkpoint::Format format,
                 Arrangement& arrangement) {
  const std::vector<std::uint64_t> zeros(arrangement.pieces.size(), 0);
  for (OutFile& file : arrangement.files) {
    auto& metadata = file.header.metadata;
    for (const auto& [key, value] : source.metadata()) {
      if (!IsOfFiles(key)) metadata.emplace(key, value);
    }
    metadata["format"] = "pt";
    if (format == checkpoint::Format::kShardedSafetensors) {
      checkpoint::Offsets offsets;
      for (const int p : file.pieces) {
        const Piece& piece = arrangement.pieces[static_cast<std::size_t>(p)];
        std::vector<std::int64_t> begin(piece.shape.size(), 0);
        for (std::size_t d = 0; piece.box && d < begin.size(); ++d) {
          begin[d] = (*piece.box)[static_cast<int>(d)].begin;
        }
        offsets.emplace(piece.tensor, std::move(begin));
      }
      metadata[std::string(checkpoint::kShardingKey)] = checkpoint::PrintOffsets(offsets);
      metadata[std::string(checkpoint::kVersionKey)] = "1.0";
    }
    file.header = WithDigests(arrangement, file, zeros);
  }
}

checkpoint::Header WithDigests(const Arrangement& arrangement, const OutFile& file,
                               const std::vector<std::uint64_t>& piece_digests) {
  checkpoint::Digests digests;
  for (const int p : file.pieces) {
    const auto i = static_cast<std::size_t>(p);
    digests.emplace(arrangement.pieces[i].tensor, piece_digests[i]);
  }
  checkpoint::Header header = file.header;
  header.metadata[std::string(checkpoint::kDigestKey)] = checkpoint::PrintDigests(digests);
  header.metadata[std::string(checkpoint::kDigestAlgorithmKey)] = ptc::kDigestAlgorithm;
  return header;
}

Result<std::uint64_t> CollectionDigest(const std::vector<OutTensor>& tensors,
                                       const std::vector<std::uint64_t>& digests) {
  std::vector<ptc::TensorSpec> specs;
  for (const OutTensor& tensor : tensors)
    specs.push_back({tensor.name, tensor.dtype, tensor.shape});
  TESSERA_TRY(const auto collection, ptc::Collection::Make(std::move(specs), 0));
  return ptc::CollectionDigest(*collection, digests);
}

std::string PrintManifest(const std::vector<OutTensor>& tensors,
                          const std::vector<std::uint64_t>& digests, std::uint64_t digest) {
  Json list = Json::object();
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    list[tensors[t].name] = {{"dtype", ToString(tensors[t].dtype)},
                             {"shape", tensors[t].shape},
                             {"digest", ptc::Hex16(digests[t])}};
  }
  return Print({{"tessera_manifest", 1},
                {"digest_algorithm", ptc::kDigestAlgorithm},
                {"digest", ptc::Hex16(digest)},
                {"tensors", std::move(list)}});
}

std::string PrintIndex(const Arrangement& arrangement) {
  std::int64_t bytes = 0;
  Json map = Json::object();
  for (std::size_t p = 0; p < arrangement.pieces.size(); ++p) {
    const Piece& piece = arrangement.pieces[p];
    bytes += Bytes(piece);
    map[piece.tensor] =
        arrangement.files[static_cast<std::size_t>(arrangement.locations[p].file)].name;
  }
  return Print({{"metadata", {{"total_size", bytes}}}, {"weight_map", std::move(map)}});
}

}  // namespace tessera::reshard
