// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Checks and escapes for text from outside, before it goes into JSON or into a message.

#include <cstddef>
#include <string>
#include <string_view>

namespace tessera {

/// The bytes of the UTF-8 character that `text` begins with (Unicode 15, table 3-7); 0 if it is
/// malformed or there is none.
std::size_t Utf8Length(std::string_view text);
/// Whether the bytes are UTF-8 without control characters (those below U+0020, and U+007F).
bool IsPrintableUtf8(std::string_view text);
/// Makes any bytes fit for one line of a message: the first 80 bytes, with those that are not
/// printable ASCII as \xNN, and "…" if there are more.
std::string Escaped(std::string_view text);

}  // namespace tessera
