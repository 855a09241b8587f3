// SPDX-License-Identifier: Apache-2.0
#include "engine/data/data_error.h"

#include <fmt/format.h>

namespace tessera::engine {

Error BadData(const std::string& name, std::int64_t offset, std::string_view what) {
  return DataLoss(fmt::format("data file '{}' at byte {}: {}", name, offset, what));
}

Error BadData(const ByteSource& source, std::int64_t offset, std::string_view what) {
  return BadData(source.name(), offset, what);
}

Status ReadChecked(const ByteSource& source, std::int64_t offset, std::span<std::byte> out) {
  const auto size = static_cast<std::int64_t>(out.size());
  if (offset < 0 || offset > source.size_bytes() || size > source.size_bytes() - offset) {
    return BadData(
        source, offset,
        fmt::format("{} bytes are wanted, the file has {} in all", size, source.size_bytes()));
  }
  return source.ReadAt(offset, out);
}

}  // namespace tessera::engine
