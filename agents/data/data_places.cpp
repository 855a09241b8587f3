// SPDX-License-Identifier: Apache-2.0
#include "agents/data/data_places.h"

#include <algorithm>
#include <array>
#include <memory>

#include "agents/data/block_cache.h"
#include "agents/data/read_ahead.h"
#include "engine/data/formats/open_data.h"
#include "engine/data/is_url.h"
#include "engine/data/local_source.h"

namespace tessera::agents {
namespace {

std::shared_ptr<const engine::SourceOpener> FarFiles(const DataPlaces& places) {
  HttpOptions http = places.http;
  http.cancel = places.index.cancel;
  std::shared_ptr<const engine::SourceOpener> files = std::make_shared<HttpFiles>(std::move(http));
  if (!places.cache_folder.empty()) {
    auto cache =
        std::make_shared<BlockCache>(BlockCacheOptions{.folder = places.cache_folder + "/blocks",
                                                       .limit_bytes = places.cache_limit_bytes,
                                                       .warn = places.index.warn});
    files = std::make_shared<CachedFiles>(std::move(files), std::move(cache));
  }
  return std::make_shared<AheadFiles>(std::move(files), std::make_shared<ReadAhead>());
}

}  // namespace

Result<engine::DataMix> OpenData(const std::vector<std::string>& paths, std::int64_t sequence,
                                 const DataPlaces& places) {
  const engine::LocalFiles local;
  // Local data needs neither threads nor folders.
  const bool is_far = std::ranges::any_of(paths, engine::IsUrl);
  const auto far = is_far ? FarFiles(places) : nullptr;
  std::vector<const engine::SourceOpener*> openers = {&local};
  if (far) openers.push_back(far.get());
  engine::IndexOptions index = places.index;
  if (!places.cache_folder.empty()) index.folder = places.cache_folder + "/index";
  return engine::OpenData(paths, sequence, openers, index);
}

}  // namespace tessera::agents
