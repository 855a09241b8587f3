// SPDX-License-Identifier: Apache-2.0
#include "agents/data/job_data.h"

#include <string>
#include <vector>

#include "agents/data/data_places.h"
#include "agents/http/http_client.h"
#include "engine/data/formats/open_data.h"
#include "engine/data/is_url.h"
#include "engine/data/text_dataset.h"
#include "engine/files/tessera_home.h"

namespace tessera::agents {
namespace {

std::string PathOf(const std::string& given) {
  const auto weighted = engine::ParseWeightedPath(given);
  return engine::ShownName(weighted ? weighted->path : given);  // no secrets
}

std::string AllPaths(const engine::JobSettings& settings) {
  if (settings.data.empty()) return "text found on the machine";
  std::string names;
  for (const std::string& path : settings.data) {
    if (!names.empty()) names += ", ";
    names += PathOf(path);
  }
  return names;
}

}  // namespace

Result<engine::DataMix> OpenJobData(const engine::JobSettings& settings,
                                    const engine::IndexOptions& index) {
  const auto paths = settings.data.empty() ? engine::DefaultTextPaths() : settings.data;
  if (paths.empty()) {
    return NotFound(
        "no text to train on: neither /usr/share/common-licenses nor a Python library exists, and "
        "no data path is given");
  }
  DataPlaces places;
  places.cache_folder = engine::TesseraHome() + "/cache";
  places.index = index;
  return OpenData(paths, settings.model.sequence, places);
}

engine::DataStatus Describe(const engine::DataMix& data, const engine::JobSettings& settings) {
  engine::DataStatus status;
  // With weights each path is a part of its own, or several; without, parts are formats.
  const bool is_path_each = data.parts().size() == settings.data.size() &&
                            (data.parts().size() == 1 || data.parts().front().weight > 0);
  for (std::size_t i = 0; i < data.parts().size(); ++i) {
    const engine::DataMix::Part& part = data.parts()[i];
    status.parts.push_back({is_path_each ? PathOf(settings.data[i]) : AllPaths(settings),
                            std::string(ToString(part.data->format())), part.data->num_samples(),
                            part.weight});
  }
  status.num_samples = data.num_samples();
  status.sequence = data.sequence();
  status.seed = settings.seed;
  return status;
}

}  // namespace tessera::agents
