// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The form of errors about the content of data: which file, which byte, what is wrong.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/data/byte_source.h"

namespace tessera::engine {

Error BadData(const std::string& name, std::int64_t offset, std::string_view what);
Error BadData(const ByteSource& source, std::int64_t offset, std::string_view what);

/// Fills `out` from an offset that an index or a header gives. An offset outside the source is an
/// error.
Status ReadChecked(const ByteSource& source, std::int64_t offset, std::span<std::byte> out);

}  // namespace tessera::engine
