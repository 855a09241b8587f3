// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// How many devices a job needs, known before it is started.

#include <cstdint>
#include <map>
#include <optional>

#include "engine/cluster/step_options.h"
#include "engine/model/gpt.h"
#include "ptc/layout.h"

namespace tessera::engine {

/// Arena bytes of devices. A device without an entry has 0.
using Capacities = std::map<ptc::DeviceId, std::int64_t>;

/// A configuration, and what its fullest device needs for state and gradients.
struct Fit {
  ptc::MeshShape mesh;
  StepOptions options;
  std::int64_t needed = 0;  // bytes
  friend bool operator==(const Fit&, const Fit&) = default;
};

/// Returns the configuration with the fewest devices of `capacity` bytes each that hold the job.
/// Ties: without ZeRO first, then the least `needed`. nullopt: `most_devices` are not enough.
std::optional<Fit> SmallestFit(const JobSettings& settings, std::int64_t capacity,
                               std::int64_t most_devices = 64);

/// Checks that every device of `mesh` can hold its part of a job that starts.
/// \error kResourceExhausted `model gpt2 needs 1.9 GiB per device with dp=1; devices have 512 MiB:
///     the smallest set that fits has 5 devices as pp=5`, or that none of up to 64
///     devices fits, or of four times as many as one copy needs; kInvalidArgument of the layout
Status CheckFits(const JobSettings& settings, const ptc::DeviceMesh& mesh,
                 const StepOptions& options, const Capacities& capacities);

/// "512 MiB", "1.9 GiB".
std::string BytesText(std::int64_t bytes);
/// "100 MB/s", decimal: rates are stated as those of networks are.
std::string RateText(double bytes_per_second);
/// "dp=4,tp=2", "dp=1" for one rank; with options "dp=4,tp=2 with zero, micro-batch 4".
std::string ShortText(const ptc::MeshShape& mesh, const StepOptions& options = {});

}  // namespace tessera::engine
