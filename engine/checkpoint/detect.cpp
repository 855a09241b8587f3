// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/safetensors/reader.h"
#include "engine/checkpoint/torch/torch.h"

namespace tessera::checkpoint {

Result<std::shared_ptr<const Checkpoint>> Checkpoint::Open(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) {
    return NotFound(fmt::format("'{}' does not exist", path));
  }
  if (error) return Unavailable(fmt::format("'{}' cannot be examined: {}", path, error.message()));
  if (IsTorch(path)) return OpenTorch(path);
  return std::filesystem::is_directory(status) ? OpenSafetensorsFolder(path)
                                               : OpenSafetensors(path);
}

}  // namespace tessera::checkpoint
