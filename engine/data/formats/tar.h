// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Tar shards as WebDataset lays them out: a sample is a run of consecutive files whose paths are
/// equal up to the first dot of the last component.

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/data/dataset.h"
#include "engine/data/index_file.h"

namespace tessera::engine {

/// The part of a member's path that the members of its sample share, and the part after its dot:
/// "a.b/0001.seg.png" is {"a.b/0001", "seg.png"}. Both are empty for a name of no sample: one
/// without a dot, or with nothing before it.
struct TarKey {
  std::string_view sample, extension;
};
TarKey SplitTarName(std::string_view path);

/// The tokens of a sample are the bytes of its member .txt, else .text, else .json, else of its
/// first one. Members that are not files, have no dot in their names, or look like __this__ belong
/// to no sample.
/// \error kDataLoss naming file and byte if a header is wrong or a member is cut off;
///     kInvalidArgument if there is no sample; as OpenIndex
Result<DatasetPtr> OpenTar(std::vector<ByteSourcePtr> files, std::int64_t sequence,
                           const IndexOptions& options);

}  // namespace tessera::engine
