// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The one thing that training reads from a tf.train.Example (tensorflow/core/example/example.proto
/// and feature.proto): the bytes of a feature.

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace tessera::engine {

/// The first value of the bytes_list of feature `name`; nullopt if `message` is no valid Example or
/// has no such value. Unknown fields are skipped, as Protocol Buffers ask for.
std::optional<std::span<const std::byte>> BytesFeature(std::span<const std::byte> message,
                                                       std::string_view name);

}  // namespace tessera::engine
