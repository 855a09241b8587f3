// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Chooses the configuration of a job on a set of devices: enumerates what it can run, and
/// estimates step time, memory and move of each.
///
/// A running job gets the smallest change: it keeps all degrees but dp, which becomes as large as
/// the devices allow; the rest of them stay idle. A job that starts, and a job that cannot keep its
/// degrees, gets the fastest configuration of those that leave the fewest devices idle; at equal
/// speed the one that moves less. Own programs have no cost model. Their meshes are ordered by the
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

/// What is recommended to a running job. The default comes first.
enum class Aim : std::uint8_t {
  kSmallestChange,
  kUseAll,        // the fastest that leaves the fewest devices idle
  kKeepReplicas,  // after a loss: what survives most next time, then the smallest change
};

/// A job and the devices that it may use.
struct SearchInput {
  std::string job;
  JobSettings settings;
  std::vector<ptc::DeviceId> devices;      // without duplicates, any order
  Capacities capacities = {};              // of `devices` and of the devices of `layout`
  std::optional<ptc::Layout> layout = {};  // what the job runs now; empty: it is not started
  std::vector<ptc::DeviceId> lost = {};    // devices of `layout` whose state is of no use
  bool in_rounds = false;    // old and new state need not fit side by side (engine/search/rounds)
  StepOptions options = {};  // of the running job
  std::optional<double> step_seconds = {};  // measured with `layout`: anchors all estimates
  Machines machines = {};
  Calibration calibration = {};
  bool is_paused = false;          // the job computes nothing while its state is copied
  bool on_gpus = false;            // whose memory the host cannot use
  Aim aim = Aim::kSmallestChange;  // without a layout: always as kUseAll
};

/// Two estimates that differ by less count as equal.
inline constexpr double kEqualSpeed = 0.03;
/// The same for Aim::kUseAll, and for two meshes that a reason compares with each other.
inline constexpr double kSameSpeed = 0.005;
inline constexpr std::int64_t kMaxProposed = 8;

/// Returns the best `limit` configurations: the recommended one first, then those that use all
/// devices, the fastest first. As far as `limit` permits it includes the current one if the devices
/// allow it, the fastest one (which may leave devices idle), the first that uses all devices, and
/// the one that moves the fewest bytes of those that leave no more devices idle than the
/// recommended one. Micro-batch and ZeRO vary; of equally fast micro-batches the trainer's own
/// choice (0) is listed.
/// \error kInvalidArgument for an empty device list, or, if no mesh can run, the error of the
///     smallest one
/// \error kResourceExhausted if no mesh fits: as CheckFits of the one that needs least
Result<Proposal> Propose(const SearchInput& input, std::int64_t limit = kMaxProposed);

/// The configuration of a job for which the user named devices but no mesh.
struct Choice {
  ptc::MeshShape mesh;
  StepOptions options;
  std::vector<ptc::DeviceId> used;  // ascending; mesh.num_ranks() of them
  std::vector<ptc::DeviceId> idle;  // ascending; given but not used
  std::string why;                  // one sentence for the user
  friend bool operator==(const Choice&, const Choice&) = default;
};
/// Returns what Propose recommends, with `options` where they are given.
/// \error as Propose
Result<Choice> ChooseMesh(const SearchInput& input, const std::optional<StepOptions>& options);

/// Returns the seconds of one step of the job on `mesh`; nullopt for an own program. If the
/// measured step time of the job is known, the estimate is multiplied by measured / estimated of
/// its current mesh.
/// \pre CheckMesh(input.settings, mesh.shape(), options)
std::optional<double> EstimateStepSeconds(const SearchInput& input, const ptc::DeviceMesh& mesh,
                                          const StepOptions& options);

}  // namespace tessera::engine
