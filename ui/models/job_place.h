// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// A job on a mesh. With the settings of the job it determines which device holds what.

#include "engine/cluster/step_options.h"
#include "engine/vfs/state_source.h"
#include "ptc/layout.h"
#include "ptc/mesh.h"

namespace tessera::ui {

struct JobPlace {
  ptc::DeviceMesh mesh;
  engine::StepOptions options = {};
  friend bool operator==(const JobPlace&, const JobPlace&) = default;
};

/// Returns the layout of the job at another place, from the tensors of its present layout.
/// \param options those of the present layout
/// \error as engine::TensorsOf and engine::MakeLayout
Result<ptc::Layout> layoutAt(const engine::vfs::JobInfo& info, const engine::StepOptions& options,
                             const JobPlace& place);

}  // namespace tessera::ui
