// SPDX-License-Identifier: Apache-2.0
#include "engine/checkpoint/torch/torch.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "engine/checkpoint/torch/byte_source.h"
#include "engine/checkpoint/torch/dcp.h"
#include "engine/checkpoint/torch/torch_file.h"
#include "engine/checkpoint/torch/torch_save.h"

namespace tessera::checkpoint {
namespace {

namespace fs = std::filesystem;

using Reader = Result<Contents> (*)(const std::string&);

bool Has(const fs::path& folder, std::string_view file) {
  std::error_code error;
  return fs::exists(folder / file, error);
}

bool HasSafetensors(const fs::path& folder) {
  std::error_code error;
  fs::directory_iterator files(folder, error);
  for (; !error && files != fs::directory_iterator(); files.increment(error)) {
    if (files->path().extension() == ".safetensors") return true;
  }
  return false;
}

/// Returns nullptr for another folder. A model that is there in both forms is read as safetensors.
Reader ReaderOfFolder(const fs::path& folder) {
  if (Has(folder, "latest_checkpointed_iteration.txt")) return ReadMegatronFolder;
  if (Has(folder, "metadata.json") && (Has(folder, ".metadata") || Has(folder, "common.pt"))) {
    return ReadMegatronFolder;
  }
  if (Has(folder, ".metadata")) return ReadDcpFolder;
  const bool has_model =
      Has(folder, "pytorch_model.bin.index.json") || Has(folder, "pytorch_model.bin");
  return has_model && !HasSafetensors(folder) ? ReadTorchSaveFolder : nullptr;
}

bool IsFolder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

}  // namespace

bool IsTorch(const std::string& path) {
  if (IsFolder(path)) return ReaderOfFolder(path) != nullptr;
  constexpr std::string_view kZip = "PK\x03\x04";
  auto source = ByteSource::OpenFile(path);
  if (!source) return false;
  const auto begin = ByteWindow(*source).Read(0, std::min((*source)->size(), kOldTorchSaveBytes),
                                              "the first bytes");
  return begin && (begin->starts_with(kZip) || IsOldTorchSave(*begin));
}

Result<std::shared_ptr<const Checkpoint>> OpenTorch(const std::string& path) {
  Reader reader = ReadTorchSaveFile;
  if (IsFolder(path)) reader = ReaderOfFolder(path);
  if (!reader) {
    return NotFound(fmt::format(
        "{}: no .metadata, no latest_checkpointed_iteration.txt and no pytorch_model.bin", path));
  }
  TESSERA_TRY(Contents contents, reader(path));
  return Checkpoint::Make(std::move(contents));
}

}  // namespace tessera::checkpoint
