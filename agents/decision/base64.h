// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Base64 (RFC 4648 section 4), in which etcd's JSON writes keys and values.

#include <optional>
#include <string>
#include <string_view>

namespace tessera::agents {

std::string EncodeBase64(std::string_view bytes);
/// nullopt if the text is not base64 with its padding.
std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace tessera::agents
