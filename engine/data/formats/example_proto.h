// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Reads the bytes of a feature from a tf.train.Example (tensorflow/core/example/example.proto and
/// feature.proto).

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace tessera::engine {

/// Whether `message` is a tf.train.Example with at least one feature.
bool IsExample(std::span<const std::byte> message);

/// Returns the first value of the bytes_list of feature `name`; nullopt if `message` is not a valid
/// Example or has no such value. Unknown fields are skipped, as Protocol Buffers require.
std::optional<std::span<const std::byte>> BytesFeature(std::span<const std::byte> message,
                                                       std::string_view name);

}  // namespace tessera::engine
