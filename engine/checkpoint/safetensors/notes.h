// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The values of __metadata__ that are JSON texts: the position of each box in its tensor, as
/// torch.distributed.checkpoint writes it, and the digests that Tessera adds.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/checkpoint/safetensors/header.h"
#include "ptc/base/result.h"

namespace tessera::checkpoint {

inline constexpr std::string_view kShardingKey = "DCP_SHARDING_INFO";
inline constexpr std::string_view kVersionKey = "DCP_VERSION";
/// Digests by name, as hand-written files have them, and in the order of the header's tensors, as
/// Tessera writes them: a header then has each name once.
inline constexpr std::string_view kDigestKey = "tessera.digests";
inline constexpr std::string_view kDigestListKey = "tessera.digest_list";
/// The algorithm of these digests, as ptc::kDigestAlgorithm names it. Digests without it, or with a
/// name that is not known here, are not compared.
inline constexpr std::string_view kDigestAlgorithmKey = "tessera.digest";

/// For each tensor: the index of the first element of its box, one number per dim.
using Offsets = std::map<std::string, std::vector<std::int64_t>, std::less<>>;
/// {"w":{"saved_offsets":[0,4]}}
std::string PrintOffsets(const Offsets& offsets);
/// \param file for errors, whose positions count from the beginning of the value
Result<Offsets> ParseOffsets(std::string_view json, const std::string& file);

/// For each tensor: the contribution of its elements in this file to its digest (ptc/digest.h).
using Digests = std::map<std::string, std::uint64_t, std::less<>>;
/// {"w":"0123456789abcdef"}
std::string PrintDigests(const Digests& digests);
Result<Digests> ParseDigests(std::string_view json, const std::string& file);
/// "0123456789abcdef0123456789abcdef". The length does not depend on the digests, so that they can
/// replace zeros that were written first.
std::string PrintDigestList(const std::vector<std::uint64_t>& digests);
/// The digests that a header states under either key; nullopt if it has neither.
/// \error as ParseDigests; kInvalidArgument for a list that has not 16 hex digits for each tensor
Result<std::optional<Digests>> DigestsIn(const Header& header, const std::string& file);

}  // namespace tessera::checkpoint
