// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Text from outside that may go into JSON and into one line of a message.

#include <string>
#include <string_view>

namespace tessera {

/// Whether the bytes are UTF-8 (Unicode 15, table 3-7) without control characters below U+0020 and
/// U+007F.
bool IsPrintableUtf8(std::string_view text);
/// Any bytes as part of one line of a message: the first 80, those that are not ASCII as \xNN.
std::string Escaped(std::string_view text);

}  // namespace tessera
