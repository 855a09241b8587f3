// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Derives the layout of a job from its settings and a mesh: the tensors, their cuts, and the
/// pipeline stage of each layer.

#include "engine/model/gpt.h"
#include "ptc/layout.h"

namespace tessera::engine {

/// Returns the tensors of the job (MakeCollection) and the rule that assigns layers to stages. For
/// a program of the user its rules file states the rule; for a built-in model it is uniform.
/// \error as MakeCollection
Result<ptc::RuledTensors> TensorsOf(const JobSettings& settings, bool zero);

/// Returns the rule for the number of stages of `mesh`. Balanced, uniform and interleaved stages
/// are computed for every mesh. A list of stages fits one number of stages, and pp = 1, where it is
/// not needed.
/// \error kInvalidArgument `stages 0,0,0,1 are for pp = 2, the mesh has pp = 4: pp can be 1 or 2`
Result<ptc::StageRule> StagesOn(const ptc::StageRule& rule, const ptc::MeshShape& mesh);

/// \error as StagesOn and ptc::Layout::Make
Result<ptc::Layout> MakeLayout(const ptc::RuledTensors& job, ptc::DeviceMesh mesh);

/// Checks that the program of the job can run the layout. The built-in trainer needs uniform stages
/// that are each one range of layers. A program of the user is not restricted.
/// \error kInvalidArgument naming the limit and the stages of the layout
Status CheckRunnable(const JobSettings& settings, const ptc::Layout& layout);

}  // namespace tessera::engine
