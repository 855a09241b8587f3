// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// All places that data may lie in, put together: local files, and servers through the cache and
/// read-ahead.

#include <cstdint>
#include <string>
#include <vector>

#include "agents/data/http_source.h"
#include "engine/data/data_mix.h"
#include "engine/data/index_file.h"

namespace tessera::agents {

struct DataPlaces {
  /// Holds index/ and blocks/; "$TESSERA_HOME/cache" in the programs. Empty: nothing is kept.
  std::string cache_folder = {};
  std::int64_t cache_limit_bytes = std::int64_t{16} << 30;
  HttpOptions http = {};
  /// As engine::IndexOptions; `warn` is told of the cache too, from any thread. The folder of the
  /// index is cache_folder's. `cancel` ends requests to servers too, also those of the data set
  /// once it is open; that of `http` is not read.
  engine::IndexOptions index = {};
};

/// As engine::OpenData, from all places.
Result<engine::DataMix> OpenData(const std::vector<std::string>& paths, std::int64_t sequence,
                                 const DataPlaces& places);

}  // namespace tessera::agents
