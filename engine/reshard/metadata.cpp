// SPDX-License-Identifier: Apache-2.0
#include "engine/reshard/metadata.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "engine/checkpoint/json_scanner.h"
#include "engine/checkpoint/safetensors/notes.h"
#include "ptc/digest.h"

namespace tessera::reshard {
namespace {

using checkpoint::Piece;

/// Keys that describe the files of a checkpoint, not its tensors.
bool IsOfFiles(const std::string& key) {
  return key == checkpoint::kShardingKey || key == checkpoint::kVersionKey ||
         key == checkpoint::kDigestKey || key == checkpoint::kDigestListKey ||
         key == checkpoint::kDigestAlgorithmKey || key == "format";
}

constexpr std::size_t kBlockBytes = std::size_t{1} << 20;

/// Collects text and passes it on in blocks.
class BlockWriter {
 public:
  explicit BlockWriter(const TextSink& sink) : sink_(sink) {}
  void Text(std::string_view text) { block_ += text; }
  /// A JSON string. AssignOffsets has checked that names are UTF-8.
  void Quoted(std::string_view text) { checkpoint::AppendJsonString(block_, text); }
  /// Passes the block on if it has at least `least` bytes.
  Status Flush(std::size_t least) {
    if (block_.size() < least) return OkStatus();
    const Status status = sink_(block_);
    block_.clear();
    return status;
  }

 private:
  const TextSink& sink_;
  std::string block_;
};

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
    file.header = WithDigests(file, zeros);
  }
}

checkpoint::Header WithDigests(const OutFile& file,
                               const std::vector<std::uint64_t>& piece_digests) {
  // The pieces are in the order of the header's tensors.
  std::vector<std::uint64_t> digests;
  for (const int p : file.pieces) digests.push_back(piece_digests[static_cast<std::size_t>(p)]);
  checkpoint::Header header = file.header;
  header.metadata[std::string(checkpoint::kDigestListKey)] = checkpoint::PrintDigestList(digests);
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

Status PrintManifest(const std::vector<OutTensor>& tensors,
                     const std::vector<std::uint64_t>& digests, std::uint64_t digest,
                     const TextSink& sink) {
  BlockWriter out(sink);
  out.Text(
      fmt::format("{{\n \"tessera_manifest\": 1,\n \"digest_algorithm\": \"{}\",\n "
                  "\"digest\": \"{}\",\n \"tensors\": {{",
                  ptc::kDigestAlgorithm, ptc::Hex16(digest)));
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    out.Text(t == 0 ? "\n  " : ",\n  ");
    out.Quoted(tensors[t].name);
    out.Text(fmt::format(": {{\"dtype\": \"{}\", \"shape\": [{}], \"digest\": \"{}\"}}",
                         ToString(tensors[t].dtype), fmt::join(tensors[t].shape, ", "),
                         ptc::Hex16(digests[t])));
    TESSERA_RETURN_IF_ERROR(out.Flush(kBlockBytes));
  }
  out.Text("\n }\n}\n");
  return out.Flush(0);
}

Status PrintIndex(const Arrangement& arrangement, const TextSink& sink) {
  std::int64_t bytes = 0;
  for (const Piece& piece : arrangement.pieces) bytes += Bytes(piece);
  BlockWriter out(sink);
  out.Text(
      fmt::format("{{\n \"metadata\": {{\n  \"total_size\": {}\n }},\n \"weight_map\": {{", bytes));
  for (std::size_t p = 0; p < arrangement.pieces.size(); ++p) {
    out.Text(p == 0 ? "\n  " : ",\n  ");
    out.Quoted(arrangement.pieces[p].tensor);
    out.Text(": ");
    out.Quoted(arrangement.files[static_cast<std::size_t>(arrangement.locations[p].file)].name);
    TESSERA_RETURN_IF_ERROR(out.Flush(kBlockBytes));
  }
  out.Text("\n }\n}\n");
  return out.Flush(0);
}

}  // namespace tessera::reshard
