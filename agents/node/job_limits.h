// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What a node lets jobs do to its machine, whatever operators ask for.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ptc/base/result.h"
#include "ptc/mesh.h"

namespace tessera::engine {
struct JobSettings;
}

namespace tessera::agents {

struct JobLimits {
  bool exec = true;  // programs of users may run
  /// Folders and URLs below which training data may lie; nullopt: anywhere. Text that a job without
  /// data finds on the machine may always be read.
  std::optional<std::vector<std::string>> data = {};
  /// Folders below which checkpoints may be written, read and removed; nullopt: anywhere. URLs may
  /// be read only.
  std::optional<std::vector<std::string>> checkpoints = {};
  friend bool operator==(const JobLimits&, const JobLimits&) = default;
};

/// "no programs of operators, data below /srv/data, checkpoints nowhere".
std::string ToText(const JobLimits& limits);
/// How long a loop waits for the file system of a path.
inline constexpr std::chrono::milliseconds kLoopPatience{1000};

/// \error kPermissionDenied naming node, program or path, and the limit; kUnavailable naming a path
///     whose file system has not answered within kLoopPatience; as engine::ParseWeightedPath
Status CheckLimits(const JobLimits& limits, std::int32_t node, const engine::JobSettings& settings);
/// Whether ranks of the job can compute on the device. `is_gpu`: it is a real one.
/// \error kFailedPrecondition for the built-in trainer, which needs host memory
Status CheckTrainer(bool is_gpu, ptc::DeviceId device, const engine::JobSettings& settings);
/// \param patience how long to wait for the file system; nullopt: as long as it takes
/// \error kInvalidArgument for a path that is not absolute; kPermissionDenied naming node, path and
///     the limit; kUnavailable as CheckLimits
Status CheckCheckpoint(const JobLimits& limits, std::int32_t node, const std::string& path,
                       std::optional<std::chrono::milliseconds> patience = kLoopPatience);

}  // namespace tessera::agents
