// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The .idx of Megatron-LM, checked and brought down to runs of tokens that lie side by side.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/data/formats/megatron.h"

namespace tessera::engine {

/// What Megatron's DType codes stand for, of those that can hold token ids.
enum class TokenType : std::uint8_t { kU8 = 1, kI8 = 2, kI16 = 3, kI32 = 4, kI64 = 5, kU16 = 8 };
std::int64_t SizeOf(TokenType type);  // bytes

/// An index entry: tokens that follow each other in one .bin.
struct TokenRun {
  std::int64_t first_token = 0;  // in the whole data set
  std::int64_t begin_bytes = 0;  // in the .bin
  std::int64_t num_tokens = 0;
};
inline constexpr std::size_t kTokenRunWords = 4;  // and the type

/// Adds the runs of a pair to `builder`. Files written by Megatron have one.
/// \param first_token in, and out: behind those of this pair
/// \error as OpenMegatron
Result<TokenType> ScanMegatronIndex(const MegatronPair& pair, IndexBuilder& builder,
                                    std::int64_t& first_token);

}  // namespace tessera::engine
