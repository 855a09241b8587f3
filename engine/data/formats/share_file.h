// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Samples as whole files of their data set's own format: what a reader of the format takes,
/// whoever wrote it. Sizes are bytes.

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

/// A file is taken into memory as a whole; more is refused rather than taken.
inline constexpr std::int64_t kMaxShareBytes = std::int64_t{1} << 30;

/// Which files samples of `data` make: one, or, for Megatron, .bin and .idx.
///
/// Where all parts are of one format (of Megatron, of one dtype too), the files hold the records of
/// the data set, sample after sample: text as windows of sequence + 1 bytes, Megatron as sequences
/// of sequence + 1 tokens, a document each, tar with names that tell samples apart (TarSeparator).
/// No record format holds those of others, so a mix of several is Megatron's files of i32, with the
/// tokens that the trainer reads of each sample.
std::vector<ShareEnding> ShareEndings(const DataMix& data);

/// Size of the file of these samples, known without reading them. O(samples).
/// \pre `ending` is one of ShareEndings(data)
/// \error kResourceExhausted naming size and limit above kMaxShareBytes; kDataLoss naming the
/// sample
///     whose record is too large for its format
Result<std::int64_t> ShareFileBytes(const DataMix& data, std::span<const SampleId> samples,
                                    ShareEnding ending);

/// The file, of the size that ShareFileBytes gives. \error as that, and of Dataset::ReadRecord
Result<std::string> MakeShareFile(const DataMix& data, std::span<const SampleId> samples,
                                  ShareEnding ending);

}  // namespace tessera::engine
