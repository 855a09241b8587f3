// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/full_memory.h"

#include <algorithm>

#include "engine/model/gpt.h"
#include "engine/model/job_layout.h"
#include "engine/store/allocate.h"

namespace tessera::test {

QString FullMemory(std::initializer_list<std::string> meshes) {
  engine::JobSettings settings;
  settings.model = *engine::FindModel("gpt-mini");
  std::int64_t most = 0;
  for (const std::string& mesh : meshes) {
    const auto layout =
        *engine::MakeLayout(*engine::TensorsOf(settings, false), *ptc::ParseDeviceMesh(mesh));
    for (int rank = 0; rank < layout.mesh().num_ranks(); ++rank) {
      most = std::max(most, engine::BytesNeeded(layout, rank));
    }
  }
  return QStringLiteral("%1K").arg((most * 100 / 95 + 4095) / 4096 * 4);
}

}  // namespace tessera::test
