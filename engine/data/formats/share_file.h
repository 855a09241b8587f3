// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Samples as whole files of their data set's own format, for any reader of that format. Sizes are
/// in bytes.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/data/data_mix.h"
#include "ptc/base/result.h"

namespace tessera::engine {

enum class ShareEnding : std::uint8_t { kText, kBin, kIdx, kTfRecord, kTar };
/// ".txt", ".bin", ".idx", ".tfrecord", ".tar"
std::string_view ToString(ShareEnding ending);

/// A file is made in memory as a whole; a larger one is refused.
inline constexpr std::int64_t kMaxShareBytes = std::int64_t{1} << 30;

/// Returns the endings of the files that hold samples of `data`: one, or for Megatron .bin and
/// .idx.
///
/// If all parts have one format (and with Megatron one dtype), the files hold the records of the
/// data set, sample after sample: text as windows of sequence + 1 bytes, Megatron as sequences of
/// sequence + 1 tokens, one per document, tar with names that keep samples distinct (TarSeparator).
/// No record format can hold the records of another. A mix of several formats therefore makes
/// Megatron's files of i32, with the tokens that the trainer reads.
std::vector<ShareEnding> ShareEndings(const DataMix& data);

/// Returns the size of the file of these samples without reading them. O(samples).
/// \pre `ending` is one of ShareEndings(data)
/// \error kResourceExhausted naming size and limit above kMaxShareBytes; kDataLoss naming the
///     sample whose record is too large for its format
Result<std::int64_t> ShareFileBytes(const DataMix& data, std::span<const SampleId> samples,
                                    ShareEnding ending);

/// Returns the file, of the size that ShareFileBytes returns.
/// \error as ShareFileBytes and Dataset::ReadRecord
Result<std::string> MakeShareFile(const DataMix& data, std::span<const SampleId> samples,
                                  ShareEnding ending);

}  // namespace tessera::engine
