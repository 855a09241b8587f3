// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Llama models of the sizes that benches plan with, from the published configurations.

#include <cstdint>

#include "ptc/tensor_spec.h"

namespace tessera::test {

struct Llama {
  std::int64_t layers, hidden, feed_forward, query_heads, kv_heads, vocabulary;
};
inline constexpr Llama kLlama405B{126, 16384, 53248, 128, 8, 128256};

/// Parameters in bf16 with f32 masters and Adam's moments, cut over tp as Megatron does; with
/// `zero` the f32 states are also cut flat over dp (ZeRO-1).
ptc::CollectionPtr MakeLlama(const Llama& model, bool zero);

}  // namespace tessera::test
