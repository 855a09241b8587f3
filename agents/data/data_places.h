// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Opens data from all kinds of sources: local files, and servers through the cache and read-ahead.

#include <cstdint>
#include <string>
#include <vector>

#include "agents/data/http_source.h"
#include "engine/data/data_mix.h"
#include "engine/data/index_file.h"

namespace tessera::agents {

struct DataPlaces {
  /// Contains index/ and blocks/; the programs use "$TESSERA_HOME/cache". Empty: nothing is kept.
  std::string cache_folder = {};
  std::int64_t cache_limit_bytes = std::int64_t{16} << 30;
  HttpOptions http = {};
  /// As engine::IndexOptions, but the folder of the index is in cache_folder. `warn` also reports
  /// problems of the cache, from any thread. `cancel` also ends requests to servers, even after the
  /// data set is open; the one in `http` is not used.
  engine::IndexOptions index = {};
};

/// As engine::OpenData, from all these sources.
Result<engine::DataMix> OpenData(const std::vector<std::string>& paths, std::int64_t sequence,
                                 const DataPlaces& places);

}  // namespace tessera::agents
