// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The schedule of a training step on the pipeline of a job, for a picture: from measured times
/// where the ranks report them, else from the cost model.

#include <QString>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/cluster/snapshot.h"
#include "engine/model/gpt.h"
#include "engine/search/pipeline_schedule.h"
#include "ptc/mesh.h"

namespace tessera::ui {

/// What decides the picture. Views compare it, so that a schedule is made only when it changes.
struct PipelineInput {
  enum class Source : std::uint8_t {
    Measured,   // the compute times of the ranks
    Simulated,  // the cost model: simulated ranks report no times of their own
    Draft,      // the cost model, for a mesh that does not run yet
    Lesson,     // the cost model with equal stages and free sends
  };
  Source source = Source::Measured;
  std::string model = {};  // empty: the job runs its own program
  std::int64_t globalBatch = 0;
  ptc::MeshShape mesh = {};
  engine::StepOptions options = {};
  std::vector<std::int32_t> hosts = {};    // by rank: equal numbers share memory
  std::vector<double> computes = {};       // Measured: seconds of the slowest rank, by stage
  std::optional<double> stepSeconds = {};  // measured; of a draft: estimated
  friend bool operator==(const PipelineInput&, const PipelineInput&) = default;
};

struct PipelineView {
  engine::PipelineSchedule schedule = {};
  double rest = 0;      // seconds of the step after the passes
  QString words = {};   // why nothing is drawn; empty: the schedule is drawn
  QString source = {};  // what is measured and what is modelled
};

/// \pre the job has devices
PipelineInput pipelineOf(const engine::ClusterSnapshot& cluster, const engine::JobStatus& job);
/// Returns the input for the job after a planned change.
PipelineInput pipelineOf(const engine::ClusterSnapshot& cluster, const engine::JobStatus& job,
                         const engine::PlanSummary& plan);
PipelineInput pipelineOfLesson(const engine::JobSettings& settings, const ptc::MeshShape& mesh,
                               const engine::StepOptions& options);

PipelineView makePipelineView(const PipelineInput& input);

}  // namespace tessera::ui
