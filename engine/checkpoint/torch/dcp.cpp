// SPDX-License-Identifier: Apache-2.0
#include "engine/checkpoint/torch/dcp.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <utility>

#include "engine/checkpoint/folder_names.h"
#include "engine/checkpoint/torch/byte_source.h"
#include "engine/checkpoint/torch/chunk_locator.h"
#include "engine/checkpoint/torch/dcp_metadata.h"
#include "engine/files/absolute_path.h"

namespace tessera::checkpoint {
namespace {

namespace fs = std::filesystem;

/// The absolute paths and the sizes of the files.
struct Files {
  std::vector<std::string> paths;
  std::vector<std::int64_t> sizes;
};

Result<Files> FindFiles(const fs::path& folder, const std::vector<std::string>& names) {
  Files files;
  for (const std::string& name : names) {
    const fs::path path = folder / name;
    std::error_code error;
    const auto size = fs::file_size(path, error);
    if (error) return NotFound(fmt::format("{}: {}", path.string(), error.message()));
    files.paths.push_back(path.string());
    files.sizes.push_back(static_cast<std::int64_t>(size));
  }
  return files;
}

}  // namespace

Result<Contents> ReadDcpFolder(const std::string& path) {
  const fs::path folder = engine::AbsolutePath(path);
  const std::string metadata_path = (folder / ".metadata").string();
  TESSERA_TRY(ByteSourcePtr source, ByteSource::OpenFile(metadata_path));
  const ByteWindow window(std::move(source));
  if (window.size() > Pickle::kMaxBytes) {
    return window.At(Pickle::kMaxBytes, fmt::format("the file has {} bytes, the limit is {}",
                                                    window.size(), Pickle::kMaxBytes));
  }
  TESSERA_TRY(std::string bytes, window.Read(0, window.size(), "the pickle"));
  TESSERA_TRY(const PicklePtr pickle, Pickle::Read(metadata_path, 0, std::move(bytes)));
  TESSERA_TRY(DcpMetadata metadata, ReadDcpMetadata(*pickle));
  TESSERA_TRY(Files files, FindFiles(folder, metadata.files));

  Contents contents{Format::kTorchDcp, folder.string(), std::move(files.paths), {}};
  contents.metadata = std::move(metadata.values);
  contents.opaque = std::move(metadata.opaque);
  TESSERA_TRY(contents.unread, UnreadFiles(folder.string(), ".distcp", metadata.files,
                                           ".metadata does not name it"));
  for (DcpTensor& tensor : metadata.tensors) {
    StoredTensor stored{std::move(tensor.name), tensor.dtype, std::move(tensor.shape), {}};
    for (const DcpChunk& chunk : tensor.chunks) {
      const auto file = static_cast<std::size_t>(chunk.file);
      if (chunk.offset > files.sizes[file] || chunk.length > files.sizes[file] - chunk.offset) {
        return ErrorAt(
            contents.files[file], chunk.offset,
            fmt::format("tensor '{}': box {} should have {} bytes here, the file ends at "
                        "byte {}",
                        stored.name, ptc::ToString(chunk.box), chunk.length, files.sizes[file]));
      }
      stored.boxes.push_back({chunk.box, chunk.file, chunk.offset, {}, chunk.length});
    }
    contents.tensors.push_back(std::move(stored));
  }
  contents.locate = [locator = std::make_shared<const ChunkLocator>(contents.files)](
                        const StoredTensor& tensor, const StoredBox& box) {
    return locator->Locate(tensor, box);
  };
  return contents;
}

}  // namespace tessera::checkpoint
