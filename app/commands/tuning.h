// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// \file
/// The measurements of `job tune` beside their predictions.

#include <optional>
#include <string>
#include <vector>

#include "app/commands/json.h"
#include "engine/cluster/snapshot.h"

namespace tessera::app {

/// A configuration of a job on devices.
struct Configuration {
  ptc::MeshShape mesh;
  std::vector<ptc::DeviceId> devices;
  engine::StepOptions options;
  bool isPinned = false;  // devices are in rank order
  friend bool operator==(const Configuration&, const Configuration&) = default;
};
/// "dp=2,tp=2,pp=1, zero on n0g0,…".
std::string describeConfiguration(const Configuration& place);

struct Measurement {
  Configuration place;
  double predicted = 0;  // seconds per step; 0: unknown
  double measured = 0;   // 0: the measurement failed
  std::string failure;   // why
};

/// Relative error of the prediction; nullopt if either is unknown.
std::optional<double> errorOf(const Measurement& measurement);
/// Median of the absolute errors; nullopt if there is none.
std::optional<double> medianError(const std::vector<Measurement>& measurements);
/// The measurement with the shortest step, or null.
const Measurement* fastest(const std::vector<Measurement>& measurements);
/// Median time between consecutive samples, without the first `skip` steps, in seconds.
/// \pre more than skip + 1 samples of consecutive steps
double medianStep(const std::vector<engine::Sample>& samples, std::int64_t skip);

std::string describeMeasurements(const std::vector<Measurement>& measurements);
Json toJson(const std::vector<Measurement>& measurements, const Configuration& kept);

}  // namespace tessera::app
