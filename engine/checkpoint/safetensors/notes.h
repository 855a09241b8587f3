// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The values of __metadata__ that are JSON themselves: where the boxes of a file lie in their
/// tensors (torch.distributed.checkpoint), and what the digests are (ours).

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

/// Tensor -> index of the box's first element, one a dim.
using Offsets = std::map<std::string, std::vector<std::int64_t>, std::less<>>;
/// {"w":{"saved_offsets":[0,4]}}
std::string PrintOffsets(const Offsets& offsets);
/// \param file stands in errors, with positions inside the value
Result<Offsets> ParseOffsets(std::string_view json, const std::string& file);

/// Tensor -> what its elements in the file add to its digest (ptc/digest.h).
using Digests = std::map<std::string, std::uint64_t, std::less<>>;
/// {"w":"0123456789abcdef"}: of one length whatever the digests, so that it can be put where zeros
/// stood.
std::string PrintDigests(const Digests& digests);
Result<Digests> ParseDigests(std::string_view json, const std::string& file);

}  // namespace tessera::checkpoint
