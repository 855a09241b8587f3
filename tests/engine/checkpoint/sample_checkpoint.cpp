// SPDX-License-Identifier: Apache-2.0
#include "tests/engine/checkpoint/sample_checkpoint.h"

#include <algorithm>

#include "engine/checkpoint/safetensors/header.h"
#include "engine/checkpoint/safetensors/notes.h"

namespace tessera::test {

using checkpoint::Format;
using checkpoint::Piece;

namespace {

const SampleTensor& TensorOf(const std::vector<SampleTensor>& tensors, const std::string& name) {
  return *std::ranges::find(tensors, name, &SampleTensor::name);
}

Result<std::string> FileText(Format format, const std::vector<SampleTensor>& tensors,
                             const std::vector<Piece>& pieces, const SampleOptions& options) {
  checkpoint::Header header{.tensors = {}, .metadata = options.metadata};
  checkpoint::Offsets offsets;
  checkpoint::Digests digests;
  std::map<std::string, std::vector<std::byte>> bytes;
  for (const Piece& piece : pieces) {
    const SampleTensor& tensor = TensorOf(tensors, piece.tensor);
    std::vector<std::int64_t> begin(piece.shape.size(), 0);
    ptc::Shape shape = piece.shape;
    for (int d = 0; piece.box && d < piece.box->rank(); ++d) {
      begin[static_cast<std::size_t>(d)] = (*piece.box)[d].begin;
      shape[static_cast<std::size_t>(d)] = (*piece.box)[d].size();
    }
    header.tensors.push_back({piece.tensor, piece.dtype, shape});
    offsets.emplace(piece.tensor, begin);
    if (piece.box) bytes[piece.tensor] = Extract(tensor, *piece.box);
    digests.emplace(piece.tensor, piece.box ? DigestByDefinition(tensor, *piece.box) : 0);
  }
  TESSERA_RETURN_IF_ERROR(checkpoint::AssignOffsets(header.tensors));
  if (format == Format::kShardedSafetensors) {
    header.metadata.emplace(checkpoint::kShardingKey, checkpoint::PrintOffsets(offsets));
    header.metadata.emplace(checkpoint::kVersionKey, "1.0");
  }
  if (options.digests) {
    header.metadata.emplace(checkpoint::kDigestKey, checkpoint::PrintDigests(digests));
    header.metadata.emplace(checkpoint::kDigestAlgorithmKey, options.digest_algorithm);
  }
  TESSERA_TRY(std::string text, checkpoint::PrintHeader(header, options.alignment));
  for (const checkpoint::FileTensor& placed : header.tensors) {
    for (const std::byte byte : bytes[placed.name]) text += static_cast<char>(byte);
  }
  return text;
}

}  // namespace

std::vector<Piece> WholePieces(const std::vector<SampleTensor>& tensors) {
  std::vector<Piece> pieces;
  for (const SampleTensor& tensor : tensors) {
    pieces.push_back({tensor.name, tensor.dtype, tensor.shape, ptc::Box::Whole(tensor.shape)});
  }
  return pieces;
}

Status WriteCheckpoint(Format format, const std::filesystem::path& path,
                       const std::vector<SampleTensor>& tensors, const std::vector<Piece>& pieces,
                       const SampleOptions& options) {
  TESSERA_TRY(const auto files, checkpoint::PlanFiles(format, path.filename(), pieces,
                                                      {.most_bytes = options.file_bytes}));
  const bool folder = format != Format::kSafetensors;
  if (folder) std::filesystem::create_directories(path);
  for (const checkpoint::PlannedFile& file : files) {
    std::vector<Piece> inside;
    for (const int p : file.pieces) inside.push_back(pieces[static_cast<std::size_t>(p)]);
    TESSERA_TRY(const std::string text, FileText(format, tensors, inside, options));
    WriteText(folder ? path / file.name : path, text);
  }
  return OkStatus();
}

}  // namespace tessera::test
