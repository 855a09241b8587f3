// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Text that may go into a `string` field: Protocol Buffers refuse to parse a message whose strings
/// are not UTF-8, and a process may print any bytes to its stderr.

#include <string>
#include <string_view>

namespace tessera::agents {

/// `text` with every byte that is not part of a well-formed UTF-8 sequence (RFC 3629) replaced by
/// U+FFFD. Well-formed text comes back unchanged.
std::string Utf8(std::string_view text);

}  // namespace tessera::agents
