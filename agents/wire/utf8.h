// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Makes text fit for a `string` field. Protocol Buffers refuse a message whose strings are not
/// UTF-8, and a process may print any bytes to its stderr.

#include <string>
#include <string_view>

namespace tessera::agents {

/// Replaces every byte that is not part of a well-formed UTF-8 sequence (RFC 3629) by U+FFFD.
/// Well-formed text is returned unchanged.
std::string Utf8(std::string_view text);

}  // namespace tessera::agents
