// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Checks the .idx of Megatron-LM and reduces it to runs of adjacent tokens.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/data/formats/megatron.h"

namespace tessera::engine {

/// The DType codes of Megatron whose numbers can be token ids.
enum class TokenType : std::uint8_t { kU8 = 1, kI8 = 2, kI16 = 3, kI32 = 4, kI64 = 5, kU16 = 8 };
std::int64_t SizeOf(TokenType type);  // bytes

/// An index entry: adjacent tokens in one .bin.
struct TokenRun {
  std::int64_t first_token = 0;  // in the whole data set
  std::int64_t begin_bytes = 0;  // in the .bin
  std::int64_t num_tokens = 0;
};
inline constexpr std::size_t kTokenRunWords = 4;  // three numbers and the type

/// Adds the runs of a pair to `builder`. Files written by Megatron have one.
/// \param first_token the first token of this pair; set to the first one after it
/// \error as OpenMegatron
Result<TokenType> ScanMegatronIndex(const MegatronPair& pair, IndexBuilder& builder,
                                    std::int64_t& first_token);

}  // namespace tessera::engine
