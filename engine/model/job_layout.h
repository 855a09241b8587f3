// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// From a job's settings and a mesh to its layout: which tensors there are, how they are cut, and
/// which pipeline stage holds which layers.

#include "engine/model/gpt.h"
#include "ptc/layout.h"

namespace tessera::engine {

/// The job's tensors (MakeCollection), and how their layers are dealt to stages: of an own program
/// what its rules file says, else uniformly. \error as MakeCollection
Result<ptc::RuledTensors> TensorsOf(const JobSettings& settings, bool zero);

/// The rule on a mesh with as many stages as `mesh` has. Balanced, uniform and interleaved stages
/// are dealt anew on every mesh. A list of stages is for one number of them; without pipeline
/// stages (pp = 1) nothing is dealt, so a job may go there and come back.
/// \error kInvalidArgument `stages 0,0,0,1 are for pp = 2, the mesh has pp = 4: pp can be 1 or 2`
Result<ptc::StageRule> StagesOn(const ptc::StageRule& rule, const ptc::MeshShape& mesh);

/// \error as StagesOn and ptc::Layout::Make
Result<ptc::Layout> MakeLayout(const ptc::RuledTensors& job, ptc::DeviceMesh mesh);

/// Whether the job's program can run the layout, which may be any that the PTC permits: the
/// built-in trainer has its layers dealt uniformly, in one piece a stage. What an own program can
/// run is its own affair. \error kInvalidArgument naming the limit and what the layout has
Status CheckRunnable(const JobSettings& settings, const ptc::Layout& layout);

}  // namespace tessera::engine
