// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The form of errors about the content of data: which file, which byte, what is wrong.

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

#include "engine/data/byte_source.h"

namespace tessera::engine {

inline Error BadData(const std::string& name, std::int64_t offset, std::string_view what) {
  return DataLoss(fmt::format("data file '{}' at byte {}: {}", name, offset, what));
}
inline Error BadData(const ByteSource& source, std::int64_t offset, std::string_view what) {
  return BadData(source.name(), offset, what);
}

/// Fills `out` from an offset that an index or a header gives. An offset outside the source is an
/// error.
inline Status ReadChecked(const ByteSource& source, std::int64_t offset, std::span<std::byte> out) {
  const auto size = static_cast<std::int64_t>(out.size());
  if (offset < 0 || offset > source.size_bytes() || size > source.size_bytes() - offset) {
    return BadData(
        source, offset,
        fmt::format("{} bytes are wanted, the file has {} in all", size, source.size_bytes()));
  }
  return source.ReadAt(offset, out);
}

}  // namespace tessera::engine
