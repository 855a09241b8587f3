// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The values of __metadata__ that are JSON texts: the position of each box in its tensor, as
/// torch.distributed.checkpoint writes it, and the digests that Tessera adds.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ptc/base/result.h"

namespace tessera::checkpoint {

inline constexpr std::string_view kShardingKey = "DCP_SHARDING_INFO";
inline constexpr std::string_view kVersionKey = "DCP_VERSION";
inline constexpr std::string_view kDigestKey = "tessera.digests";
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
/// {"w":"0123456789abcdef"}. The length does not depend on the digests, so that they can replace
/// zeros that were written first.
std::string PrintDigests(const Digests& digests);
Result<Digests> ParseDigests(std::string_view json, const std::string& file);

}  // namespace tessera::checkpoint
