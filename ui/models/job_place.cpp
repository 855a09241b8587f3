// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/job_place.h"

#include "engine/model/job_layout.h"

namespace tessera::ui {

Result<ptc::Layout> layoutAt(const engine::vfs::JobInfo& info, const engine::StepOptions& options,
                             const JobPlace& place) {
  // Without a change of ZeRO the tensors and their cuts are those of now.
  if (place.options.zero == options.zero) {
    if (place.mesh == info.layout.mesh()) return info.layout;
    return engine::MakeLayout({info.layout.collection_ptr(), info.layout.stage_rule()}, place.mesh);
  }
  TESSERA_TRY(const auto settings, engine::ParseJobSettings(info.settings_json));
  TESSERA_TRY(const auto tensors, engine::TensorsOf(settings, place.options.zero));
  return engine::MakeLayout(tensors, place.mesh);
}

}  // namespace tessera::ui
