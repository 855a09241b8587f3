// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The time of a training step on a mesh: a documented model with measured constants. Formulae,
/// sources and measurements: engine/search/DESIGN.md.

#include <cstdint>
#include <map>

#include "engine/cluster/step_options.h"
#include "engine/model/gpt.h"
#include "engine/search/calibration.h"
#include "engine/search/pipeline_schedule.h"
#include "ptc/mesh.h"
#include "ptc/plan/plan.h"

namespace tessera::engine {

/// Seconds of one step by activity.
struct StepCost {
  double compute = 0;    // forward and backward passes
  double tensor = 0;     // collectives of tp groups
  double pipeline = 0;   // bubble and messages between stages
  double reduction = 0;  // gradients over dp, tied tensors over the first and last stage
  double update = 0;     // optimizer
  double gather = 0;     // ZeRO: parameters after the update
  double fixed = 0;      // step decision, data
  double total() const { return compute + tensor + pipeline + reduction + update + gather + fixed; }
};

/// Which nodes share memory and cores. A node that is not listed is a machine of its own.
struct Machines {
  ptc::Topology topology = {};                                // nodes that share memory
  std::map<std::int32_t, std::int32_t> machine_of_node = {};  // nodes that share cores
  std::int32_t MachineOf(ptc::DeviceId device) const;
};

/// Ranks are processes on emulated devices: those of one machine share its cores, so `ranks` of
/// them on `cores` cores take total work / min(ranks, cores) at best.
/// \pre !settings.program, CheckMesh(settings, mesh.shape(), options)
StepCost EstimateStep(const JobSettings& settings, const ptc::DeviceMesh& mesh,
                      const StepOptions& options, const Machines& machines,
                      const Calibration& calibration);

/// The passes of a step, and what follows them.
struct PipelineEstimate {
  PipelineTimes times;
  double rest = 0;  // seconds: sum of the gradients, update, step decision
};

/// The step of EstimateStep as the passes of its largest share of the batch. A backward pass costs
/// two forward passes, and all micro-batches have the full size. Where ranks share cores, all
/// passes are stretched, so that the schedule takes as long as the estimate.
/// \pre as EstimateStep
PipelineEstimate EstimatePipeline(const JobSettings& settings, const ptc::DeviceMesh& mesh,
                                  const StepOptions& options, const Machines& machines,
                                  const Calibration& calibration);

/// The seconds of a forward pass in those of a forward and a backward pass: a third.
inline constexpr double kForwardShare = 1.0 / 3;

}  // namespace tessera::engine
