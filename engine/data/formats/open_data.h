// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Names of data, as a user gives them, to the data mix they stand for.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/data/byte_source.h"
#include "engine/data/data_mix.h"
#include "engine/data/index_file.h"

namespace tessera::engine {

/// A path or URL, and the weight before it: "0.7:PATH". A path that itself looks so is written
/// "./0.7:PATH".
struct WeightedPath {
  double weight = 0;  // 0: none was given
  std::string path;
};
/// \error kInvalidArgument for a weight that is not above 0
Result<WeightedPath> ParseWeightedPath(const std::string& text);

/// Opens data of any format, each path by the first opener that knows it.
///
/// What a file is, its name says: *.tar; *.tfrecord, *.tfrecords and names that hold ".tfrecord-";
/// X.bin or X.idx or X where both lie side by side, for Megatron; all others are text. A folder
/// holds what its files are. In a folder beside records, text of less than one sample (a note on
/// the data) is left out.
///
/// Without weights there is one part for each format, in the order of DataFormat, and each sample
/// comes once a pass. With weights each path is its own part; a path of several formats has a part
/// for each, and they share its weight in proportion to their samples.
/// \error kNotFound, kUnavailable as SourceOpener; kInvalidArgument where some paths have weights
///     and others none, nothing was given, or a name says that it is compressed; of the formats
Result<DataMix> OpenData(const std::vector<std::string>& paths, std::int64_t sequence,
                         std::span<const SourceOpener* const> openers, const IndexOptions& options);

}  // namespace tessera::engine
