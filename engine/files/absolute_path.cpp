// SPDX-License-Identifier: Apache-2.0
#include "engine/files/absolute_path.h"

#include <filesystem>
#include <system_error>

namespace tessera::engine {

std::string AbsolutePath(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error).lexically_normal();
  if (error) return path;
  return (absolute.has_filename() ? absolute : absolute.parent_path()).string();
}

}  // namespace tessera::engine
