// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Which configuration a job should run on a set of devices: enumerate what it can run, estimate
/// step time, memory and move of each, take the fastest, prefer less movement at equal speed.
///
/// Devices that are named are meant to be used: a mesh that leaves some of them idle is recommended
/// only where no mesh uses more. Own programs have no cost model: their meshes are ordered by the
/// bytes that move, data parallelism first, and step times are unknown (0).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/cluster/snapshot.h"
#include "engine/model/gpt.h"
#include "engine/search/calibration.h"
#include "engine/search/cost_model.h"
#include "engine/search/estimate.h"
#include "engine/search/fit.h"
#include "ptc/layout.h"

namespace tessera::engine {

/// What is known of a job and of the devices that it may use.
struct SearchInput {
  std::string job;
  JobSettings settings;
  std::vector<ptc::DeviceId> devices;       // without duplicates, any order
  Capacities capacities = {};               // of `devices` and of those of `layout`
  std::optional<ptc::Layout> layout = {};   // what the job runs now; empty: it is not started
  StepOptions options = {};                 // of it
  std::optional<double> step_seconds = {};  // measured with it: anchors all estimates
  Machines machines = {};
  Calibration calibration = {};
  PauseCosts pause_costs = {};
};

/// Two estimates that differ by less are equal.
inline constexpr double kEqualSpeed = 0.03;
inline constexpr std::int64_t kMaxProposed = 8;

/// The best `limit` configurations, the current one always among them where the devices allow it.
/// Micro-batch and ZeRO vary; of equally fast micro-batches the trainer's own choice (0) is listed.
/// \error kInvalidArgument for an empty device list, or where no mesh can run, of the smallest one
/// \error kResourceExhausted where none fits: as CheckFits
Result<Proposal> Propose(const SearchInput& input, std::int64_t limit = kMaxProposed);

/// The configuration of a job whose user names devices but no mesh.
struct Choice {
  ptc::MeshShape mesh;
  StepOptions options;
  std::vector<ptc::DeviceId> used;  // ascending; mesh.num_ranks() of them
  std::vector<ptc::DeviceId> idle;  // ascending; given but left over
  std::string why;                  // one sentence for a reader who did not choose
  friend bool operator==(const Choice&, const Choice&) = default;
};
/// What Propose recommends, `options` as given where they are. \error as Propose
Result<Choice> ChooseMesh(const SearchInput& input, const std::optional<StepOptions>& options);

/// Seconds of one step of the job on `mesh`; nullopt for an own program. Where the job's measured
/// step time is known the estimate is scaled by measured / estimated of what it runs now.
/// \pre CheckMesh(input.settings, mesh.shape(), options)
std::optional<double> EstimateStepSeconds(const SearchInput& input, const ptc::DeviceMesh& mesh,
                                          const StepOptions& options);

}  // namespace tessera::engine
