// SPDX-License-Identifier: Apache-2.0
#include "agents/train/settings_data.h"

namespace tessera::agents::train {

Result<engine::TextDataset> OpenData(const engine::JobSettings& settings) {
  const auto paths = settings.data.empty() ? engine::DefaultTextPaths() : settings.data;
  if (paths.empty()) {
    return NotFound(
        "no text to train on: neither /usr/share/common-licenses nor a Python library is here, and "
        "no data path is given");
  }
  return engine::TextDataset::Open(paths, settings.model.sequence);
}

}  // namespace tessera::agents::train
