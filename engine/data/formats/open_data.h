// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Opens the data that a user names by paths and URLs.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/data/byte_source.h"
#include "engine/data/data_mix.h"
#include "engine/data/index_file.h"

namespace tessera::engine {

/// A path or URL with the weight before it: "0.7:PATH". A path that itself has that form is written
/// "./0.7:PATH".
struct WeightedPath {
  double weight = 0;  // 0: none was given
  std::string path;
};
/// \error kInvalidArgument for a weight that is not above 0
Result<WeightedPath> ParseWeightedPath(const std::string& text);

/// Opens data of any format. The first opener that knows a path opens it.
///
/// The name of a file determines its format: *.tar; *.tfrecord, *.tfrecords and names that contain
/// ".tfrecord-"; X.bin, X.idx or X, where both files exist, for Megatron; all others are text. A
/// folder is opened as all of its files. Text of less than one sample in a folder beside records (a
/// README) is left out. A file that cannot be read is an error.
///
/// Without weights there is one part for each format, in the order of DataFormat, and each sample
/// comes once per pass. With weights each path is its own part. A path of several formats has a
/// part for each, and these share its weight in proportion to their samples.
/// \error kNotFound, kUnavailable as SourceOpener; kInvalidArgument if only some paths have
///     weights, no path is given, or a name is that of a compressed file; and the errors of the
///     formats
Result<DataMix> OpenData(const std::vector<std::string>& paths, std::int64_t sequence,
                         std::span<const SourceOpener* const> openers, const IndexOptions& options);

}  // namespace tessera::engine
